//! Reads segments from frames and from text.

use crate::capture::{Capture, CaptureError, Frame, Item, Takes};
use crate::engine::batch::Batch;
use crate::engine::status::CaptureStatus;
use crate::flow::first_payload::FirstPayloads;
use crate::time::Nanos;
use crate::wire::fragment::{Followed, Fragments};
use crate::wire::text::{Paste, TextLine};
use crate::wire::tunnel::{Tunnel, tunnel};
use crate::wire::{self, Segment, Skip};

/// Kind of the next item of a source.
pub(in crate::engine) enum SourceItem {
    /// A segment, written into its place.
    Segment,
    /// A segment whose payload begins a known protocol element; the first bytes are in [`Source::start`].
    Start,
    /// A mark that packets were left out.
    LeftOut,
    /// A signal came during the wait; call again.
    Interrupted,
    /// A record without a segment.
    Nothing,
}

/// Source of segments from frames or from text.
#[derive(Default)]
pub(in crate::engine) struct Source {
    /// First bytes of the payload of [`SourceItem::Start`].
    pub(in crate::engine) start: Vec<u8>,
    /// Number of the last frame's interface in the frame itself, 0 for none.
    pub(in crate::engine) interface: u32,
    /// Outer tunnel path of the last segment, where it is [`Segment::tunnelled`].
    pub(in crate::engine) tunnel: Option<Tunnel>,
    fragments: Fragments,
    /// The last packet's time.
    now: Nanos,
    /// An item that was read, and waits until earlier segments have been handed on.
    put_off: Option<Box<PutOff>>,
    /// Another capture follows this one: missing fragments may be in it.
    pub(in crate::engine) goes_on: bool,
    paste: Option<Box<Paste>>,
    finished: bool,
    /// Number of packets before this capture: in a set of several captures packet numbers continue.
    pub(in crate::engine) base: u64,
    /// Number of packets dropped by the capture, if the capture reports it.
    dropped: Option<u64>,
}

/// The item that waits.
enum PutOff {
    Segment(SourceItem, Segment),
    End(Result<(), CaptureError>),
}

/// Simple frames, each read into the place of its segment.
struct Simple;

impl Takes for Simple {
    type Place = Segment;

    #[inline(always)]
    fn takes(frame: &Frame<'_>, place: &mut Segment) -> bool {
        wire::plain::read(frame, place).is_some_and(|payload| !FirstPayloads::is_one(payload))
    }
}

impl Source {
    /// The next item. A segment is written into `place`, because moving it costs as much as reading it.
    #[inline(always)]
    pub(in crate::engine) fn next(
        &mut self,
        capture: &mut Capture,
        status: &mut CaptureStatus,
        place: &mut Segment,
    ) -> Result<Option<SourceItem>, CaptureError> {
        if (self.fragments.has_some() || self.put_off.is_some())
            && let Some(earlier) = self.earlier(place)
        {
            return earlier;
        }
        let mut item = capture.next();
        let reading = match &mut item {
            Ok(Some(Item::Frame(frame))) => {
                status.packets += 1;
                frame.time = status.at(frame.time);
                self.now = frame.time;
                return Ok(Some(match wire::decode_into(frame, place) {
                    Ok(payload) => {
                        place.packet.0 += self.base;
                        self.interface = wire::interface(frame);
                        status.tcp_segments += 1;
                        status.trust.options_cut += u64::from(place.options_cut);
                        if place.tunnelled | place.fragmented && !self.look_after(frame, place) {
                            return Ok(Some(self.instead(place)));
                        }
                        let item = if FirstPayloads::is_one(payload) {
                            self.start.clear();
                            self.start.extend_from_slice(FirstPayloads::kept(payload));
                            SourceItem::Start
                        } else {
                            SourceItem::Segment
                        };
                        if self.fragments.has_some() { self.after_lost(item, place) } else { item }
                    }
                    Err(Skip::IpFragment) => self.follow(frame, status, place),
                    Err(skip) => {
                        status.skipped.count(skip);
                        SourceItem::Nothing
                    }
                }));
            }
            Ok(Some(Item::LeftOut)) => return Ok(Some(SourceItem::LeftOut)),
            Ok(Some(Item::Dropped(packets))) => {
                self.dropped = Some(self.dropped.unwrap_or(0).saturating_add(*packets));
                return Ok(Some(SourceItem::Nothing));
            }
            Ok(Some(Item::Block)) => return Ok(Some(SourceItem::Nothing)),
            Ok(Some(Item::Line(line))) => self.paste.get_or_insert_with(Default::default).line(line),
            Ok(None) => match &mut self.paste {
                Some(paste) if !self.finished => {
                    self.finished = true;
                    let last = paste.finish();
                    if paste.packets() == 0 && last == TextLine::Remark {
                        return Err(CaptureError::NotACapture { what: NO_PACKET_LINE.into() });
                    }
                    last
                }
                _ => return self.ends(Ok(()), place),
            },
            Err(CaptureError::Interrupted) => return Ok(Some(SourceItem::Interrupted)),
            Err(error) => {
                let error = error.clone();
                return self.ends(Err(error), place);
            }
        };
        Ok(Some(self.of_text(reading, status, place)))
    }

