//! The peer's segments on their way from the tap to the sender.

use std::collections::VecDeque;

use crate::packet_no::PacketNo;
use crate::seq::SeqNo;
use crate::time::Nanos;

/// A segment of the peer on its way from the tap to the sender.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
pub struct PendingAck {
    pub(in crate::flow) time: Nanos,
    pub(in crate::flow) ack: i64,
    /// The peer's window: a field of 16 bits, shifted by 14 at most.
    pub(in crate::flow) window: Option<u32>,
    /// The window field as sent.
    pub(in crate::flow) field: u16,
    pub(in crate::flow) packet: PacketNo,
    pub(in crate::flow) payload: u32,
    /// End of its payload.
    pub(in crate::flow) end: SeqNo,
    /// The sender has acknowledged its payload: it has arrived, whatever the distance.
    pub(in crate::flow) heard: bool,
    /// TSecr: identifies the sender's segment that caused this one.
    pub(in crate::flow) echo: Option<u32>,
    /// Time after that segment, at the tap.
    pub(in crate::flow) echoed: Option<Nanos>,
    /// Number of its own blocks in the queue of SACK blocks.
    pub(in crate::flow) sack_count: u8,
    /// The capture holds it after data that its receiver sent in answer.
    pub(in crate::flow) overdue: bool,
}

/// Time in which hardly a host answers: between two segments closer than this nothing happens at their receiver. A full
/// frame takes 12 µs at 1 Gbit/s.
const AT_ONCE: Nanos = Nanos::from_micros(20);

impl PendingAck {
    /// Besides its data the `later` segment says what this one says already: the peer's burst goes on. Without data, or
    /// with a window of unknown scale, a repetition says something.
    #[inline]
    pub(in crate::flow) fn is_repeated_by(&self, later: &PendingAck) -> bool {
        later.ack == self.ack
            && later.field == self.field
            && later.window == self.window
            && later.window.is_some()
            && later.sack_count == 0
            && !later.overdue
            && later.time - self.time < AT_ONCE
    }

    /// Time until which data of the peer that says the same repeats it: see [`PendingAck::is_repeated_by`].
    #[inline]
    pub(in crate::flow) fn told_until(&self) -> Nanos {
        if self.window.is_some() { self.time.plus(AT_ONCE) } else { Nanos::ZERO }
    }

    /// No application was asked for it, as it has no payload; or timestamps measure the path besides.
    #[inline]
    pub fn proves_path(&self) -> bool {
        self.payload == 0 || self.echo.is_some()
    }

    /// It came without SACK blocks.
    #[inline]
    pub fn bears_no_sacks(&self) -> bool {
        self.sack_count == 0
    }

    /// The DSACK block, if the first of `sacks`, which begin with this ACK's own, is one. RFC 2883 §4: a first block
    /// below the cumulative ACK, or inside the second block, reports data that came twice.
    #[inline]
    pub(in crate::flow) fn reported_twice(&self, sacks: &VecDeque<(i64, i64)>) -> Option<(i64, i64)> {
        if self.bears_no_sacks() {
            return None;
        }
        let first = *sacks.front()?;
        let second = sacks.get(1).filter(|_| self.sack_count > 1);
        let inside = second.is_some_and(|second| second.0 <= first.0 && first.1 <= second.1);
        (first.1 <= self.ack || inside).then_some(first)
    }
}
