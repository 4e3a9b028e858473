//! Waits that the probe timer ended with new data (RFC 8985 §7.3).

use crate::pause::Pause;
use crate::sender::cwnd::INITIAL_WINDOW;
use crate::sender::timers;
use crate::time::Nanos;

/// The probe timer ended the pause and sent new data. A probe takes new data where there is some, whatever the congestion
/// window: one frame, after a silence in which nothing was acknowledged although everything was overdue.
pub(super) fn sent_new_data(pause: &Pause) -> bool {
    let alone = pause.after.clump.first_bytes == u64::from(pause.after.first_frame);
    // One probe per flight (RFC 8985 §7.3): after an unanswered probe the retransmission timer runs.
    let probed = pause.before.acks == 0 && pause.flight_at_start > pause.before.bytes as i64;
    // Before the tap's distance was known the round trip seemed shorter than the shortest.
    let round_trip = pause.srtt.map(|srtt| srtt.max(pause.rtt()));
    pause.ended
        && round_trip.is_some()
        && !pause.unseen.bare_acks
        && !probed
        && !pause.unseen.acks
        && pause.left_in_flight > 0
        && pause.unseen.is_nothing()
        && alone
        && pause.peer_bytes == 0
        && unheard(pause).is_some_and(|silence| {
            timers::fires_at(timers::probe_timeout(round_trip, pause.segments_at_start), 1, silence)
        })
}

/// Time in which nothing was acknowledged. The last ACK restarts the timer (RFC 8985 §7.2): at the sender, where ACKs still came
/// after a burst that no short segment ended, and whole segments followed, nobody else had sent those.
fn unheard(pause: &Pause) -> Option<Nanos> {
    let whole = pause.before.ends_whole(pause.mss) && pause.after.first_frame >= pause.mss && pause.mss_known;
    let trailed = pause.near_sender() && whole && pause.segments_held > INITIAL_WINDOW;
    if pause.acks == 0 { Some(pause.duration()) } else { pause.after_ack().filter(|_| trailed) }
}

/// The only segment in flight was not acknowledged, and the silence ended when its probe timer expires, by the base round trip
/// where the sender's own is unknown. With more in flight that timer is too short to tell it from an application.
pub(super) fn fits_timer(pause: &Pause) -> bool {
    let probe = timers::probe_timeout(pause.srtt.max(pause.base_rtt), pause.segments_at_start);
    let lone = pause.segments_at_start == 1 && pause.left_in_flight > 0;
    let known = lone && pause.base_rtt.is_some() && pause.acks == 0 && pause.peer_bytes == 0;
    known && timers::fires_at(probe, 1, pause.duration())
}

/// The probe took a short write that Nagle's algorithm held behind an earlier one: a probe does not ask Nagle (Linux
/// `tcp_send_loss_probe`, `TCP_NAGLE_OFF`). Of data that only the peer's delayed ACK holds back nothing is lost.
pub(super) fn sent_held_data(pause: &Pause) -> bool {
    let short = pause.after.clump.first_bytes < u64::from(pause.mss);
    short && pause.short_segment_out && pause.short_segment_left && sent_new_data(pause)
}
