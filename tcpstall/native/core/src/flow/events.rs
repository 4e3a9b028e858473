//! What a segment or an acknowledgement did to one direction of data.

use crate::size::PacketNo;
use crate::time::Nanos;

/// What an arriving segment of the sender turned out to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sending {
    /// Bytes never sent before; `hole` bytes before them were not seen.
    New {
        /// New payload bytes.
        bytes: u32,
        /// Segments of one MSS that they make.
        segments: u32,
        /// Bytes skipped over.
        hole: i64,
        /// Packets that the IP-ID counter says were sent since the last frame and did not pass here; 0 where it does not tell.
        lost: u32,
    },
    /// Bytes that this tap saw before.
    Again,
    /// Bytes below the highest seen that this tap had not seen: reordered, or a retransmission of something lost before the tap.
    Late {
        /// The IP-ID counter says that it was sent after the data that overtook it.
        retransmitted: bool,
    },
    /// A window probe or keep-alive: nothing, or one byte, at the left edge.
    Probe,
    /// A copy of a packet made by the capture or the network.
    Copy,
}

/// What one acknowledgement did when it reached the sender.
#[derive(Clone, Copy, Debug, Default)]
pub struct Acked {
    /// When it reached the sender, on the clock by which the tap sees the sender's data.
    pub time: Nanos,
    /// The packet that carried it.
    pub packet: PacketNo,
    /// By the distance alone it would have come later than what is happening: it is applied early for the clock's grain.
    pub early: bool,
    /// The capture holds it after data that the sender sent on it.
    pub overdue: bool,
    /// Newly acknowledged bytes.
    pub bytes: i64,
    /// Newly acknowledged segments.
    pub segments: u32,
    /// Segments in flight before it.
    pub out_before: u32,
    /// Bytes in flight before it.
    pub flight_before: i64,
    /// Room in the peer's window before it.
    pub room_before: Option<i64>,
    /// The peer's window before it.
    pub window_before: Option<i64>,
    /// The window field as sent, before it.
    pub field_before: u16,
    /// Bytes below the highest seen that it acknowledged and the tap never saw.
    pub unseen_inside: i64,
    /// Bytes above the highest seen that it acknowledged.
    pub unseen_tail: i64,
    /// When it reached the sender is not known: the tap's distance had not been measured yet.
    pub blind: bool,
    /// A segment shorter than a full one was outstanding before it.
    pub short_before: bool,
    /// The round trip that it measures; `None` where what it covers was sent more than once (Karn's rule).
    pub sample: Option<Nanos>,
    /// A duplicate ACK, or one with new SACK blocks.
    pub loss_hint: bool,
    /// From the newest segment that it acknowledges to the peer and back to the tap; `None` after a retransmission of it.
    pub to_peer: Option<Nanos>,
    /// The DSACK block it carried: bytes that reached the peer twice.
    pub duplicate: Option<(i64, i64)>,
    /// The round trip that it measured for the sender.
    pub rtt: Option<Nanos>,
    /// That was close to the smallest, and so was the one before: nothing to learn from it.
    pub steady: bool,
    /// Payload it carried.
    pub payload: u32,
    /// Its TSecr.
    pub echo: Option<u32>,
}
