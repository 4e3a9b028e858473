//! Bursts: new data that left without a pause.

use super::packed::packed;
use crate::packet_no::PacketNo;
use crate::time::Nanos;

/// Clumps of a burst: segments that left together, separated by silences too short for a pause but longer than the noise of
/// hosts.
#[derive(Clone, Copy, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Clump {
    /// First segment of the burst's last clump.
    pub start: Nanos,
    /// New payload bytes of the last clump.
    pub bytes: u64,
    /// Number of clumps in the burst.
    pub count: u32,
    /// The longest silence between two clumps.
    pub longest_silence: Nanos,
    /// New payload bytes of the first clump.
    pub first_bytes: u64,
}

/// Segments of new data that one sender sent without a pause between them.
#[derive(Clone, Copy, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Burst {
    /// First segment.
    pub start: Nanos,
    /// Last segment.
    pub end: Nanos,
    /// New payload bytes.
    pub bytes: u64,
    /// Frames with new payload.
    pub frames: u64,
    /// Bytes in flight after the last.
    pub in_flight: u64,
    /// Bytes of its first frame.
    pub first_frame: u32,
    /// The first frame had PSH.
    pub first_pushed: bool,
    /// Bytes of its last frame.
    pub last_frame: u32,
    /// The last frame had PSH: a sign that its sender had no more data then (RFC 9293 §3.9.1.2).
    pub pushed: bool,
    /// The last frame had FIN: its sender had closed, and no algorithm held the end of its data back (RFC 9293 §3.7.4).
    pub closes: bool,
    /// Frames with PSH.
    pub pushes: u32,
    /// Before an ACK that let more go, the last frame had no PSH.
    pub breaks_off: bool,
    /// Last packet.
    pub last_packet: PacketNo,
    /// ACKs of new data that released the burst: those of the pause before it, and those that came during the burst.
    pub acks: u32,
    /// Clumps and silences inside the burst.
    pub clump: Clump,
}

packed!(Clump { start, bytes, count, longest_silence, first_bytes });
packed!(Burst {
    marks { first_pushed, pushed, closes, breaks_off }
    start, end, bytes, frames, in_flight, first_frame, last_frame, pushes, last_packet, acks, clump,
});