    /// Takes in simple segments, as many as are buffered and fit; returns their number.
    #[inline]
    pub(in crate::engine) fn plain(
        &mut self,
        capture: &mut Capture,
        status: &mut CaptureStatus,
        batch: &mut Batch,
    ) -> usize {
        if self.fragments.has_some() || self.put_off.is_some() {
            return 0;
        }
        let (room, newest) = batch.room();
        let Some(from) = status.last_ns.map(|last| last.max(newest)) else { return 0 };
        let count = capture.buffered::<Simple>(room, from);
        let read = batch.keep_all(count);
        if let Some(last) = read.last() {
            status.goes_on(from, read);
            (self.now, status.last_ns) = (last.time, Some(last.time));
            status.packets += count as u64;
            status.tcp_segments += count as u64;
        }
        if self.base > 0 {
            read.iter_mut().for_each(|segment| segment.packet.0 += self.base);
        }
        count
    }

    /// The same as [`Source::next`] but never inlined, for callers that are not critical.
    #[inline(never)]
    pub(in crate::engine) fn next_apart(
        &mut self,
        capture: &mut Capture,
        status: &mut CaptureStatus,
        place: &mut Segment,
    ) -> Result<Option<SourceItem>, CaptureError> {
        self.next(capture, status, place)
    }

    /// Notes the tunnel of a segment, and begins a fragmented one; false where the segment is complete only later.
    #[cold]
    fn look_after(&mut self, frame: &Frame<'_>, place: &mut Segment) -> bool {
        if place.tunnelled {
            self.tunnel = tunnel(frame);
        }
        !place.fragmented || self.fragments.begin(frame, place)
    }

    /// Takes in a fragment other than the first.
    #[cold]
    fn follow(&mut self, frame: &Frame<'_>, status: &mut CaptureStatus, place: &mut Segment) -> SourceItem {
        status.skipped.count(Skip::IpFragment);
        if self.fragments.follow(frame, place) == Followed::Nothing {
            return SourceItem::Nothing;
        }
        place.packet.0 += self.base;
        SourceItem::Segment
    }

    /// Handles a segment that is held back: earlier incomplete segments of its sender are no longer awaited.
    #[cold]
    fn instead(&mut self, place: &mut Segment) -> SourceItem {
        match self.fragments.lost(place.time, Some(place)) {
            Some(lost) => {
                *place = lost;
                SourceItem::Segment
            }
            None => SourceItem::Nothing,
        }
    }

    /// Returns a segment whose fragments are lost by now, before the item just read.
    #[cold]
    fn after_lost(&mut self, item: SourceItem, place: &mut Segment) -> SourceItem {
        let Some(lost) = self.fragments.lost(place.time, Some(place)) else { return item };
        let read = std::mem::replace(place, lost);
        self.put_off = Some(Box::new(PutOff::Segment(item, read)));
        SourceItem::Segment
    }

