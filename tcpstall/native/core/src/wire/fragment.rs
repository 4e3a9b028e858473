//! IP fragments: what follows the first one of a TCP segment is more of its payload, and comes as such.

use super::segment::{Address, Flags, Segment};
use super::{ipv4, ipv6, link_header};
use crate::capture::Frame;
use crate::seq::SeqNo;
use crate::time::Nanos;

/// Segments whose fragments are followed at once. They pass within a round trip of each other, one segment after the other.
const FOLLOWED: usize = 64;

/// An identification may come again after this: Linux gives a datagram so long to become whole (`ipfrag_time`).
const LIFETIME: Nanos = Nanos::from_millis(30_000);

/// What an IP header says of a fragment.
#[derive(Clone, Copy)]
pub(super) struct Part {
    pub(super) datagram: Datagram,
    /// Where its first byte stood in what was fragmented.
    pub(super) offset: u32,
    /// Bytes of it.
    pub(super) length: u32,
    /// Others follow.
    pub(super) more: bool,
    /// Of a first fragment: the length that the TCP header claims, bytes.
    pub(super) header: u32,
}

/// What the fragments of one packet have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Datagram {
    pub(super) source: Address,
    pub(super) destination: Address,
    pub(super) identification: u32,
}

/// The packet that a fragment is of, where it is one of TCP.
pub fn datagram(frame: &Frame<'_>) -> Option<Datagram> {
    part(frame).map(|part| part.datagram)
}

/// The first fragment of a segment.
struct First {
    datagram: Datagram,
    /// As the header says it, with the flags that belong behind the last byte.
    segment: Segment,
    /// Length of the TCP header, bytes.
    header: u32,
    /// It was not handed on: the whole segment will be.
    held: bool,
    /// Bytes of the packet that passed.
    passed: u32,
    /// Bytes of the whole packet, once its last fragment passed.
    whole: Option<u32>,
}

/// The segments whose first fragment passed lately.
#[derive(Default)]
pub struct Fragments {
    firsts: Vec<First>,
    /// The oldest, which makes room for the next.
    oldest: usize,
    /// The capture holds later fragments too. A filter for ports drops them, as only the first one has ports.
    others_pass: bool,
}

impl Fragments {
    /// Takes in the segment that came in the first fragment in `frame`. False where the segment is handed on when it is
    /// whole; until other fragments are known to pass, what there is of it is handed on at once.
    #[cold]
    pub fn begin(&mut self, frame: &Frame<'_>, segment: &mut Segment) -> bool {
        let Some(part) = part(frame).filter(|part| part.more) else {
            return true;
        };
        let first = First {
            datagram: part.datagram,
            segment: *segment,
            header: part.header,
            held: self.others_pass,
            passed: part.length,
            whole: None,
        };
        segment.flags = Flags(segment.flags.0 & !LAST.0);
        if self.firsts.len() < FOLLOWED {
            self.firsts.push(first);
        } else {
            self.firsts[self.oldest] = first;
            self.oldest = (self.oldest + 1) % FOLLOWED;
        }
        !self.others_pass
    }

    /// What a later fragment brings: the whole segment, or the part that it carries. False where it is nothing yet, or
    /// where its first one is not known.
    #[cold]
    pub fn follow(&mut self, frame: &Frame<'_>, segment: &mut Segment) -> bool {
        let Some(part) = part(frame) else {
            return false;
        };
        let known = |first: &&mut First| first.datagram == part.datagram && frame.time - first.segment.time < LIFETIME;
        let Some(first) = self.firsts.iter_mut().rev().find(known) else {
            return false;
        };
        self.others_pass = true;
        *segment = Segment { packet: frame.packet, time: frame.time, ..first.segment };
        first.passed += part.length;
        if !part.more {
            first.whole = Some(part.offset + part.length);
        }
        if first.held {
            segment.payload = first.passed.saturating_sub(first.header);
            return first.whole == Some(first.passed);
        }
        // The header may go on in it.
        let header = first.header.saturating_sub(part.offset);
        let before = part.offset.saturating_sub(first.header) + u32::from(first.segment.flags.has(Flags::SYN));
        let flags = if part.more { Flags::ACK.0 } else { Flags::ACK.0 | LAST.0 };
        segment.seq = SeqNo(first.segment.seq.0.wrapping_add(before));
        segment.payload = part.length.saturating_sub(header);
        segment.flags = Flags(first.segment.flags.0 & flags);
        // It is the first one's, and would make this a copy of it.
        segment.ip_id = None;
        segment.sack_count = 0;
        segment.payload > 0
    }
}

/// What belongs behind a segment's last byte.
const LAST: Flags = Flags::FIN.with(Flags::PSH);

fn part(frame: &Frame<'_>) -> Option<Part> {
    let header = link_header(frame).ok()?;
    let packet = frame.bytes.get(header..)?;
    let on_wire = frame.wire_length.saturating_sub(header as u32);
    match packet.first()? >> 4 {
        4 => ipv4::part(packet, on_wire),
        _ => ipv6::part(packet, on_wire),
    }
}
