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
use crate::engine::reader::lane::Lane;
use crate::time::Nanos;

/// Capture that the follower reads by itself.
pub(in super::super) struct Again<'env> {
    pub(in super::super) options: &'env RunOptions,
    /// The name of the one capture.
    pub(in super::super) paths: &'env [String],
    /// The capture, as if it were the first input.
    pub(in super::super) lane: Lane,
    /// The number of the stream's first segment.
    pub(in super::super) first: u64,
}

impl<'env> Again<'env> {
    /// Reads to the end, and follows the flows of these tables and of those that it gets.
    pub(super) fn follow(self, mut tables: Vec<&'env mut Table>, judging: Judging<'_>, ends: &Ends<'env>) {
        let Again { options, paths, lane, first } = self;
        let mut statuses = [CaptureStatus::default()];
        let coming = VecDeque::from([Coming { number: 0, opens: NEVER, lane: Some(lane) }]);
        let mut reader = Reader::new(coming, paths, options, &mut statuses);
        let (mut dealer, mut batch, mut spare) = (Dealer::new(first), Batch::default(), Spare::default());
        let mut orders = Orders { ends, early: VecDeque::new() };
        let mut taken = 0;
        let latest = loop {
            batch.clear();
            let filled = reader.fill(&mut batch);
            let (mut rows, mut waited) = (Vec::new(), false);
            if taken >= BATCHES {
                match orders.next(&mut tables) {
                    Some(Order::Goes(learnt, late)) => {
                        dealer.learns(learnt.load);
                        (rows, waited) = (learnt.rows, late);
                    }
                    Some(Order::Ends(latest)) => break latest,
                    None => return,
                }
            }
            taken += 1;
            batch.deal(&mut dealer);
            let done = take(&mut tables, &batch, judging, &mut spare, rows);
            if ends.back.send(Done { waited, read_to: Some(batch.end()), ..done }).is_err() {
                return;
            }
            if filled == Filled::End {
                match orders.end(&mut tables) {
                    Some(latest) => break latest,
                    None => return,
                }
            }
        };
        // The reading thread may have ended before.
        _ = Ending::of(&mut tables, latest, judging, spare).try_for_each(|done| ends.back.send(done));
    }
}

/// Order of the reading thread before a batch.
#[expect(clippy::large_enum_variant, reason = "hardly any is the small one")]
enum Order {
    /// Results of all followers for an earlier batch; true if the reading thread had to wait for them.
    Goes(Learnt, bool),
    /// The reading thread has ended before: the latest segment of any flow.
    Ends(Nanos),
}

/// Orders from the reading thread.
struct Orders<'a, 'env> {
    ends: &'a Ends<'env>,
    /// Orders that arrived before a table that must come first.
    early: VecDeque<Learnt>,
}

impl<'env> Orders<'_, 'env> {
    /// The next order; tables that come with it are added to `tables`. `None` if the reading thread is gone.
    fn next(&mut self, tables: &mut Vec<&'env mut Table>) -> Option<Order> {
        let mut waited = false;
        let learnt = match self.early.pop_front() {
            Some(learnt) => learnt,
            None => {
                let at_hand = self.ends.work.try_recv();
                waited = at_hand.is_err();
                match at_hand.or_else(|_| self.ends.work.recv()).ok()? {
                    Work::Learns(learnt) => learnt,
                    Work::Ends(latest) => return Some(Order::Ends(latest)),
                    _ => return None,
                }
            }
        };
        if !learnt.further {
            return Some(Order::Goes(learnt, waited));
        }
        loop {
            match self.ends.work.recv().ok()? {
                Work::Follows(table) => {
                    tables.insert(0, table);
                    return Some(Order::Goes(learnt, waited));
                }
                Work::Learns(next) => self.early.push_back(next),
                Work::Ends(latest) => return Some(Order::Ends(latest)),
                _ => return None,
            }
        }
    }

    /// Waits for the stream's end: the latest segment of any flow.
    fn end(&mut self, tables: &mut Vec<&'env mut Table>) -> Option<Nanos> {
        loop {
            match self.ends.work.recv().ok()? {
                Work::Follows(table) => tables.insert(0, table),
                Work::Ends(latest) => return Some(latest),
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests;
