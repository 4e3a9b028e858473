//! A follower that reads the capture by itself: nothing but rows passes between the threads.
//!
//! Segments that one thread has read and another one follows pass from processor to processor through memory. Where the
//! two share no cache, that takes as long as the work on them. Records of a plain file are quick to read: each thread
//! reads all of them, and follows the flows of its own shards.

use std::collections::VecDeque;

use super::super::reader::{Filled, Reader};
use super::super::sets::{Coming, NEVER};
use super::super::{CaptureStatus, RunOptions};
use super::line::{Ending, Ends, take};
use super::{BATCHES, Batch, Dealer, Done, Judging, Learnt, Spare, Table, Work};
use crate::engine::lane::Lane;
use crate::time::Nanos;

/// What the follower reads.
pub(in super::super) struct Again<'env> {
    pub(in super::super) options: &'env RunOptions,
    /// The name of the one capture.
    pub(in super::super) paths: &'env [String],
    /// The capture, as if it were the first input.
    pub(in super::super) lane: Lane,
    /// The number of the stream's first segment.
    pub(in super::super) first: u64,
}

/// The stream's end came, for the reading thread: the latest segment of any flow.
struct Over(Nanos);

impl<'env> Again<'env> {
    /// Reads to the end, and follows the flows of these tables and of those that it gets.
    pub(super) fn follow(self, mut tables: Vec<&'env mut Table>, judging: Judging<'_>, ends: &Ends<'env>) {
        let Again { options, paths, lane, first } = self;
        let mut statuses = [CaptureStatus::default()];
        let coming = VecDeque::from([Coming { number: 0, opens: NEVER, lane: Some(lane) }]);
        let mut reader = Reader::new(coming, paths, options, &mut statuses);
        let (mut dealer, mut batch, mut spare) = (Dealer::new(first), Batch::default(), Spare::default());
        let mut orders = Orders { ends, early: VecDeque::new() };
        let mut numbers = 1..;
        let over = loop {
            batch.clear();
            let filled = reader.fill(&mut batch);
            let (mut rows, mut waited) = (Vec::new(), false);
            if numbers.next() > Some(BATCHES) {
                match orders.learns(&mut tables) {
                    Some(Ok((learnt, late))) => {
                        dealer.learns(learnt.load);
                        (rows, waited) = (learnt.rows, late);
                    }
                    Some(Err(over)) => break over,
                    None => return,
                }
            }
            batch.deal(&mut dealer);
            let done = take(&mut tables, &batch, judging, &mut spare, rows);
            if ends.back.send(Done { waited, read_to: Some(batch.end()), ..done }).is_err() {
                return;
            }
            if filled == Filled::End {
                match orders.over(&mut tables) {
                    Some(over) => break over,
                    None => return,
                }
            }
        };
        // The reading thread may have ended before.
        _ = Ending::of(&mut tables, over.0, judging, spare).try_for_each(|done| ends.back.send(done));
    }
}

/// What the reading thread tells.
struct Orders<'a, 'env> {
    ends: &'a Ends<'env>,
    /// What was told before a table that had to come first.
    early: VecDeque<Learnt>,
}

impl<'env> Orders<'_, 'env> {
    /// What all have done of the next batch, and whether that had to be waited for; tables that come before it are added
    /// to `tables`. `None` if the reading thread is gone.
    fn learns(&mut self, tables: &mut Vec<&'env mut Table>) -> Option<Result<(Learnt, bool), Over>> {
        let mut waited = false;
        let learnt = match self.early.pop_front() {
            Some(learnt) => learnt,
            None => {
                let at_hand = self.ends.work.try_recv();
                waited = at_hand.is_err();
                match at_hand.or_else(|_| self.ends.work.recv()).ok()? {
                    Work::Learns(learnt) => learnt,
                    Work::Ends(latest) => return Some(Err(Over(latest))),
                    _ => return None,
                }
            }
        };
        if !learnt.further {
            return Some(Ok((learnt, waited)));
        }
        loop {
            match self.ends.work.recv().ok()? {
                Work::Follows(table) => {
                    tables.insert(0, table);
                    return Some(Ok((learnt, waited)));
                }
                Work::Learns(next) => self.early.push_back(next),
                Work::Ends(latest) => return Some(Err(Over(latest))),
                _ => return None,
            }
        }
    }

    /// Waits for the stream's end.
    fn over(&mut self, tables: &mut Vec<&'env mut Table>) -> Option<Over> {
        loop {
            match self.ends.work.recv().ok()? {
                Work::Follows(table) => tables.insert(0, table),
                Work::Ends(latest) => return Some(Over(latest)),
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests;
