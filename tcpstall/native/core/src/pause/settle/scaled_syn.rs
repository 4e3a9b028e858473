//! Detects a receiver that scales the window of its SYN-ACK, which RFC 7323 §2.2 forbids, and a sender that reads it so.

use super::super::evidence::Facts;

/// Settles the windows of the first pauses, in which the peer's SYN is the only source of the window. Where the first window after it is
/// that window times the scale, the receiver scaled it. A sender with more in flight than that window read it scaled too; otherwise it is
/// unknown how the sender read it.
pub(super) fn settle(pauses: Vec<Facts>) -> Vec<Facts> {
    let opening = pauses.iter().take_while(|pause| is_of_syn(pause)).count();
    let Some(next) = pauses.get(opening).filter(|_| opening > 0) else { return pauses };
    let scale = next.window.unwrap_or(0) / i64::from(next.window_field.max(1));
    let Some(of_syn) = pauses[0].window.filter(|_| scale > 1) else { return pauses };
    if next.largest_window.max(next.window.unwrap_or(0)) != of_syn * scale {
        return pauses;
    }
    let read_scaled = pauses[..opening].iter().any(|pause| pause.flight_at_start > of_syn && !pause.flight_unknown);
    let more = if read_scaled { of_syn * scale - of_syn } else { 0 };
    let widen = |room: Option<i64>| room.map(|room| room + more);
    let mut pauses = pauses;
    for pause in &mut pauses[..opening] {
        (pause.window, pause.room_at_start) = (widen(pause.window), widen(pause.room_at_start));
        pause.room_held = widen(pause.room_held);
        pause.scale_inferred = true;
    }
    pauses
}

/// The window in force is one that the scale does not apply to: the SYN's.
fn is_of_syn(pause: &Facts) -> bool {
    pause.window.is_some_and(|window| window > 0 && window == i64::from(pause.window_field))
}
