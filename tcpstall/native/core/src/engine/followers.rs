//! Follows and judges the flows of shards on several processors, and puts their rows in order.

mod again;
pub(super) mod idleness;
mod in_order;
pub(super) mod judging;
mod line;

use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::thread::Scope;
use std::{mem, vec};

pub(super) use self::again::Again;
use self::idleness::Idleness;
use self::in_order::Part;
pub(super) use self::in_order::{InOrder, More};
use self::judging::Judging;
use self::line::{Ending, Line, follow, take};
use super::batch::{Batch, BatchEnd};
use super::deal::{BATCHES, Dealer, Load, SHARDS, of_shards};
use super::shards::Numbers;
use super::table::Table;
use super::table::spare::Spare;
use crate::results::FlowRow;
use crate::time::Nanos;

/// Work of a follower.
enum Work<'env> {
    /// A further table, before its others.
    Follows(&'env mut Table),
    /// The tables are given back.
    Rests,
    /// A batch, and rows that were handed on, for their memory.
    Takes(Arc<Batch>, Vec<FlowRow>),
    /// To a follower that reads by itself: what all have done of a batch.
    Learns(Learnt),
    /// The stream's end: the flows that are still open are over. The latest segment of any flow.
    Ends(Nanos),
}

/// Facts that a follower that reads by itself needs of the others.
struct Learnt {
    /// Memory that the flows of each shard used after a batch.
    load: [Load; SHARDS],
    /// Rows that were handed on, for their memory.
    rows: Vec<FlowRow>,
    /// A further table comes before the batch that waits for this.
    further: bool,
}

/// Result of a follower.
#[derive(Default)]
pub(super) struct Done {
    /// Numbers of the segments that opened flows.
    opened: Vec<u64>,
    /// The flows that are over: the segments that ended and opened them, in the order of the former.
    ended: Vec<(u64, u64)>,
    /// Rows of those that are selected, in that order.
    rows: Vec<FlowRow>,
    load: Vec<Load>,
    /// The follower had waited for this batch.
    waited: bool,
    /// The end of the batch, if the follower read it by itself.
    read_to: Option<BatchEnd>,
}

/// Followers of all shards.
pub(super) struct Followers<'scope, 'env> {
    /// Tables that the reading thread follows itself, before those of the followers: all, while these rest.
    own: Vec<&'env mut Table>,
    resting: bool,
    /// The follower reads by itself.
    reads: bool,
    /// Batches that are taken in before a table is given to a follower that reads by itself.
    gives_after: Option<usize>,
    /// Such a follower has read something else.
    differs: bool,
    /// Most tables of the reading thread while the followers work.
    share: usize,
    spare: Spare,
    judging: Judging<'env>,
    own_done: VecDeque<Done>,
    lines: Vec<Line<'scope, 'env>>,
    under_way: VecDeque<Arc<Batch>>,
    idleness: Idleness,
    /// Results of the first followers for the first batch.
    parts: Vec<Done>,
    /// Rows of followers, and of the reading thread, that were handed on.
    rows: Vec<Vec<FlowRow>>,
    own_rows: Vec<Vec<FlowRow>>,
}

impl<'scope, 'env> Followers<'scope, 'env> {
    /// Starts threads for that many processors, each with some of the tables. Of two processors the reading one follows
    /// a share too, because reading takes a quarter of the work. It gives tables away while a follower waits for it: rows
    /// that are printed, or a compressed capture, may take most of its time.
    pub(super) fn start(
        scope: &'scope Scope<'scope, 'env>,
        tables: &'env mut [Table],
        judging: Judging<'env>,
        processors: usize,
    ) -> Followers<'scope, 'env> {
        let share = if processors <= 2 { 3 * SHARDS / 8 } else { 0 };
        let line = |_| Line::start(scope, move |ends| follow(judging, ends));
        let lines = (1..processors.min(SHARDS - share + 1)).map(line).collect();
        let mut followers = Followers::with(tables, lines, judging);
        (followers.resting, followers.share) = (true, share);
        followers.work();
        followers
    }