    /// The item that comes before anything else is read; `None` where there is none.
    #[cold]
    fn earlier(&mut self, place: &mut Segment) -> Option<Result<Option<SourceItem>, CaptureError>> {
        let lost = match self.put_off.as_deref() {
            Some(PutOff::Segment(_, next)) => self.fragments.lost(next.time, Some(next)),
            Some(PutOff::End(_)) => self.fragments.rest(self.now),
            None => self.fragments.lost(self.now, None),
        };
        if let Some(lost) = lost {
            *place = lost;
            return Some(Ok(Some(SourceItem::Segment)));
        }
        Some(match *self.put_off.take()? {
            PutOff::Segment(item, next) => {
                *place = next;
                Ok(Some(item))
            }
            PutOff::End(end) => end.map(|()| None),
        })
    }

    /// Ends the capture. Segments held for fragments come first, unless another capture may have the fragments.
    #[cold]
    fn ends(&mut self, end: Result<(), CaptureError>, place: &mut Segment) -> Result<Option<SourceItem>, CaptureError> {
        if self.goes_on || !self.left_over(place) {
            return end.map(|()| None);
        }
        self.put_off = Some(Box::new(PutOff::End(end)));
        Ok(Some(SourceItem::Segment))
    }

    /// Hands on a segment whose fragments no capture has; false where there is none.
    #[cold]
    pub(in crate::engine) fn left_over(&mut self, place: &mut Segment) -> bool {
        let rest = self.fragments.rest(self.now);
        rest.map(|segment| *place = segment).is_some()
    }

    fn of_text(&self, reading: TextLine, status: &mut CaptureStatus, place: &mut Segment) -> SourceItem {
        match reading {
            TextLine::Segment(segment) => {
                status.tcp_segments += 1;
                status.trust.options_cut += u64::from(segment.options_cut);
                *place = segment;
                place.time = status.at(place.time);
                place.packet.0 += self.base;
                SourceItem::Segment
            }
            TextLine::LeftOut => SourceItem::LeftOut,
            TextLine::NotTcp => {
                status.skipped.not_tcp += 1;
                SourceItem::Nothing
            }
            TextLine::NotIp => {
                status.skipped.not_ip += 1;
                SourceItem::Nothing
            }
            TextLine::Damaged | TextLine::Remark => SourceItem::Nothing,
        }
    }

    /// Packets of the text so far, if the capture is text.
    pub(in crate::engine) fn text_packets(&self) -> Option<u64> {
        self.paste.as_ref().map(|paste| paste.packets())
    }

    /// The source of a capture that an earlier process read: it left these fragments, and its last packet passed `now`.
    pub(in crate::engine) fn that_left(fragments: Fragments, now: Nanos) -> Source {
        Source { fragments, now, ..Source::default() }
    }

    /// The state that the next process continues from.
    pub(in crate::engine) fn leaves(&self) -> (Fragments, Nanos) {
        (self.fragments.clone(), self.now)
    }

    /// Continues packets whose first fragments were at the end of the capture before.
    pub(in crate::engine) fn continues(&mut self, before: &mut Source) {
        self.fragments = std::mem::take(&mut before.fragments);
        self.now = before.now;
    }

    /// Closes the capture: its reader's counts go into the status.
    pub(in crate::engine) fn close(&mut self, status: &mut CaptureStatus) {
        if let Some(paste) = &self.paste {
            status.packets = paste.packets();
            self.dropped = paste.dropped_by_kernel().or(self.dropped);
            if paste.damaged() > 0 {
                status.warn("unreadable-lines", paste.damaged(), UNREADABLE.into());
            }
            if !paste.dated() && status.tcp_segments > 0 {
                status.warn("no-date", 1, NO_DATE.into());
            }
        }
        status.trust.dropped_packets = self.dropped;
        if let Some(dropped) = self.dropped.filter(|dropped| *dropped > 0) {
            let message = format!("the capture dropped {dropped} packets; waits near them may be mislabelled");
            status.warn("capture-drops", dropped, message);
        }
    }
}

const NO_PACKET_LINE: &str = "text without one line of tcpdump's output; give a pcap, a pcapng or what tcpdump printed";
const NO_DATE: &str = "the text has no date: times count from 1970-01-01 (tcpdump -tttt prints the date)";
const UNREADABLE: &str =
    "lines look like packets but could not be read; paste tcpdump's output unbroken, without -q and -t";

#[cfg(test)]
mod tests;
