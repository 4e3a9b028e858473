//! Content of one capture: its connections, and a short record of each packet.

use hashbrown::HashMap;

use crate::capture::CaptureError;
use crate::engine::{self, CaptureStatus};
use crate::results::{End, roles};
use crate::seq::SeqNo;
use crate::wire::{Endpoint, Flags, Segment, Timestamps};

/// Packets of a capture that are held, some eighty bytes each; later packets are counted and left out.
const PACKETS_HELD: usize = 1 << 24;

/// One packet of one direction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Passage {
    /// Nanoseconds since the epoch by the capture's clock.
    pub(super) time: i64,
    /// Packet number in the capture.
    pub(super) packet: u64,
    /// Position of its first byte, counted from the first sequence number of this direction at the tap.
    pub(super) left: i64,
    /// Its length in sequence space, SYN and FIN included.
    pub(super) length: u32,
    /// The sequence number as it was sent.
    pub(super) seq: SeqNo,
    /// The acknowledgement as it was sent; 0 without one.
    pub(super) ack: SeqNo,
    /// The acknowledged position, counted from the first sequence number of the other direction at the tap.
    pub(super) acked: Option<i64>,
    pub(super) flags: Flags,
    pub(super) window: u16,
    pub(super) ip_id: Option<u16>,
    pub(super) ttl: Option<u8>,
    pub(super) timestamps: Option<Timestamps>,
    /// Sum of the left edges of its SACK blocks relative to its ACK: distinguishes duplicate ACKs.
    pub(super) sacks: u32,
}

impl Passage {
    /// Position after its last byte.
    pub(super) fn right(&self) -> i64 {
        self.left + i64::from(self.length)
    }
}

/// One direction of a connection.
#[derive(Debug, Default)]
pub(super) struct Way {
    /// The sequence number from which `left` counts.
    pub(super) base: Option<SeqNo>,
    highest: i64,
    /// Its SYN.
    pub(super) syn: Option<Segment>,
    /// Its packets in the order of the capture.
    pub(super) passages: Vec<Passage>,
}

impl Way {
    /// The position of a sequence number, unwrapped by the highest one before.
    fn place(&mut self, seq: SeqNo) -> i64 {
        let base = *self.base.get_or_insert(seq);
        let near = SeqNo(base.0.wrapping_add(self.highest as u32));
        let place = self.highest + i64::from(seq.since(near));
        self.highest = self.highest.max(place);
        place
    }
}

/// One connection at one tap.
#[derive(Debug)]
pub(super) struct Conversation {
    /// The client, by the SYN or by the ports, and the server.
    pub(super) ends: [Endpoint; 2],
    /// The client's data and the server's data.
    pub(super) ways: [Way; 2],
}

impl Conversation {
    fn new(segment: &Segment) -> Conversation {
        Conversation { ends: roles::ends(segment), ways: Default::default() }
    }

    /// The initial sequence numbers of both ends.
    pub(super) fn isns(&self) -> [Option<SeqNo>; 2] {
        End::BOTH.map(|sender| self.ways[sender].syn.map(|syn| syn.seq))
    }

    /// Times of the first and the last packet.
    pub(super) fn span(&self) -> (i64, i64) {
        let times = || self.ways.iter().flat_map(|way| &way.passages).map(|passage| passage.time);
        (times().min().unwrap_or(0), times().max().unwrap_or(0))
    }

    fn sender(&self, segment: &Segment) -> End {
        if segment.source == self.ends[End::Client] { End::Client } else { End::Server }
    }

    /// True for a SYN of another connection on the same ports.
    fn is_reused_by(&self, segment: &Segment) -> bool {
        let opens = segment.flags.has(Flags::SYN) && !segment.flags.has(Flags::ACK);
        opens && self.isns()[self.sender(segment)] != Some(segment.seq)
    }

    fn sees(&mut self, segment: &Segment) {
        let sender = self.sender(segment);
        if segment.flags.has(Flags::SYN) && self.ways[sender].syn.is_none() {
            self.ways[sender].syn = Some(*segment);
        }
        let acked = segment.flags.has(Flags::ACK).then(|| self.ways[sender.peer()].place(segment.ack));
        let way = &mut self.ways[sender];
        let left = way.place(segment.seq);
        way.passages.push(Passage {
            time: segment.time.0,
            packet: segment.packet.0,
            left,
            length: segment.sequence_length(),
            seq: segment.seq,
            ack: if acked.is_some() { segment.ack } else { SeqNo(0) },
            acked,
            flags: segment.flags,
            window: segment.window,
            ip_id: segment.ip_id,
            ttl: segment.ttl,
            timestamps: segment.timestamps,
            sacks: segment
                .sack_blocks()
                .iter()
                .fold(0, |sum, block| sum.wrapping_mul(31).wrapping_add(block.left.since(segment.ack) as u32)),
        });
    }
}

/// Content of one capture.
#[derive(Debug, Default)]
pub(super) struct Tap {
    pub(super) conversations: Vec<Conversation>,
    /// Times of the first and the last packet of any kind.
    pub(super) span: (i64, i64),
    /// Packets beyond the limit.
    pub(super) left_out: u64,
    open: HashMap<(Endpoint, Endpoint), usize>,
    held: usize,
}

impl Tap {
    /// Reads a capture to its end.
    pub(super) fn read(path: &str, signalled: &mut impl FnMut() -> bool) -> Result<(Tap, CaptureStatus), CaptureError> {
        let mut tap = Tap { span: (i64::MAX, i64::MIN), ..Tap::default() };
        let status = engine::segments(path, |segment| tap.sees(segment), signalled)?;
        Ok((tap, status))
    }

    pub(super) fn sees(&mut self, segment: &Segment) {
        self.span = (self.span.0.min(segment.time.0), self.span.1.max(segment.time.0));
        if self.held >= PACKETS_HELD {
            self.left_out += 1;
            return;
        }
        self.held += 1;
        let key = if segment.source < segment.destination {
            (segment.source, segment.destination)
        } else {
            (segment.destination, segment.source)
        };
        let known = self.open.get(&key).copied().filter(|at| !self.conversations[*at].is_reused_by(segment));
        let at = known.unwrap_or_else(|| {
            self.conversations.push(Conversation::new(segment));
            self.open.insert(key, self.conversations.len() - 1);
            self.conversations.len() - 1
        });
        self.conversations[at].sees(segment);
    }
}
