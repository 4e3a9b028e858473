//! A cap on what one ACK lets go: each ACK releases the same few segments, also where it covered more, so that less is in flight
//! than before although nothing was lost. A congestion window lets at least as much go as the ACK covered (RFC 5681 §2).

use super::super::evidence::Facts;
use super::super::pauses::Context;

/// Smallest known cap (Linux before 3.x: packets in flight + 3).
const SMALLEST: u32 = 3;
/// Largest cap that is told from a buffer which a writer fills in steps; the largest known one is 6.
const LARGEST: u32 = 8;
/// Waits at one cap from which it is no accident.
const OFTEN: u32 = 3;
/// Divisor of all waits for ACKs: so many at one cap are no chance.
const SHARE: u32 = 4;
/// Flights of those that got smaller, from which the ACKs had covered more; one that fell to half counts for two.
const SMALLER: u32 = 2;

/// Waits at one cap.
#[derive(Clone, Copy, Default)]
struct Seen {
    waits: u32,
    smaller: u32,
    /// Bursts in which each ACK released more.
    more: u32,
}

impl Seen {
    fn is_cap(&self, all: u32) -> bool {
        let chance = SHARE * self.waits < all || 2 * self.more > self.waits;
        self.waits >= OFTEN && self.smaller >= SMALLER && !chance
    }
}

/// Notes the cap at the waits that it made.
pub(super) fn find(pauses: &[Facts], contexts: &mut [Context]) {
    let mut seen = [Seen::default(); LARGEST as usize + 1];
    let mut held = Vec::new();
    let (mut most, mut all) = (0, 0);
    for (at, pair) in pauses.windows(2).enumerate() {
        let (before, pause) = (&pair[0], &pair[1]);
        most = if before.losses == pause.losses { most.max(before.segments_at_start) } else { 0 };
        if !is_steady(before, pause) {
            continue;
        }
        all += 1;
        let Some(count) = per_ack(pause) else { continue };
        seen.iter_mut().take(count.min(LARGEST + 1) as usize).for_each(|seen| seen.more += 1);
        // Another such burst would have been out before.
        if (SMALLEST..=LARGEST).contains(&count) && pause.segments_at_start + count <= most {
            let seen = &mut seen[count as usize];
            seen.waits += 1;
            let smaller = pause.flight_at_start + i64::from(pause.mss) <= before.flight_at_start;
            seen.smaller += u32::from(smaller) + u32::from(2 * pause.flight_at_start <= before.flight_at_start);
            held.push((at + 1, count));
        }
    }
    for (at, count) in held {
        let seen = seen[count as usize];
        if seen.is_cap(all) {
            contexts[at].per_ack = Some(count);
            contexts[at].per_ack_waits = seen.waits;
        }
    }
}

/// ACKs ended both waits with room in the peer's window, whole segments followed, and nothing was lost.
fn is_steady(before: &Facts, pause: &Facts) -> bool {
    let waits = |pause: &Facts| {
        let calm = !pause.recovering && !pause.flight_unknown && pause.hole.is_none() && pause.loss_hints == 0;
        calm && pause.ended && !pause.first && pause.peer_bytes == 0 && pause.released_soon()
    };
    let open = pause.has_room() == Some(true) && pause.closed.is_none();
    let whole = !pause.short_segment_out && pause.after.first_frame >= pause.mss;
    before.losses == pause.losses && open && whole && waits(before) && waits(pause)
}

/// Segments that each ACK released before the wait, where they released as many each.
fn per_ack(pause: &Facts) -> Option<u32> {
    let each = u64::from(pause.mss) * u64::from(pause.before.acks);
    (each > 0 && pause.before.bytes.is_multiple_of(each)).then(|| (pause.before.bytes / each) as u32)
}
