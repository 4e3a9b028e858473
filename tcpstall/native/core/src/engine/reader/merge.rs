//! Merges captures of a set that overlap: their segments in order of time, each once.

use super::super::batch::Batch;
use super::lane::{Lane, Next, Pending, Pulled};
use super::recent::is_same;
use super::{Filled, RECORDS, Reader, Step};
use crate::flow::tap::clock_steps::SHORTEST_STEP;
use crate::packet_no::PacketNo;
use crate::time::Nanos;

/// Segments of a capture after the start of the next that may still be a slight disorder in storage.
const AHEAD: usize = 1 << 10;

impl Reader<'_> {
    /// Hands on queued items in order of time, until only one capture is open and its queue is empty.
    pub(super) fn merged(&mut self, batch: &mut Batch, records: &mut u32) -> Step {
        loop {
            self.shut();
            if self.lanes.is_empty() || (self.gap && !self.in_turn) {
                return Step::Changed;
            }
            if self.lanes[0].pending.is_empty() && self.lanes.len() == 1 && self.recent.is_empty() {
                let lane = &mut self.lanes[0];
                lane.source.base = self.numbered.saturating_sub(lane.taken);
                return Step::Changed;
            }
            if let Some(filled) = self.gather(records) {
                return Step::Filled(filled);
            }
            let Some((first, time)) = self.earliest() else { continue };
            if let Some(Pending::LeftOut) = self.lanes[first].pending.front() {
                self.lanes[first].pending.pop_front();
                return Step::LeftOut;
            }
            if time >= self.opens && !self.in_turn && !self.coming.is_empty() {
                if let Some(filled) = self.meet_next(records) {
                    return Step::Filled(filled);
                }
                continue;
            }
            self.take(first, batch);
            if batch.is_full() {
                return Step::Filled(Filled::More);
            }
        }
    }

    /// Closes the captures that are read, once their queues are empty.
    fn shut(&mut self) {
        while let Some(through) = self.lanes.iter().position(Lane::is_through) {
            if self.in_turn && through > 0 {
                break;
            }
            self.in_turn = false;
            self.close(through);
        }
    }

    /// Reads until each capture has an item in its queue, or is over.
    fn gather(&mut self, records: &mut u32) -> Option<Filled> {
        for lane in &mut self.lanes {
            while lane.is_plain() {
                if let Some(filled) = pull(lane, &mut self.statuses[lane.number], records) {
                    return Some(filled);
                }
            }
        }
        if std::mem::take(&mut self.compare)
            && let [before, after] = &self.lanes[..]
            && let Some(first) = after.pending.front().and_then(Pending::segment)
            && before.pending.iter().filter_map(Pending::segment).any(|segment| is_same(segment, first))
        {
            self.in_turn = false;
        }
        None
    }

    /// The capture whose turn it is, unless one of them turned out to be over.
    fn earliest(&self) -> Option<(usize, Nanos)> {
        if self.in_turn {
            return Some((0, self.lanes[0].pending.front()?.time()));
        }
        let mut earliest: Option<(usize, Nanos)> = None;
        for (number, lane) in self.lanes.iter().enumerate() {
            let time = lane.pending.front()?.time();
            if earliest.is_none_or(|(_, least)| time < least) {
                earliest = Some((number, time));
            }
        }
        earliest
    }

    /// Starts the next capture. If the only open capture ends soon, its packets are stored slightly out of order and
    /// the next capture follows it, unless that begins with one of these packets. Otherwise both captures are read side
    /// by side.
    fn meet_next(&mut self, records: &mut u32) -> Option<Filled> {
        let until = Nanos(self.opens.0.saturating_add(2 * SHORTEST_STEP.0));
        let [lane] = &mut self.lanes[..] else {
            self.open_next();
            return None;
        };
        let waits =
            |lane: &Lane| lane.pending.len() < AHEAD && lane.pending.back().is_some_and(|last| last.time() < until);
        while !lane.over && waits(lane) {
            if let Some(filled) = pull(lane, &mut self.statuses[lane.number], records) {
                return Some(filled);
            }
        }
        if !lane.over || !self.recent.is_empty() {
            self.open_next();
            return None;
        }
        self.open_next();
        if let [before, after] = &mut self.lanes[..] {
            after.source.continues(&mut before.source);
            self.compare = true;
        }
        self.in_turn = true;
        None
    }

    /// Hands on the first queued item of a capture.
    fn take(&mut self, lane: usize, batch: &mut Batch) {
        let merges = self.lanes.len() > 1;
        let lane = &mut self.lanes[lane];
        let Some(Pending::Segment(Next { mut segment, base, read, start, tunnel, interface })) =
            lane.pending.pop_front()
        else {
            return;
        };
        // Packets of other captures may have been numbered since it was read.
        let behind = self.numbered.wrapping_sub(lane.taken);
        segment.packet = PacketNo(segment.packet.0.wrapping_sub(base).wrapping_add(behind));
        if lane.taken == 0 {
            self.statuses[lane.number].first_packet = Some(behind.wrapping_add(1));
        }
        let records = read.saturating_sub(lane.taken);
        lane.taken += records;
        if !self.in_turn {
            self.recent.forget(segment.time);
            if self.recent.repeats(&segment, lane.number) {
                lane.repeated += 1;
                self.numbered += records.saturating_sub(1);
                return;
            }
            if merges {
                self.recent.keep(&segment, lane.number);
            }
        }
        self.numbered += records;
        if self.options.filter.takes(&segment) && !self.options.sets.has_told(lane.number, read) {
            batch.files.change(segment.packet, lane.number as u32);
            *batch.place() = segment;
            batch.keep();
            batch.came_in_at(self.interfaces.numbered(&interface));
            if let Some(start) = start {
                batch.starts_with(&start);
            }
            if let Some(tunnel) = tunnel {
                batch.came_through(tunnel);
            }
        }
    }
}

/// Reads one item, unless a batch's worth was read already.
pub(super) fn pull(lane: &mut Lane, status: &mut super::CaptureStatus, records: &mut u32) -> Option<Filled> {
    if *records >= RECORDS {
        return Some(Filled::More);
    }
    *records += 1;
    match lane.pull(status) {
        Pulled::Item => None,
        Pulled::Interrupted => Some(Filled::Interrupted),
    }
}
