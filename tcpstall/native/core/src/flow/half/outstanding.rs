//! Tracks the frames of new data that are not yet acknowledged.

use super::queue::Queue;
use super::short::Short;
use crate::time::Nanos;
use crate::wire::Segment;

/// Frames remembered; beyond it the oldest are forgotten, which loses RTT samples only.
const LIMIT: usize = 1 << 16;
/// Longest time between copies of a packet that a bridge or `-i any` makes.
pub(in crate::flow) const COPY_AGE: Nanos = Nanos::from_millis(1);
/// Longest time between copies with the same IP-ID: within 2 minutes no sender repeats an IP-ID (RFC 6864 §4.1), not
/// even for a repair, and a mirror or a loop of the network may deliver a copy this late.
const LOOPED_COPY_AGE: Nanos = Nanos::from_millis(120_000);
/// Longest time between copies without IP-ID or timestamp: no sender repeats itself this soon.
const UNMARKED_COPY_AGE: Nanos = Nanos::from_micros(20);
/// Frames that one packet can retransmit: the largest packet in the smallest segments that Linux makes (BIG TCP's 512
/// KiB, TCP_MIN_SND_MSS of 48). Without a limit a hostile packet could cover all frames, again and again.
const REPAIRED_FRAMES: usize = 512 * 1024 / 48;
/// Frames among which a copy's original is searched: on a short path the original is acknowledged before its copy
/// comes.
const RECENT: usize = 8;

/// End of a frame (its last 32 bits: no copy is 4 GiB late), its mark, and the time when it passed.
type Recent = (u32, u32, Nanos);

#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
pub(in crate::flow) struct Sent {
    end: i64,
    time: Nanos,
    segments: u32,
    mark: u32,
    /// Bytes in flight after the frame.
    flight: u32,
    short: Short,
    /// One write of its own, clearly shorter than a full segment.
    brief: bool,
    again: bool,
}

/// Frames that one ACK took out of flight. Retransmitted frames give no time (Karn's rule, RFC 6298 §3).
#[derive(Clone, Copy, Debug, Default)]
pub struct Gone {
    /// Number of MSS-sized segments.
    pub segments: u32,
    /// Time when the newest wholly acknowledged frame was sent.
    pub sent: Option<Nanos>,
    /// The same, counting a TSO frame whose first segments were acknowledged: these did not wait for the frame's rest.
    pub touched: Option<Nanos>,
}

/// Frames in the order sent.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Outstanding {
    sent: Queue<Sent>,
    segments: u32,
    /// Frames that end in a segment shorter than a full one, and those of them with PSH.
    short: u32,
    ended: u32,
    brief: u32,
    /// A frame that ended with a full segment was acknowledged.
    whole_gone: bool,
    /// The last frames, acknowledged or not, sent once or again; copies are matched with them.
    recent: [Recent; RECENT],
    next_recent: u8,
}

impl Outstanding {
    /// Gives its memory away, emptied, if it has room for `most` segments at most.
    pub(in crate::flow) fn renewed(&mut self, most: usize) -> Queue<Sent> {
        self.sent.emptied(most)
    }

    /// Takes over such memory, before the first frame.
    pub(in crate::flow) fn takes_over(&mut self, sent: Queue<Sent>) {
        self.sent = sent;
    }

    /// Number of MSS-sized segments in the frames.
    #[inline]
    pub fn segments(&self) -> u32 {
        self.segments
    }

    /// Segments shorter than a full one among them.
    #[inline]
    pub fn short(&self) -> Short {
        match (self.short, self.ended) {
            (0, _) => Short::None,
            (_, 0) => Short::Cut,
            _ => Short::Ended,
        }
    }

    /// Writes of their own among them, each clearly shorter than a full segment.
    #[inline]
    pub fn briefs(&self) -> u32 {
        self.brief
    }

    /// The oldest frame is whole segments, was sent again, and no frame of whole segments was ever acknowledged.
    pub fn loses_whole_segments(&self) -> bool {
        let oldest = self.sent.first().is_some_and(|sent| sent.again && sent.short == Short::None);
        oldest && !self.whole_gone
    }

