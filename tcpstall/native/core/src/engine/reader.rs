//! Reads the segments of a set of captures in batches, each in the order of its times.

mod ending;
pub(super) mod interfaces;
pub(super) mod lane;
mod merge;
pub(super) mod recent;
pub(super) mod source;

use std::collections::VecDeque;

pub(super) use self::ending::Ending;
use self::interfaces::Interfaces;
use self::lane::Lane;
use self::recent::Recent;
use self::source::{Source, SourceItem};
use super::RunOptions;
use super::batch::Batch;
use super::sets::{Coming, NEVER, Sets};
use super::status::CaptureStatus;
use crate::capture::CaptureError;
use crate::capture::twice::twice;
use crate::packet_no::PacketNo;
use crate::time::Nanos;
use crate::wire::Segment;

/// Most records read for one batch: of other traffic a batch would never be full, and no progress would be reported.
const RECORDS: u32 = 1 << 14;

/// Reason why a batch ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Filled {
    /// There is more to read.
    More,
    /// A signal came during the wait for more.
    Interrupted,
    /// Everything is read, or reading cannot continue.
    End,
}

/// Result of a step of reading.
enum Step {
    /// The batch ends.
    Filled(Filled),
    /// The batch ends, and packets are missing after it.
    LeftOut,
    /// Other captures are open now, or other rules apply to them.
    Changed,
    /// The stream's files are read; further files may continue it later.
    PutDown,
}

/// Reads a set of captures: one after the other, and side by side where they overlap in time.
pub(super) struct Reader<'a> {
    options: &'a RunOptions,
    paths: &'a [String],
    /// Statuses of the run's inputs.
    pub(super) statuses: &'a mut [CaptureStatus],
    coming: VecDeque<Coming>,
    /// Time at which the next capture's turn comes.
    opens: Nanos,
    lanes: Vec<Lane>,
    several: bool,
    /// The stream is to be serialised at its end.
    puts_down: bool,
    /// The serialised state of the reader.
    pub(super) ending: Option<Ending>,
    /// The last segments before the stream was restored, until the next capture has begun.
    last: Vec<Segment>,
    /// A capture was opened.
    began: bool,
    /// Packets are missing before the next segment.
    gap: bool,
    /// The first lane is read whole and comes before the others in its entirety.
    in_turn: bool,
    /// The order of the first lane and the next still has to be checked.
    compare: bool,
    recent: Recent,
    /// The interfaces of its segments.
    pub(super) interfaces: Interfaces,
    /// The source of the capture before, if that was over before the next one began.
    before: Option<Source>,
    /// Packets that are numbered already.
    numbered: u64,
    /// Packets of the closed captures.
    closed: u64,
    progress: (u64, Option<u64>),
    /// Reason why a capture could not be read at all.
    pub(super) error: Option<CaptureError>,
    /// The last segments read: later ones may belong before them.
    held: Batch,
}

