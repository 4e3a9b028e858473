//! Infers a window scale that was not captured from how the flights fill the window.

use super::evidence::Gap;

/// Largest window shift that is used: RFC 7323 §2.3.
const MAX_SHIFT: u32 = 14;
/// Gaps that must begin with a full window before a scale is believed.
const FULL: usize = 3;
/// Smallest window that a receiver keeps open: two segments of the size that every host accepts (RFC 9293 §3.7.1,
/// §3.8.6.2.2). A writer of small pieces fills a smaller window by chance.
const LEAST: i64 = 2 * 536;
/// Share of the sender's gaps that must begin with a full window.
const FULL_SHARE: f64 = 0.3;

/// Infers the scale. No flight exceeds the window, so the smallest shift under which all flights fit is a lower bound.
/// It is the scale if flights repeatedly fill the window to less than a segment, because only a receive window causes
/// that. Where even that bound leaves room, no window was full.
pub(super) fn infer(gaps: &mut [Gap]) {
    // Before the first window was seen the field is also 0.
    let unscaled = |gap: &Gap| gap.window.is_none() && (gap.window_field > 0 || gap.closed.is_some());
    let judged = |gap: &&Gap| unscaled(gap) && gap.flight_at_start > 0 && !gap.flight_unknown && !gap.first;
    let window = |gap: &Gap, shift: u32| i64::from(gap.window_field) << shift;
    let fits = |shift: &u32| gaps.iter().filter(judged).all(|gap| gap.flight_at_start <= window(gap, *shift));
    let Some(shift) = (0..=MAX_SHIFT).find(fits) else { return };
    for gap in gaps.iter_mut().filter(|gap| unscaled(gap)) {
        gap.least_room = Some(window(gap, shift) - gap.flight_at_start);
    }
    let is_full = |gap: &&Gap| {
        let window = window(gap, shift);
        window >= LEAST && window - gap.flight_at_start < gap.next_segment()
    };
    let (all, full) = (gaps.iter().filter(judged).count(), gaps.iter().filter(judged).filter(is_full).count());
    if full < FULL || (full as f64) < FULL_SHARE * all as f64 {
        return;
    }
    let largest = gaps.iter().filter(judged).map(|gap| window(gap, shift)).max().unwrap_or_default();
    for gap in gaps.iter_mut().filter(|gap| unscaled(gap)) {
        let window = window(gap, shift);
        gap.window = Some(window);
        gap.room_at_start = Some(window - gap.flight_at_start);
        gap.largest_window = gap.largest_window.max(largest);
        gap.scale_inferred = true;
        if let Some((time, packet)) = gap.widened.filter(|_| gap.room_at_start < Some(gap.next_segment())) {
            (gap.last_ack, gap.last_ack_packet) = (gap.last_ack.max(Some(time)), Some(packet));
        }
    }
}
