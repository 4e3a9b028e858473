//! Detects a queue before the tap that lets packets through at one rate: a shaper (Linux `sch_tbf`, `sch_htb`, a
//! hypervisor's limit), or a slower line.
//!
//! By its timestamp a packet left its TCP long before it passed the tap. Where the time since the packet before it is
//! proportional to its own size, and most packets that were held make the same rate, that rate is the queue's.

use super::super::bottleneck::BusyPeriod;
use super::super::evidence::Facts;
use super::super::pauses::Context;
use super::beat::{is_same_pace, rate};

/// Pauses of the same rate that are no accident.
const MANY: usize = 8;

/// Marks the pauses of one sender that such a queue made.
pub(super) fn find(pauses: &[Facts], contexts: &mut [Context]) {
    let mut rates: Vec<f64> = pauses.iter().filter_map(passed).collect();
    if rates.len() < MANY {
        return;
    }
    let middle = rates.len() / 2;
    let usual = *rates.select_nth_unstable_by(middle, f64::total_cmp).1;
    let alike = rates.iter().filter(|rate| is_same_pace(**rate, usual)).count();
    if alike < MANY || 3 * alike < 2 * rates.len() {
        return;
    }
    let is_alike = |pause: &Facts| passed(pause).is_some_and(|rate| is_same_pace(rate, usual));
    for (pause, context) in pauses.iter().zip(contexts).filter(|(pause, _)| is_alike(pause)) {
        context.shaped = true;
        context.bottleneck = Some(BusyPeriod {
            start: pause.start(),
            end: pause.end,
            bytes: i64::from(pause.after.first_frame),
            queue: pause.held,
            flight: pause.flight_at_start,
        });
    }
}

/// Rate at which a full segment that had been held for most of the pause ended it, payload bytes per second. Turns of the
/// peer have a length of their own.
fn passed(pause: &Facts) -> Option<f64> {
    // Without a known MSS the largest message of an application looks like a full segment.
    let known = pause.mss_known && pause.retransmissions == 0;
    let goes_on = known && pause.ended && !pause.first && pause.peer_bytes == 0;
    let held = goes_on && pause.after.first_frame >= pause.mss && pause.held + pause.held >= pause.duration();
    rate(u64::from(pause.after.first_frame), pause.duration()).filter(|_| held)
}