    /// Starts a thread that reads the same file by itself, with half of the tables: it gets further ones if it waits for
    /// the reading thread, which may have rows to print.
    pub(super) fn start_reading(
        scope: &'scope Scope<'scope, 'env>,
        tables: &'env mut [Table],
        judging: Judging<'env>,
        again: Again<'env>,
    ) -> Followers<'scope, 'env> {
        let (own, others) = tables.split_at_mut(SHARDS / 2);
        let others = others.iter_mut().collect();
        let line = Line::start(scope, move |ends| again.follow(others, judging, ends));
        Followers { reads: true, ..Followers::with(own, vec![line], judging) }
    }

    fn with(own: &'env mut [Table], lines: Vec<Line<'scope, 'env>>, judging: Judging<'env>) -> Followers<'scope, 'env> {
        let (spare, own_done, under_way, idleness, parts, rows, own_rows) = Default::default();
        Followers {
            own: own.iter_mut().collect(),
            resting: false,
            reads: false,
            gives_after: None,
            differs: false,
            share: 0,
            spare,
            judging,
            own_done,
            lines,
            under_way,
            idleness,
            parts,
            rows,
            own_rows,
        }
    }

    /// The followers get their tables; no batch is under way.
    pub(super) fn work(&mut self) {
        if !mem::take(&mut self.resting) {
            return;
        }
        // Tables keep their order: the last ones go first, each before the others of its follower.
        for (before, line) in self.lines.iter().enumerate().rev() {
            let tables = (self.own.len() - self.share).div_ceil(before + 1);
            for table in self.own.drain(self.own.len() - tables..).rev() {
                // A follower that is gone is reported where its thread is joined.
                _ = line.to_do.send(Work::Follows(table));
            }
        }
    }

    /// The reading thread follows all tables; no batch is under way. Breaks if a follower is gone.
    pub(super) fn rest(&mut self) -> ControlFlow<()> {
        if !mem::replace(&mut self.resting, true) {
            self.share = self.own.len();
            for line in &self.lines {
                _ = line.to_do.send(Work::Rests);
                let Ok(tables) = line.given_back.recv() else { return ControlFlow::Break(()) };
                self.own.extend(tables);
            }
        }
        ControlFlow::Continue(())
    }

    /// Number of batches that not all followers have done.
    pub(super) fn under_way(&self) -> usize {
        self.under_way.len()
    }

