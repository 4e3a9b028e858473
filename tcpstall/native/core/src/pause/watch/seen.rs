//! Classification of a segment within its flow: one word, so that most callers get it for nothing.

use crate::flow::connection::Effect;
use crate::flow::{End, Sending};

/// Classification of a segment within its flow.
#[derive(Clone, Copy, Debug)]
pub struct SeenSegment {
    /// Sender of the segment.
    pub sender: End,
    /// Kind of the segment.
    pub kind: SegmentKind,
    /// The sender had paused before the segment: there is a new pause.
    pub ended_pause: bool,
}

/// Kind of a segment, by its effect on the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SegmentKind {
    /// The segment belonged to the handshake.
    Handshake,
    /// New data.
    New,
    /// Data that passed before.
    Again,
    /// Data that later data had overtaken.
    Late {
        /// The segment was sent after the data that overtook it.
        retransmitted: bool,
    },
    /// A window probe or keep-alive.
    Probe,
    /// A copy of data made by the capture or the network.
    Copy,
    /// The segment carried no payload.
    Bare,
}

impl From<Effect> for SegmentKind {
    #[inline]
    fn from(effect: Effect) -> SegmentKind {
        match effect {
            Effect::Handshake => SegmentKind::Handshake,
            Effect::Data(Sending::New { .. }) => SegmentKind::New,
            Effect::Data(Sending::Again) => SegmentKind::Again,
            Effect::Data(Sending::Late { retransmitted }) => SegmentKind::Late { retransmitted },
            Effect::Data(Sending::Probe) => SegmentKind::Probe,
            Effect::Data(Sending::Copy) => SegmentKind::Copy,
            Effect::Control | Effect::Copy => SegmentKind::Bare,
        }
    }
}
