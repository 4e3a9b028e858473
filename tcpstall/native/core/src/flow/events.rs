//! Effects of a segment or an acknowledgement on one direction of data.

use crate::packet_no::PacketNo;
use crate::time::Nanos;

/// Classification of a sender's segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sending {
    /// Bytes never sent before; `hole` bytes before them were not seen.
    New {
        /// New payload bytes.
        bytes: u32,
        /// Bytes skipped before them.
        hole: i64,
        /// Packets sent since the last frame that did not pass here, by the IP-ID counter; 0 where the counter is
        /// unreliable.
        lost: u32,
    },
    /// Bytes that this tap saw before.
    Again,
    /// Bytes below the highest seen that this tap had not seen: reordered, or the retransmission of a loss before the
    /// tap.
    Late {
        /// The IP-ID counter shows that the segment was sent after the data that overtook it.
        retransmitted: bool,
    },
    /// A window probe or keep-alive: no byte, or one, at the left edge.
    Probe,
    /// A copy of a packet made by the capture or the network.
    Copy,
}

/// Effect of one acknowledgement when it reached the sender.
#[derive(Clone, Copy, Debug, Default)]
pub struct Acked {
    /// Time when it reached the sender, on the clock by which the tap sees the sender's data.
    pub time: Nanos,
    /// Time when it passed the tap.
    pub passed: Nanos,
    /// Packet of the acknowledgement.
    pub packet: PacketNo,
    /// By the distance alone it would come later than the current event: it is applied early because of the clock's
    /// granularity.
    pub early: bool,
    /// The capture holds it after data that the sender sent in answer to it.
    pub overdue: bool,
    /// Newly acknowledged bytes.
    pub bytes: i64,
    /// Newly acknowledged segments; where the tap missed most of the bytes, those that it saw.
    pub segments: u32,
    /// Segments in flight before the acknowledgement.
    pub out_before: u32,
    /// Bytes in flight before the acknowledgement.
    pub flight_before: i64,
    /// Room in the peer's window before the acknowledgement.
    pub room_before: Option<i64>,
    /// The peer's window before the acknowledgement.
    pub window_before: Option<i64>,
    /// The window field as sent, before the acknowledgement.
    pub field_before: u16,
    /// Bytes below the highest seen that it acknowledged and the tap never saw.
    pub unseen_inside: i64,
    /// Bytes above the highest seen that it acknowledged.
    pub unseen_tail: i64,
    /// The time when it reached the sender is unknown: the tap's distance had not been measured yet.
    pub blind: bool,
    /// The round trip that it measures; `None` where the covered data was sent more than once (Karn's rule).
    pub sample: Option<Nanos>,
    /// A duplicate ACK, or one with new SACK blocks.
    pub loss_hint: bool,
    /// Time from the newest segment that it acknowledges to the peer and back to the tap; `None` after a retransmission
    /// of that segment.
    pub to_peer: Option<Nanos>,
    /// The DSACK block it carried: bytes that reached the peer twice.
    pub duplicate: Option<(i64, i64)>,
    /// The round trip that it measured for the sender.
    pub rtt: Option<Nanos>,
    /// That round trip and the one before were close to the smallest: nothing to learn from it.
    pub steady: bool,
    /// Payload of the segment.
    pub payload: u32,
    /// TSecr of the segment.
    pub echo: Option<u32>,
}
