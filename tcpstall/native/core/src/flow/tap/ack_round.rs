//! A burst and the silence after it, as a receiver sees them: a round of a sender that ACKs let go.

use super::ack_clock::are_even;
use crate::packet_no::PacketNo;
use crate::time::Nanos;

/// The burst before a silence of a sender, and the silence.
#[derive(Clone, Copy, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct AckRound {
    /// New payload bytes of the burst.
    pub bytes: u64,
    /// Bytes of its last frame.
    pub last_frame: u32,
    /// That frame had PSH.
    pub pushed: bool,
    /// ACKs of new data that have reached the sender in the silence.
    pub acks: u32,
    /// Time from the burst's first ACK to the next data, at the tap.
    pub span: Nanos,
    /// Time of that data, if it measured nothing; bytes in flight after the burst's first ACK, and the packet of that ACK.
    pub(in crate::flow) ended: Nanos,
    pub(in crate::flow) left: i64,
    pub(in crate::flow) packet: PacketNo,
}

/// The first ACK of a burst, which may have reached the sender before the data that ended the pause.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct FirstAck {
    /// Time from that ACK to that data, at the tap: the largest distance at which it had.
    pub span: Nanos,
    /// Bytes in flight after it.
    pub left: i64,
    /// Its packet.
    pub packet: PacketNo,
}

impl AckRound {
    /// The burst before a silence that has not ended.
    pub fn of(bytes: u64, last_frame: u32, pushed: bool, acks: u32) -> AckRound {
        AckRound { bytes, last_frame, pushed, acks, ..AckRound::default() }
    }

    /// Segments that left together: a slow line would have separated them. A short segment alone ends a write.
    pub(in crate::flow) fn is_burst(&self, mss: u32) -> bool {
        self.bytes >= u64::from(mss) * 2 || self.last_frame < mss
    }

    /// The sender had more to send: the last segment is whole and without PSH (RFC 9293 §3.9.1.2).
    pub(in crate::flow) fn is_cut(&self, mss: u32) -> bool {
        self.last_frame.is_multiple_of(mss.max(1)) && !self.pushed
    }

    /// The round took as long as the one `before`, and is larger by whole segments: the congestion window grew.
    pub(in crate::flow) fn has_grown_since(&self, before: &AckRound, mss: u32) -> bool {
        let whole = |round: &AckRound| round.bytes.is_multiple_of(u64::from(mss.max(1)));
        let even = are_even(self.span.min(before.span), self.span.max(before.span));
        even && whole(self) && whole(before) && self.bytes > before.bytes && before.bytes > 0
    }
}