    /// Time when the oldest frame was first sent.
    pub fn oldest(&self) -> Option<Nanos> {
        self.sent.first().map(|sent| sent.time)
    }

    /// First frame that reaches beyond `offset`.
    fn beyond(&self, offset: i64) -> Option<&Sent> {
        self.sent.get(self.sent.partition_point(|sent| sent.end <= offset))
    }

    /// Time when the first frame that reaches beyond `offset` passed.
    pub fn sent_after(&self, offset: i64) -> Option<Nanos> {
        self.beyond(offset).map(|sent| sent.time)
    }

    /// Time when the segment `[start, end)` was first sent, and the bytes in flight then, that segment included; where the
    /// tap did not see it, by the frame after it.
    pub fn first_sent(&self, start: i64, end: i64) -> Option<(Nanos, i64)> {
        let frame = self.beyond(start)?;
        Some((frame.time, i64::from(frame.flight) - (frame.end - end).max(0))).filter(|(_, flight)| *flight > 0)
    }

    /// Time when the newest frame was sent.
    pub fn newest(&self) -> Option<Nanos> {
        self.sent.last().map(|sent| sent.time)
    }

    /// Bytes of the newest frame, where the oldest begins at `una`; 0 if there is none.
    pub fn newest_bytes(&self, una: i64) -> i64 {
        let before = self.sent.len().checked_sub(2).map_or(una, |before| self.sent[before].end);
        self.sent.last().map_or(0, |newest| newest.end - before)
    }

    /// Adds a frame of `bytes` new bytes up to `end`, with `flight` bytes in flight after it.
    #[inline(always)]
    pub fn push(&mut self, segment: &Segment, end: i64, bytes: u32, skipped: u32, mss: u32, flight: i64) {
        if self.sent.len() >= LIMIT {
            self.forget_oldest();
        }
        // Nearly always the frame is one full segment.
        let (own, short, brief) = if bytes == mss { (1, Short::None, false) } else { self.cut(segment, bytes, mss) };
        let segments = own.saturating_add(skipped);
        let flight = u32::try_from(flight).unwrap_or(u32::MAX);
        let (time, mark) = (segment.time, mark(segment));
        self.sent.push(Sent { end, time, segments, flight, mark, short, brief, again: false });
        self.segments = self.segments.saturating_add(segments);
        self.remember_one(end, mark, time);
    }

    /// Puts `segments` before all others that were sent before `now`, when the capture began, and reach up to `end`: as after a
    /// repair, their acknowledgement measures no round trip.
    pub fn begins_with(&mut self, end: i64, segments: u32, now: Nanos) {
        let (mark, short, flight) = (0, Short::None, 0);
        self.sent.push_first(Sent { end, time: now, segments, flight, mark, short, brief: false, again: true });
        self.segments = self.segments.saturating_add(segments);
        self.whole_gone = true;
    }

    /// Counts a frame that is not one full segment: returns its number of segments, whether the last one is short, and
    /// whether it is a write of its own.
    fn cut(&mut self, segment: &Segment, bytes: u32, mss: u32) -> (u32, Short, bool) {
        let short = Short::of(segment, bytes, mss);
        let brief = short == Short::Ended && Short::is_brief(segment, bytes, mss);
        self.counts(short);
        self.brief += u32::from(brief);
        (bytes.div_ceil(mss), short, brief)
    }

    /// Takes in a frame of `bytes` from `start` that passed after data sent later, which had counted it as whole
    /// segments.
    pub fn fills(&mut self, start: i64, bytes: u32, mss: u32) {
        let index = self.sent.partition_point(|sent| sent.end <= start);
        if let Some(over) =
            self.sent.get_mut(index).filter(|over| over.short == Short::None && !bytes.is_multiple_of(mss))
        {
            // Data of its sender followed.
            over.short = Short::Cut;
            self.counts(Short::Cut);
        }
    }

