//! Time in which one end had data to send or outstanding, and the part of it in which its peer's window was full: the
//! `busy` and `rwnd_limited` of `ss -ti` (Linux tcp_chrono).

use crate::causes::details;
use crate::causes::{Cause, PausePart};
use crate::flow::End;
use crate::pause::{Finished, Pause};
use crate::time::Nanos;

/// Sums of one direction.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Busy {
    idle: Nanos,
    limited: Nanos,
    end: Option<Nanos>,
}

impl Busy {
    /// Ends the busy time: the sender had nothing more to send or outstanding.
    pub(super) fn ends(&mut self, end: Nanos) {
        self.end = Some(end);
    }

    /// Adds a part of a pause; `waited` is false where the sender had finished, so that nobody waited.
    pub(super) fn add(&mut self, pause: &Pause, part: &PausePart, waited: bool) {
        if !pause.ended {
            self.end = Some(if waited && part.cause != Cause::Retransmission {
                part.end
            } else {
                pause.all_acked.unwrap_or(part.end)
            });
        }
        // A loss at a full window is probed for like any tail, but tcp_chrono goes on counting the window.
        let full = pause.room_at_start.is_some_and(|room| room < pause.next_segment())
            && part.proof.detail == details::TAIL_LOSS;
        match part.cause {
            Cause::RwndLimited | Cause::ZeroWindow if waited => self.limited += (part.end - part.start).or_zero(),
            Cause::Retransmission if waited && full => self.limited += (part.end - part.start).or_zero(),
            Cause::AppLimited | Cause::CaptureGap if pause.ended && !pause.first && pause.left_in_flight == 0 => {
                let from = pause.all_acked.unwrap_or(part.start).max(part.start);
                self.idle += (part.end - from).or_zero();
            }
            _ => {}
        }
    }

    /// Busy time, and the part of it that the window limited; `None` where the capture does not show it.
    pub(super) fn of(&self, flow: &Finished, sender: End) -> (Option<Nanos>, Option<Nanos>) {
        let half = flow.connection().half(sender);
        let first = flow.bursts[sender].first().map(|burst| burst.start);
        let (Some(first), Some(end), 0, false) = (first, self.end, flow.dropped, flow.incomplete()) else {
            return (None, None);
        };
        // Linux counts from the client's SYN, which waits in the same queue.
        let handshake = &flow.connection().handshake;
        let here = sender == End::Client && !flow.connection().continues;
        let opening = here.then(|| handshake.start().zip(handshake.end())).flatten();
        let opening = opening.map_or(Nanos::ZERO, |(start, end)| end - start);
        // By the sender's own clock the last ACK may come after the flow's end, and data before the handshake's.
        let whole = flow.connection().end - flow.connection().start;
        let busy = ((end - first - self.idle).or_zero() + opening).min(whole);
        let limited = (self.limited + flow.full_for[sender]).min(busy);
        (Some(busy), half.peer_scale.shift().map(|_| limited))
    }
}
