//! Follows IP fragments: a later fragment of a TCP segment carries more of its payload, and is returned as a segment.

use std::collections::VecDeque;

use super::segment::{Address, Flags, Segment};
use super::{ipv4, ipv6, link_header};
use crate::capture::Frame;
use crate::seq::SeqNo;
use crate::time::Nanos;

/// Segments whose fragments are followed at once. The fragments of consecutive segments pass within a round trip.
const FOLLOWED: usize = 64;

/// Time after which an IP identification may be reused: Linux keeps an incomplete datagram this long (`ipfrag_time`).
const LIFETIME: Nanos = Nanos::from_millis(30_000);

/// Longest pause between fragments of one packet: at 64 kbit/s a fragment of 1500 bytes takes 190 ms.
const PATIENCE: Nanos = Nanos::from_millis(1_000);

/// Time after the same sender's next segment in which a missing fragment may still come: the capture stores packets out
/// of order by less.
const OVERTAKEN: Nanos = Nanos::from_millis(5);

/// Fields of an IP header about a fragment.
#[derive(Clone, Copy)]
pub(super) struct FragmentFields {
    pub(super) datagram: Datagram,
    /// Offset of its first byte in the fragmented packet.
    pub(super) offset: u32,
    /// Length of the fragment, bytes.
    pub(super) length: u32,
    /// More fragments follow.
    pub(super) more: bool,
    /// In a first fragment: length in the TCP header, bytes.
    pub(super) header: u32,
}

/// The common fields of one packet's fragments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Datagram {
    pub(super) source: Address,
    pub(super) destination: Address,
    pub(super) identification: u32,
}

/// The packet that the frame is a fragment of, if it is a fragment of TCP.
pub fn datagram(frame: &Frame<'_>) -> Option<Datagram> {
    part(frame).map(|part| part.datagram)
}

/// The first fragment of a segment.
#[derive(Clone, serde::Serialize, serde::Deserialize)]
struct First {
    datagram: Datagram,
    /// The segment by its header, with the flags that belong after the last byte.
    segment: Segment,
    /// Length of the TCP header, bytes.
    header: u32,
    /// The segment is held back until it is complete.
    held: bool,
    /// Time of its latest fragment.
    last: Nanos,
    /// Bytes of the packet that passed.
    passed: u32,
    /// Those of these bytes before the first missing one.
    reach: u32,
    /// Length of the whole packet, bytes, once its last fragment passed.
    whole: Option<u32>,
}

impl First {
    /// The part of the segment in its first fragment and in those that follow without a hole; the rest is missing.
    fn beginning(&self, now: Nanos) -> Segment {
        let payload = self.reach.saturating_sub(self.header);
        let flags = Flags(self.segment.flags.0 & !LAST.0);
        Segment { time: now.max(self.segment.time), payload, flags, ..self.segment }
    }

    /// True if no more fragments will come: they took too long, or the sender has gone on to `next`.
    fn is_lost(&self, now: Nanos, next: Option<&Segment>) -> bool {
        let ends = |segment: &Segment| (segment.source, segment.destination);
        let gone_on = next.is_some_and(|next| ends(next) == ends(&self.segment));
        self.held && now - self.last >= if gone_on { OVERTAKEN } else { PATIENCE }
    }
}

/// Result of a later fragment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Followed {
    /// Nothing yet, or the first fragment is unknown.
    Nothing,
    /// The whole segment, which was held back for this fragment.
    Whole,
    /// More of a segment whose beginning was handed on.
    Part,
}

/// The segments whose first fragment passed recently. Each is handed on once: at once, when it is complete, or, when
/// its rest is lost, as far as it goes.
#[derive(Clone, Default, serde::Serialize, serde::Deserialize)]
pub struct Fragments {
    firsts: Vec<First>,
    /// Index of the oldest segment, which makes room for the next.
    oldest: usize,
    /// Number of segments held back.
    held: usize,
    /// Beginnings of segments that made room for others.
    lost: VecDeque<Segment>,
    /// The capture holds later fragments too. A filter by port drops them, because only the first fragment has ports.
    others_pass: bool,
}

impl Fragments {
    /// Takes in the segment of the first fragment in `frame`. False where the segment is handed on when it is complete;
    /// until later fragments are known to pass, its beginning is handed on at once.
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

    /// Takes in a later fragment, which gives the whole segment, or the part that it carries.
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
        // The header may continue in this fragment.
        let header = first.header.saturating_sub(part.offset);
        let before = part.offset.saturating_sub(first.header) + u32::from(first.segment.flags.has(Flags::SYN));
        let flags = if part.more { Flags::ACK.0 } else { Flags::ACK.0 | LAST.0 };
        segment.seq = SeqNo(first.segment.seq.0.wrapping_add(before));
        segment.payload = part.length.saturating_sub(header);
        segment.flags = Flags(first.segment.flags.0 & flags);
        // The IP identification is the first fragment's, and would make this segment a copy of it.
        segment.ip_id = None;
        segment.sack_count = 0;
        segment.goes_on = true;
        if segment.payload > 0 { Followed::Part } else { Followed::Nothing }
    }

    /// True if segments are held back, or wait to be handed on.
    #[inline]
    pub fn has_some(&self) -> bool {
        self.held > 0 || !self.lost.is_empty()
    }

    /// Returns a segment whose rest is lost, now that it is `now` and `next` passes.
    #[cold]
    pub fn lost(&mut self, now: Nanos, next: Option<&Segment>) -> Option<Segment> {
        self.lost.pop_front().or_else(|| self.let_go(now, |first| first.is_lost(now, next)))
    }

    /// Returns any segment held back, once no more fragments can come.
    #[cold]
    pub fn rest(&mut self, now: Nanos) -> Option<Segment> {
        self.lost.pop_front().or_else(|| self.let_go(now, |first| first.held))
    }

    /// Removes the first segment, in order of arrival, that `goes` accepts.
    fn let_go(&mut self, now: Nanos, goes: impl Fn(&First) -> bool) -> Option<Segment> {
        let (newer, older) = self.firsts.split_at_mut(self.oldest);
        let first = older.iter_mut().chain(newer).find(|first| goes(first))?;
        first.held = false;
        self.held -= 1;
        Some(first.beginning(now))
    }
}

/// Flags that belong after a segment's last byte.
const LAST: Flags = Flags::FIN.with(Flags::PSH);

fn part(frame: &Frame<'_>) -> Option<FragmentFields> {
    let header = link_header(frame).ok()?;
    let packet = frame.bytes.get(header..)?;
    let on_wire = frame.wire_length.saturating_sub(header as u32);
    match packet.first()? >> 4 {
        4 => ipv4::part(packet, on_wire),
        _ => ipv6::part(packet, on_wire),
    }
}