    /// Takes in that full segments have `size` bytes: the newest frames of that size are whole. `una` is the start of
    /// the oldest.
    #[cold]
    pub fn are_whole(&mut self, size: u32, una: i64) {
        for newest in (0..self.sent.len()).rev() {
            let start = if newest > 0 { self.sent[newest - 1].end } else { una };
            if self.sent[newest].end - start != i64::from(size) {
                break;
            }
            let short = std::mem::take(&mut self.sent[newest].short);
            self.uncounts(short);
            let segments = std::mem::replace(&mut self.sent[newest].segments, 1);
            self.segments = self.segments.saturating_sub(segments.saturating_sub(1));
            self.brief -= u32::from(std::mem::take(&mut self.sent[newest].brief));
        }
    }

    /// Remembers a frame up to `end`, because its copy may follow.
    pub fn remember(&mut self, segment: &Segment, end: i64) {
        self.remember_one(end, mark(segment), segment.time);
    }

    #[inline(always)]
    fn remember_one(&mut self, end: i64, mark: u32, time: Nanos) {
        let next = usize::from(self.next_recent) % RECENT;
        self.recent[next] = (end as u32, mark, time);
        self.next_recent = ((next + 1) % RECENT) as u8;
    }

    /// Time since the original passed, if this packet up to `end` is the copy of a remembered one.
    pub fn copied(&self, segment: &Segment, end: i64) -> Option<Nanos> {
        self.copies(segment, end).min().map(|first| segment.time - first)
    }

    /// True if the first frame that reaches beyond `offset` has the segment's stamp, by its last 16 bits.
    pub fn has_stamp_of(&self, segment: &Segment, offset: i64) -> bool {
        self.beyond(offset).is_some_and(|frame| segment.timestamps.is_some() && frame.mark >> 16 == mark(segment) >> 16)
    }

    /// Time when this packet, up to `end`, or the last of its copies passed.
    pub fn last_copy(&self, segment: &Segment, end: i64) -> Option<Nanos> {
        self.copies(segment, end).max()
    }

    /// Times when this packet, up to `end`, and its copies passed, of those that are remembered.
    fn copies(&self, segment: &Segment, end: i64) -> impl Iterator<Item = Nanos> {
        let own = (end as u32, mark(segment));
        self.recent.iter().filter(move |(end, mark, _)| (*end, *mark) == own).map(|(_, _, time)| *time)
    }

    /// Memory of the frames, bytes.
    pub fn memory(&self) -> usize {
        self.sent.capacity() * size_of::<Sent>()
    }

    /// Forgets all but the newest frames that fit into `bytes`, because memory is short. Returns the number of
    /// forgotten frames.
    #[cold]
    pub fn shrinks_to(&mut self, bytes: usize) -> u64 {
        let beyond = self.sent.len().saturating_sub(bytes / size_of::<Sent>());
        (0..beyond).for_each(|_| self.forget_oldest());
        self.sent.shrink();
        beyond as u64
    }

    #[cold]
    fn forget_oldest(&mut self) {
        let Some(sent) = self.sent.first().copied() else { return };
        self.sent.forget(1);
        self.segments = self.segments.saturating_sub(sent.segments);
        self.uncounts(sent.short);
        self.brief -= u32::from(sent.brief);
    }

    #[inline]
    fn counts(&mut self, short: Short) {
        self.short += u32::from(short != Short::None);
        self.ended += u32::from(short == Short::Ended);
    }

    #[inline]
    fn uncounts(&mut self, short: Short) {
        self.short -= u32::from(short != Short::None);
        self.ended -= u32::from(short == Short::Ended);
    }