    /// Gives out a batch; breaks if a follower is gone.
    pub(super) fn take(&mut self, batch: Batch) -> ControlFlow<()> {
        let batch = Arc::new(batch);
        let mut spare_rows = mem::take(&mut self.rows);
        let mut rows = || spare_rows.pop().unwrap_or_default();
        let mut lines = self.working().iter().filter(|_| !self.reads);
        let sent = lines.all(|line| line.to_do.send(Work::Takes(batch.clone(), rows())).is_ok());
        self.rows = spare_rows;
        let own_rows = self.own_rows.pop().unwrap_or_default();
        self.own_done.push_back(take(&mut self.own, &batch, self.judging, &mut self.spare, own_rows));
        self.under_way.push_back(batch);
        self.gives_after = self.gives_after.and_then(|batches| self.gives_in(batches - 1));
        if sent { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }

    /// Takes in rows that were handed on, a list of each follower: their memory goes back to the followers.
    pub(super) fn takes_rows(&mut self, rows: Vec<Vec<FlowRow>>) {
        let mut rows = rows.into_iter();
        self.own_rows.extend(rows.next());
        self.rows.extend(rows);
    }

    /// The lines of followers with tables.
    fn working(&self) -> &[Line<'scope, 'env>] {
        if self.resting || self.differs { &[] } else { &self.lines }
    }

    /// Gives a table of the reading thread to the first follower, unless the followers rest.
    fn gives_away(&mut self) {
        if !(self.resting || self.differs)
            && let Some(line) = self.lines.first()
            && let Some(table) = self.own.pop()
        {
            // A follower that is gone is reported where its thread is joined.
            _ = line.to_do.send(Work::Follows(table));
        }
    }

    /// Gives a table away once so many batches are taken in; returns their number, until it is given.
    fn gives_in(&mut self, batches: usize) -> Option<usize> {
        if batches > 0 {
            return Some(batches);
        }
        self.gives_away();
        None
    }

    /// The first batch under way, and the flows that were over in it; `None` while not all have done it, unless the
    /// caller `waits`, and if a follower is gone.
    pub(super) fn done(
        &mut self,
        waits: bool,
        dealer: &mut Dealer,
        numbers: &mut Numbers,
    ) -> Option<(Batch, InOrder<impl More + use<>>)> {
        let (batch, parts) = self.parts(waits)?;
        let idle = self.idleness.lasts(parts.iter().any(|part| part.waited));
        Some((batch, self.learns(parts, idle, dealer, numbers)))
    }

    /// The first batch under way, and what all have done of it: the reading thread alone, once a follower has read something
    /// else.
    fn parts(&mut self, waits: bool) -> Option<(Batch, Vec<Done>)> {
        if self.under_way.is_empty() {
            return None;
        }
        while let Some(line) = self.working().get(self.parts.len()) {
            let done = if waits { line.done.recv().ok()? } else { line.done.try_recv().ok()? };
            self.parts.push(done);
        }
        let mut parts = mem::take(&mut self.parts);
        // Followers let go of a batch before they tell what they have done.
        let batch = self.under_way.pop_front().and_then(Arc::into_inner)?;
        self.differs |= parts.iter().filter_map(|part| part.read_to).any(|end| end != batch.end());
        if self.differs {
            parts.clear();
        }
        parts.splice(..0, self.own_done.pop_front());
        Some((batch, parts))
    }

    /// Takes in what all have done of a batch; a follower may be `idle`. Returns the flows that are over.
    fn learns(
        &mut self,
        parts: Vec<Done>,
        idle: bool,
        dealer: &mut Dealer,
        numbers: &mut Numbers,
    ) -> InOrder<impl More + use<>> {
        let load = of_shards(parts.iter().flat_map(|part| part.load.iter().copied()));
        match (self.reads, self.differs) {
            (true, false) => self.tells(load, idle),
            (false, _) if idle => self.gives_away(),
            _ => {}
        }
        dealer.learns(load);
        numbers.opened(parts.iter().flat_map(|part| part.opened.iter().copied()).collect());
        InOrder { parts: parts.into_iter().map(Part::of).collect(), more: |_: usize| None }
    }

    /// Tells a follower that reads by itself what all have done of a batch. An `idle` one gets a further table, before
    /// the batch that waits for this: the reading thread has to have taken in all batches before that one.
    fn tells(&mut self, load: [Load; SHARDS], idle: bool) {
        let further = idle && self.gives_after.is_none() && !self.own.is_empty();
        let rows = self.rows.pop().unwrap_or_default();
        if let Some(line) = self.lines.first() {
            // A follower that is gone is reported where its thread is joined.
            _ = line.to_do.send(Work::Learns(Learnt { load, rows, further }));
        }
        if further {
            self.gives_after = self.gives_in(BATCHES - 1 - self.under_way.len());
        }
    }

    /// The follower reads by itself.
    pub(super) fn reads(&self) -> bool {
        self.reads
    }

    /// A follower that reads by itself has read something else than the reading thread.
    pub(super) fn differs(&self) -> bool {
        self.differs
    }

    /// Ends the stream at its latest segment: the flows that are still open.
    pub(super) fn ends(&mut self, latest: Nanos) -> InOrder<impl More> {
        let Followers { own, spare, judging, lines, differs, .. } = self;
        // A follower that is gone has no flows, and those of other segments are not told.
        let lines = if *differs { &[][..] } else { &lines[..] };
        lines.iter().for_each(|line| _ = line.to_do.send(Work::Ends(latest)));
        let mut own = Ending::of(own, latest, *judging, mem::take(spare));
        let parts = (0..=lines.len()).map(|_| Part::of(Done::default())).collect();
        let more = move |part: usize| match part.checked_sub(1) {
            None => own.next(),
            Some(line) => lines[line].done.recv().ok(),
        };
        InOrder { parts, more }
    }

    /// Waits for the threads.
    pub(super) fn finish(self) {
        for Line { to_do, done, given_back, thread } in self.lines {
            // A thread that waits for work, or to tell what it has done, must not wait for ever.
            drop((to_do, done, given_back));
            if let Err(panic) = thread.join() {
                std::panic::resume_unwind(panic);
            }
        }
    }
}

#[cfg(test)]
mod tests;
