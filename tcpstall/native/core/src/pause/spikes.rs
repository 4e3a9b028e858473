//! Round trips far above the base, grouped into episodes.

use crate::flow::Acked;
use crate::time::Nanos;

/// Ratio to the base round trip from which a round trip is a spike: above the queue that slow start itself builds on a
/// path with a buffer of one or two round trips.
pub const SPIKE: i64 = 5;
/// Smallest spike: on a path of microseconds every wake-up of a host is a multiple of the base.
const LEAST: Nanos = Nanos::from_millis(5);
/// Episodes kept for one sender; further episodes are only counted.
pub const SPIKE_LIMIT: usize = 200;

/// The flight seems to exceed twice the window's limit (RFC 9293 §3.8.6): the capture lacks the ACKs that came first.
fn is_beyond(acked: &Acked) -> bool {
    acked.window_before.is_some_and(|window| window > 0 && acked.flight_before > 2 * window)
}

/// An episode's highest round trip.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Spike {
    /// Time when its ACK reached the sender.
    pub time: Nanos,
    /// Length of the round trip.
    pub rtt: Nanos,
    /// Bytes in flight before that ACK.
    pub flight: i64,
    /// The peer's window before that ACK.
    pub window: Option<i64>,
}

/// The spikes of one sender.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Spikes {
    /// Episodes in order of time.
    pub list: Vec<Spike>,
    /// Episodes dropped beyond the limit.
    pub dropped: u64,
    open: bool,
    /// The shortest round trip of this sender: round trips near it need no further test.
    least: Option<Nanos>,
}

impl Spikes {
    /// The spikes of the flow's next part: none yet.
    pub(super) fn next_part(self) -> Spikes {
        Spikes { list: Vec::new(), dropped: 0, ..self }
    }

    /// Takes in an ACK that measured a round trip; `base` is computed only where the round trip may be a spike. A
    /// peer's answer in data includes its application's time, so it counts only for ending an episode.
    #[inline]
    pub(super) fn measures(&mut self, acked: &Acked, base: impl FnOnce() -> Option<Nanos>) {
        let Some(rtt) = acked.rtt else { return };
        let least = self.least.map_or(rtt, |least| least.min(rtt));
        self.least = Some(least);
        if !self.open && rtt <= least.times(SPIKE) {
            return;
        }
        let base = if rtt < LEAST || acked.payload > 0 || is_beyond(acked) { None } else { base() };
        let Some(base) = base.filter(|base| rtt.0 > base.times(SPIKE).0 / 2) else {
            self.open = false;
            return;
        };
        if rtt <= base.times(SPIKE) {
            // Between half a spike and a spike an episode continues but none begins.
            return;
        }
        let spike = Spike { time: acked.time, rtt, flight: acked.flight_before, window: acked.window_before };
        let full = self.list.len() == SPIKE_LIMIT;
        match (self.open, full, self.list.last_mut()) {
            (true, _, Some(peak)) if peak.rtt < rtt => *peak = spike,
            (true, _, _) => {}
            (false, true, _) => self.dropped += 1,
            (false, false, _) => self.list.push(spike),
        }
        self.open = true;
    }
}