    /// Takes in bytes `[start, end)` that passed again; true if this packet is a mere copy. No sender repeats itself
    /// within half the round trip `rtt`, nor repeats an IP-ID after its counter `moved_on`.
    pub fn again(&mut self, segment: &Segment, start: i64, end: i64, rtt: Nanos, moved_on: bool) -> bool {
        let own = mark(segment);
        let index = self.sent.partition_point(|sent| sent.end < end);
        let age = match (segment.ip_id, own) {
            (_, 0) => UNMARKED_COPY_AGE,
            (Some(1..), _) if moved_on => LOOPED_COPY_AGE,
            (Some(1..), _) => COPY_AGE.max(rtt.scaled(0.5)),
            (None | Some(0), _) if rtt > Nanos::ZERO => COPY_AGE.min(rtt.scaled(0.5)).max(UNMARKED_COPY_AGE),
            _ => COPY_AGE,
        };
        let is_copy = |(sent_end, mark, time): Recent| {
            time > Nanos::ZERO && (sent_end, mark) == (end as u32, own) && segment.time - time < age
        };
        let outstanding = self.sent.get(index).map(|sent| (sent.end as u32, sent.mark, sent.time));
        if outstanding.into_iter().chain(self.recent).any(is_copy) {
            return true;
        }
        let reached = self.sent.partition_point(|sent| sent.end <= start);
        let until = (index + 1).min(self.sent.len());
        for sent in self.sent[reached.min(until)..until].iter_mut().take(REPAIRED_FRAMES) {
            sent.again = true;
        }
        false
    }

    /// Each frame is of whole segments.
    pub fn is_whole(&self) -> bool {
        self.short == 0 && self.brief == 0
    }

    /// Number of the segments and of the frames up to `ack`, and the time when the newest of them passed: if that is the
    /// edge of a frame, no frame up to it was sent again, and one of a single segment follows.
    #[inline(always)]
    pub fn whole_until(&self, ack: i64) -> Option<(u32, usize, Nanos)> {
        let (mut segments, mut count, mut frames) = (0_u32, 0, self.sent.iter());
        loop {
            let frame = frames.next()?;
            if frame.end > ack || frame.again || frame.short != Short::None {
                return None;
            }
            (segments, count) = (segments + frame.segments, count + 1);
            if frame.end == ack {
                return (frames.next()?.segments == 1).then_some((segments, count, frame.time));
            }
        }
    }

    /// Takes in the acknowledgement of these.
    #[inline(always)]
    pub fn forget_whole(&mut self, frames: usize, segments: u32) {
        self.sent.forget(frames);
        self.segments = self.segments.saturating_sub(segments);
        self.whole_gone = true;
    }

    /// Takes in the acknowledgement of everything up to `ack`.
    #[inline(always)]
    pub fn acknowledge(&mut self, ack: i64, mss: u32) -> Gone {
        let (mut segments, mut newest, mut touched, mut whole) = (0_u32, None, None, 0);
        for frame in self.sent.iter_mut() {
            if frame.end > ack {
                let (mss, rest) = (i64::from(mss), frame.end - ack);
                // Nearly always the frame is untouched, so no division is needed.
                if rest <= (i64::from(frame.segments) - 1) * mss {
                    let left = (rest + mss - 1) / mss;
                    let part = frame.segments.saturating_sub(left as u32);
                    frame.segments -= part;
                    segments += part;
                    touched = Some(frame.time).filter(|_| part > 0 && !frame.again);
                }
                break;
            }
            segments += frame.segments;
            if frame.short != Short::None {
                self.short -= 1;
                self.ended -= u32::from(frame.short == Short::Ended);
                self.brief -= u32::from(frame.brief);
            } else {
                self.whole_gone = true;
            }
            if !frame.again {
                newest = Some(frame.time);
            }
            whole += 1;
        }
        self.sent.forget(whole);
        self.segments = self.segments.saturating_sub(segments);
        Gone { segments, sent: newest, touched: touched.or(newest) }
    }
}

/// Mark that a packet shares with its copies only: the last 16 bits of its timestamp, and the IP-ID; 0 where there is neither.
#[inline]
fn mark(segment: &Segment) -> u32 {
    let stamp = segment.timestamps.map_or(0, |timestamps| timestamps.value);
    stamp << 16 | u32::from(segment.ip_id.unwrap_or(0))
}