impl<'a> Reader<'a> {
    /// A reader of captures that form one stream, in order.
    pub(super) fn new(
        coming: VecDeque<Coming>,
        paths: &'a [String],
        options: &'a RunOptions,
        statuses: &'a mut [CaptureStatus],
    ) -> Reader<'a> {
        Reader {
            options,
            paths,
            statuses,
            several: coming.len() > 1,
            puts_down: options.sets.puts_down,
            ending: None,
            last: Vec::new(),
            coming,
            opens: NEVER,
            lanes: Vec::new(),
            began: false,
            gap: false,
            in_turn: false,
            compare: false,
            recent: Recent::default(),
            interfaces: Interfaces::default(),
            before: None,
            numbered: options.sets.packets_before,
            closed: 0,
            progress: (0, None),
            error: None,
            held: Batch::default(),
        }
    }

    /// Opens the only capture twice, if its records are quick to read: for this reader, and for a second one, which gets
    /// the names of its captures too.
    pub(super) fn opens_twice(&mut self) -> Option<(&'a [String], Lane)> {
        let (options, Sets { puts_down, known_packets, .. }) = (self.options, &self.options.sets);
        let [Coming { number, lane: lane @ None, .. }] = self.coming.make_contiguous() else { return None };
        if self.ending.is_some() || *puts_down || *known_packets > 0 || !options.opener.opens_files() {
            return None;
        }
        let paths = self.paths.get(*number..=*number)?;
        let [one, other] = twice(&paths[0])?;
        *lane = Some(Lane::new(*number, one));
        Some((paths, Lane::new(0, other)))
    }

    /// Takes in that the second reading of this capture found something else.
    #[cold]
    pub(super) fn differs_again(&mut self, number: usize) {
        let (offset, _) = self.progress();
        let status = &mut self.statuses[number];
        if status.error.is_none() {
            let reason = "the file was written to while it was read; copy it, then read the copy".into();
            status.fail(&CaptureError::Read { offset, reason });
        }
    }

    /// Fills an empty batch. The batch ends early where reading on would wait, so that the packets of a live capture
    /// are judged.
    pub(super) fn fill(&mut self, batch: &mut Batch) -> Filled {
        std::mem::swap(batch, &mut self.held);
        let mut records = 0;
        loop {
            match self.step(batch, &mut records) {
                Step::Changed => {}
                Step::LeftOut => {
                    batch.left_out = true;
                    batch.sort();
                    return Filled::More;
                }
                Step::PutDown => {
                    self.put_down(batch);
                    return Filled::More;
                }
                Step::Filled(Filled::End) => {
                    batch.sort();
                    batch.last = true;
                    return Filled::End;
                }
                Step::Filled(filled) => {
                    batch.settle(&mut self.held);
                    return filled;
                }
            }
        }
    }

    /// Packets read so far.
    pub(super) fn packets(&self) -> u64 {
        self.closed + self.lanes.iter().map(|lane| self.statuses[lane.number].packets).sum::<u64>()
    }

    /// Bytes of the last opened capture read so far, and its size where that is known.
    pub(super) fn progress(&self) -> (u64, Option<u64>) {
        self.lanes.last().map_or(self.progress, |lane| (lane.capture.offset(), lane.capture.size()))
    }

    fn step(&mut self, batch: &mut Batch, records: &mut u32) -> Step {
        if self.lanes.is_empty() {
            if self.coming.is_empty() && self.puts_down {
                return Step::PutDown;
            }
            if self.coming.is_empty() {
                return Step::Filled(self.ends(batch));
            }
            self.open_next();
            return Step::Changed;
        }
        if self.gap && !self.in_turn {
            self.gap = false;
            return Step::LeftOut;
        }
        if !self.last.is_empty()
            && let Some(filled) = self.meets_last(records)
        {
            return Step::Filled(filled);
        }
        match &self.lanes[..] {
            [lane] if lane.is_plain() && self.recent.is_empty() => self.alone(batch, records),
            _ => self.merged(batch, records),
        }
    }

    /// Ends the reading: hands on incomplete segments of the last capture, because no capture follows it.
    fn ends(&mut self, batch: &mut Batch) -> Filled {
        while let Some(before) = &mut self.before {
            if batch.is_full() {
                return Filled::More;
            }
            if !before.left_over(batch.place()) {
                break;
            }
            if self.options.filter.takes(batch.place()) {
                batch.keep();
            }
        }
        Filled::End
    }

    /// Reads on in the only open capture.
    fn alone(&mut self, batch: &mut Batch, records: &mut u32) -> Step {
        let (lane, interfaces) = (&mut self.lanes[0], &mut self.interfaces);
        let RunOptions { filter, sets, .. } = self.options;
        let status = &mut self.statuses[lane.number];
        if self.several || sets.puts_down {
            batch.files.change(PacketNo(self.numbered + 1), lane.number as u32);
        }
        // The next capture's turn, the filter and earlier reports need no test.
        let all = self.opens == NEVER && filter.takes_all() && !sets.has_told(lane.number, lane.read(status) + 1);
        loop {
            // Simple frames have no number of their interface in them.
            if all
                && lane.source.interface == 0
                && interfaces.known(lane.number, &lane.source, &lane.capture).is_some_and(|number| batch.is_at(number))
            {
                let read = lane.source.plain(&mut lane.capture, status, batch);
                *records += read as u32;
                if read > 0 && is_enough(batch, *records, lane) {
                    return Step::Filled(Filled::More);
                }
            }
            match lane.source.next(&mut lane.capture, status, batch.place()) {
                Ok(Some(item @ (SourceItem::Segment | SourceItem::Start))) => {
                    if batch.place().time >= self.opens {
                        lane.puts_off(&item, *batch.place(), status);
                        let before = lane.read(status).saturating_sub(1).max(lane.taken);
                        self.numbered += before - lane.taken;
                        lane.taken = before;
                        return Step::Changed;
                    }
                    if filter.takes(batch.place()) && !sets.has_told(lane.number, lane.read(status)) {
                        take_in(batch, &item, &mut lane.source);
                        batch.came_in_at(interfaces.number(lane.number, &lane.source, &lane.capture));
                    }
                }
                Ok(Some(SourceItem::LeftOut)) => return Step::LeftOut,
                Ok(Some(SourceItem::Nothing)) => {}
                Ok(Some(SourceItem::Interrupted)) => return Step::Filled(Filled::Interrupted),
                Ok(None) => break,
                Err(error) => {
                    lane.error = Some(error);
                    break;
                }
            }
            *records += 1;
            if is_enough(batch, *records, lane) {
                return Step::Filled(Filled::More);
            }
        }
        self.close(0);
        Step::Changed
    }

    /// Opens the next capture; an error goes into its status.
    fn open_next(&mut self) {
        let Some(Coming { number, lane, .. }) = self.coming.pop_front() else { return };
        self.opens = self.coming.front().map_or(NEVER, |next| next.opens);
        let status = &mut self.statuses[number];
        if self.options.sets.missing_before.contains(&number) {
            status.warn("missing-file", 1, MISSING.into());
            self.gap |= self.began;
        }
        let path = &self.paths[number];
        match lane.map_or_else(|| self.options.capture(path).map(|capture| Lane::new(number, capture)), Ok) {
            Ok(mut lane) => {
                lane.source.base = self.numbered;
                if let Some(mut before) = self.before.take() {
                    lane.source.continues(&mut before);
                }
                status.first_packet = self.several.then_some(self.numbered + 1);
                self.lanes.push(lane);
                self.tell_lanes();
                self.began = true;
            }
            Err(error) => {
                status.fail(&error.clone().about(self.options.shown(number, path)));
                self.gap |= self.began;
                self.error.get_or_insert(error);
            }
        }
    }

    /// Closes a capture: its reader's counts go into its status.
    fn close(&mut self, lane: usize) {
        let mut lane = self.lanes.remove(lane);
        let status = &mut self.statuses[lane.number];
        if let Some(error) = lane.error {
            status.fail(&error);
            self.gap = true;
            if !matches!(error, CaptureError::Damaged { .. } | CaptureError::Read { .. }) {
                self.error.get_or_insert(error);
            }
        }
        status.describe(&lane.capture);
        lane.source.close(status);
        if lane.repeated > 0 {
            let message = format!("{} of its packets are in another file of the set too and count once", lane.repeated);
            status.warn("overlap", lane.repeated, message);
        }
        if lane.taken == 0 && self.several {
            status.first_packet = Some(self.numbered + 1);
        }
        self.numbered += status.packets.saturating_sub(lane.taken);
        self.closed += status.packets;
        self.progress = (lane.capture.offset(), lane.capture.size());
        self.before = self.lanes.is_empty().then_some(lane.source);
        self.tell_lanes();
    }

    /// Notes which lane the next capture continues: the lane of the only open capture.
    fn tell_lanes(&mut self) {
        let goes_on = self.lanes.len() == 1 && (!self.coming.is_empty() || self.puts_down);
        self.lanes.iter_mut().for_each(|lane| lane.source.goes_on = goes_on);
    }
}

/// True if the batch ends: it is full, took long enough, or reading on would wait.
#[inline]
fn is_enough(batch: &Batch, records: u32, lane: &Lane) -> bool {
    batch.is_full() || records >= RECORDS || !lane.capture.has_more()
}

/// Adds the segment in the batch's place.
#[inline]
fn take_in(batch: &mut Batch, item: &SourceItem, source: &mut Source) {
    batch.keep();
    if matches!(item, SourceItem::Start) {
        batch.starts_with(&source.start);
    }
    if let Some(tunnel) = source.tunnel.take() {
        batch.came_through(tunnel);
    }
}

const MISSING: &str = "by the numbers in the names a file is missing before this one; waits across it are not judged";

#[cfg(test)]
mod tests;
