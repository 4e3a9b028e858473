//! IP fragments: what follows the first one of a TCP segment is more of its payload, and comes as such.

use std::collections::VecDeque;

use super::segment::{Address, Flags, Segment};
use super::{ipv4, ipv6, link_header};
use crate::capture::Frame;
use crate::seq::SeqNo;
use crate::time::Nanos;

/// Segments whose fragments are followed at once. They pass within a round trip of each other, one segment after the other.
const FOLLOWED: usize = 64;

/// An identification may come again after this: Linux gives a datagram so long to become whole (`ipfrag_time`).
const LIFETIME: Nanos = Nanos::from_millis(30_000);

/// Fragments of one packet follow each other sooner than this: at 64 kbit/s one of 1500 bytes takes 190 ms.
const PATIENCE: Nanos = Nanos::from_millis(1_000);

/// Once the same sender's next segment passes, what is missing is lost but for packets that the capture stores out of order, by
/// less than this.
const OVERTAKEN: Nanos = Nanos::from_millis(5);

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
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
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
#[derive(Clone, serde::Serialize, serde::Deserialize)]
struct First {
    datagram: Datagram,
    /// As the header says it, with the flags that belong behind the last byte.
    segment: Segment,
    /// Length of the TCP header, bytes.
    header: u32,
    /// It was not handed on: the whole segment will be.
    held: bool,
    /// When the latest fragment of it passed.
    last: Nanos,
    /// Bytes of the packet that passed.
    passed: u32,
    /// Of these, the bytes before the first that is missing.
    reach: u32,
    /// Bytes of the whole packet, once its last fragment passed.
    whole: Option<u32>,
}

impl First {
    /// So much of the segment as its first fragment and those that follow on it hold: the rest is missing.
    fn beginning(&self, now: Nanos) -> Segment {
        let payload = self.reach.saturating_sub(self.header);
        let flags = Flags(self.segment.flags.0 & !LAST.0);
        Segment { time: now.max(self.segment.time), payload, flags, ..self.segment }
    }

    /// Nothing more of it is to come: it took too long, or its sender has gone on to `next`.
    fn is_lost(&self, now: Nanos, next: Option<&Segment>) -> bool {
        let ends = |segment: &Segment| (segment.source, segment.destination);
        let gone_on = next.is_some_and(|next| ends(next) == ends(&self.segment));
        self.held && now - self.last >= if gone_on { OVERTAKEN } else { PATIENCE }
    }
}

/// What a later fragment brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Followed {
    /// Nothing yet, or its first one is not known.
    Nothing,
    /// The whole of a segment that was held for it.
    Whole,
    /// More of a segment whose beginning was handed on.
    Part,
}

/// The segments whose first fragment passed lately. Each of them is handed on once: at once, when it is whole, or, when the rest of it
/// is missing, as far as it goes.
#[derive(Clone, Default, serde::Serialize, serde::Deserialize)]
pub struct Fragments {
    firsts: Vec<First>,
    /// The oldest, which makes room for the next.
    oldest: usize,
    /// Segments that are held.
    held: usize,
    /// Beginnings that made room for others.
    lost: VecDeque<Segment>,
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
            last: frame.time,
            passed: part.length,
            reach: part.length,
            whole: None,
        };
        segment.flags = Flags(segment.flags.0 & !LAST.0);
        self.held += usize::from(first.held);
        if self.firsts.len() < FOLLOWED {
            self.firsts.push(first);
        } else {
            let gone = std::mem::replace(&mut self.firsts[self.oldest], first);
            self.oldest = (self.oldest + 1) % FOLLOWED;
            if gone.held {
                self.held -= 1;
                self.lost.push_back(gone.beginning(frame.time));
            }
        }
        !self.others_pass
    }

    /// What a later fragment brings: the whole segment, or the part that it carries.
    #[cold]
    pub fn follow(&mut self, frame: &Frame<'_>, segment: &mut Segment) -> Followed {
        let Some(part) = part(frame) else {
            return Followed::Nothing;
        };
        let known = |first: &&mut First| first.datagram == part.datagram && frame.time - first.segment.time < LIFETIME;
        let Some(first) = self.firsts.iter_mut().rev().find(known) else {
            return Followed::Nothing;
        };
        self.others_pass = true;
        *segment = Segment { packet: frame.packet, time: frame.time, ..first.segment };
        let end = part.offset.saturating_add(part.length);
        first.passed = first.passed.saturating_add(part.length);
        first.last = frame.time.max(first.last);
        if part.offset <= first.reach {
            first.reach = first.reach.max(end);
        }
        if !part.more {
            first.whole = Some(end);
        }
        if first.held {
            segment.payload = first.passed.saturating_sub(first.header);
            if first.whole != Some(first.passed) {
                return Followed::Nothing;
            }
            first.held = false;
            self.held -= 1;
            return Followed::Whole;
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
        segment.goes_on = true;
        if segment.payload > 0 { Followed::Part } else { Followed::Nothing }
    }

    /// Some segments are held, or wait to be handed on.
    #[inline]
    pub fn has_some(&self) -> bool {
        self.held > 0 || !self.lost.is_empty()
    }

    /// A segment of which the rest is missing, now that it is `now` and the `next` one passes.
    #[cold]
    pub fn lost(&mut self, now: Nanos, next: Option<&Segment>) -> Option<Segment> {
        self.lost.pop_front().or_else(|| self.let_go(now, |first| first.is_lost(now, next)))
    }

    /// The same of any that is held, once nothing more can come.
    #[cold]
    pub fn rest(&mut self, now: Nanos) -> Option<Segment> {
        self.lost.pop_front().or_else(|| self.let_go(now, |first| first.held))
    }

    /// The first to come goes first.
    fn let_go(&mut self, now: Nanos, goes: impl Fn(&First) -> bool) -> Option<Segment> {
        let (newer, older) = self.firsts.split_at_mut(self.oldest);
        let first = older.iter_mut().chain(newer).find(|first| goes(first))?;
        first.held = false;
        self.held -= 1;
        Some(first.beginning(now))
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
