//! Follows and judges the flows of shards on several processors, and puts their rows in order.

use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{Scope, ScopedJoinHandle};
use std::{mem, vec};

use super::batch::Batch;
use super::deal::{BATCHES, Dealer, Load, SHARDS};
use super::entry::Ended;
use super::idleness::Idleness;
use super::judging::Judging;
use super::shards::{self, Numbers, Taken};
use super::spare::Spare;
use super::table::Table;
use crate::results::FlowRow;
use crate::time::Nanos;

/// Rows and stalls that are handed on together.
const CHUNK: usize = 64;

/// Work of a follower.
enum Work<'env> {
    /// A further table, before its others.
    Follows(&'env mut Table),
    /// The tables are given back.
    Rests,
    /// A batch, and rows that were handed on, for their memory.
    Takes(Arc<Batch>, Vec<FlowRow>),
    /// The stream's end: the flows that are still open are over. The latest segment of any flow.
    Ends(Nanos),
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
}

/// The reading thread's ends of the channels to one follower, and its thread.
struct Line<'scope, 'env> {
    to_do: SyncSender<Work<'env>>,
    done: Receiver<Done>,
    given_back: Receiver<Vec<&'env mut Table>>,
    thread: ScopedJoinHandle<'scope, ()>,
}

/// Followers of all shards.
pub(super) struct Followers<'scope, 'env> {
    /// Tables that the reading thread follows itself, before those of the followers: all, while these rest.
    own: Vec<&'env mut Table>,
    resting: bool,
    /// Most tables of the reading thread while the followers work.
    share: usize,
    spare: Spare,
    judging: Judging<'env>,
    own_done: VecDeque<Done>,
    lines: Vec<Line<'scope, 'env>>,
    under_way: VecDeque<Arc<Batch>>,
    idleness: Idleness,
    /// What the first followers have done of the first batch.
    parts: Vec<Done>,
    /// Rows that were handed on.
    rows: Vec<Vec<FlowRow>>,
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
        let lines = (1..processors.min(SHARDS - share + 1)).map(|_| Line::start(scope, judging)).collect();
        let (spare, own_done, under_way, idleness, parts, rows) = Default::default();
        let (own, resting) = (tables.iter_mut().collect(), true);
        let mut followers =
            Followers { own, resting, share, spare, judging, own_done, lines, under_way, idleness, parts, rows };
        followers.work();
        followers
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
        let sent = self.working().iter().all(|line| line.to_do.send(Work::Takes(batch.clone(), rows())).is_ok());
        self.own_done.push_back(take(&mut self.own, &batch, self.judging, &mut self.spare, rows()));
        self.rows = spare_rows;
        self.under_way.push_back(batch);
        if sent { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }

    /// Takes in rows that were handed on, a list of each follower: their memory goes back to the followers.
    pub(super) fn takes_rows(&mut self, rows: Vec<Vec<FlowRow>>) {
        self.rows.extend(rows);
    }

    /// The lines of followers with tables.
    fn working(&self) -> &[Line<'scope, 'env>] {
        if self.resting { &[] } else { &self.lines }
    }

    /// Gives a table of the reading thread to the first follower, unless the followers rest.
    fn gives_away(&mut self) {
        if !self.resting
            && let Some(line) = self.lines.first()
            && let Some(table) = self.own.pop()
        {
            // A follower that is gone is reported where its thread is joined.
            _ = line.to_do.send(Work::Follows(table));
        }
    }

    /// The first batch under way, and the flows that were over in it; `None` while not all have done it, unless the
    /// caller `waits`, and if a follower is gone.
    pub(super) fn done(
        &mut self,
        waits: bool,
        dealer: &mut Dealer,
        numbers: &mut Numbers,
    ) -> Option<(Batch, InOrder<impl More + use<>>)> {
        if self.under_way.is_empty() {
            return None;
        }
        while let Some(line) = self.working().get(self.parts.len()) {
            let done = if waits { line.done.recv().ok()? } else { line.done.try_recv().ok()? };
            self.parts.push(done);
        }
        let mut parts = mem::take(&mut self.parts);
        parts.splice(..0, self.own_done.pop_front());
        // Followers let go of a batch before they tell what they have done.
        let batch = self.under_way.pop_front().and_then(Arc::into_inner)?;
        if self.idleness.lasts(parts.iter().any(|part| part.waited)) {
            self.gives_away();
        }
        dealer.learns(parts.iter().flat_map(|part| part.load.iter().copied()));
        numbers.opened(parts.iter().flat_map(|part| part.opened.iter().copied()).collect());
        Some((batch, InOrder { parts: parts.into_iter().map(Part::of).collect(), more: |_: usize| None }))
    }

    /// Ends the stream at its latest segment: the flows that are still open.
    pub(super) fn ends(&mut self, latest: Nanos) -> InOrder<impl More> {
        let Followers { own, spare, judging, lines, .. } = self;
        // A follower that is gone has no flows.
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

impl<'scope, 'env> Line<'scope, 'env> {
    /// Starts a follower without tables.
    fn start(scope: &'scope Scope<'scope, 'env>, judging: Judging<'env>) -> Line<'scope, 'env> {
        let (to_do, work) = sync_channel(BATCHES.max(SHARDS));
        let (back, done) = sync_channel(BATCHES);
        let (gives_back, given_back) = sync_channel(1);
        let thread = scope.spawn(move || follow(judging, &work, &back, &gives_back));
        Line { to_do, done, given_back, thread }
    }
}

/// What one follower has done, in the order in which flows were over. Rows stay where they are: each takes kilobytes.
struct Part {
    ended: vec::IntoIter<(u64, u64)>,
    rows: Vec<FlowRow>,
    /// Number of rows that were handed on.
    told: usize,
}

impl Part {
    fn of(done: Done) -> Part {
        Part { ended: done.ended.into_iter(), rows: done.rows, told: 0 }
    }

    fn first(&self) -> Option<(u64, u64)> {
        self.ended.as_slice().first().copied()
    }
}

/// Returns further flows of the follower with that number.
pub(super) trait More: FnMut(usize) -> Option<Done> {}

impl<F: FnMut(usize) -> Option<Done>> More for F {}

/// Puts flows of several followers into one order. `more` returns a follower's further flows.
pub(super) struct InOrder<F> {
    parts: Vec<Part>,
    more: F,
}

impl<F: More> InOrder<F> {
    /// The rows, for their memory.
    pub(super) fn into_rows(self) -> Vec<Vec<FlowRow>> {
        let mut lists: Vec<_> = self.parts.into_iter().map(|part| part.rows).collect();
        lists.iter_mut().flatten().for_each(FlowRow::drops_long_lists);
        lists
    }

    /// The next flow that is over: the number of the segment that opened it, and its row if it is selected.
    pub(super) fn next(&mut self) -> Option<(u64, Option<&mut FlowRow>)> {
        for (line, part) in self.parts.iter_mut().enumerate() {
            if part.first().is_none()
                && let Some(done) = (self.more)(line)
            {
                *part = Part::of(done);
            }
        }
        let part = self.parts.iter_mut().filter(|part| part.first().is_some()).min_by_key(|part| part.first())?;
        let (_, opened) = part.ended.next()?;
        let row = part.rows.get_mut(part.told).filter(|row| row.id == opened);
        part.told += usize::from(row.is_some());
        Some((opened, row))
    }
}

/// Follows and judges the flows of the tables that it gets.
fn follow<'env>(
    judging: Judging<'_>,
    work: &Receiver<Work<'env>>,
    back: &SyncSender<Done>,
    gives_back: &SyncSender<Vec<&'env mut Table>>,
) {
    let (mut tables, mut spare): (Vec<&'env mut Table>, Spare) = Default::default();
    loop {
        let at_hand = work.try_recv();
        let waited = at_hand.is_err();
        let Ok(work) = at_hand.or_else(|_| work.recv()) else { return };
        match work {
            Work::Follows(table) => tables.insert(0, table),
            Work::Rests => {
                if gives_back.send(mem::take(&mut tables)).is_err() {
                    return;
                }
            }
            Work::Takes(batch, rows) => {
                let done = Done { waited, ..take(&mut tables, &batch, judging, &mut spare, rows) };
                drop(batch);
                if back.send(done).is_err() {
                    return;
                }
            }
            Work::Ends(latest) => {
                // The reading thread may have ended before.
                _ = Ending::of(&mut tables, latest, judging, spare).try_for_each(|done| back.send(done));
                return;
            }
        }
    }
}

/// Takes in a batch, and judges the flows that are over, in the memory of earlier rows.
fn take(
    tables: &mut [&mut Table],
    batch: &Batch,
    judging: Judging<'_>,
    spare: &mut Spare,
    mut rows: Vec<FlowRow>,
) -> Done {
    spare.takes_rows(&mut rows);
    let mut ended = Vec::new();
    let Taken { opened, load } = shards::take(tables.iter_mut().map(|table| &mut **table), batch, spare, &mut ended);
    let mut done = Done { opened, ended: ended.iter().map(Ended::place).collect(), load, rows, ..Done::default() };
    judging.judge_all(ended, &mut done.rows, spare);
    done
}

/// Judges the flows that are open at the stream's end. They may be costly, so few are judged at a time.
struct Ending<'a> {
    open: vec::IntoIter<Ended>,
    judging: Judging<'a>,
    spare: Spare,
}

impl<'a> Ending<'a> {
    fn of(tables: &mut [&mut Table], latest: Nanos, judging: Judging<'a>, spare: Spare) -> Ending<'a> {
        let open = shards::end(tables.iter_mut().map(|table| &mut **table), latest);
        Ending { open: open.into_iter(), judging, spare }
    }
}

impl Iterator for Ending<'_> {
    type Item = Done;

    fn next(&mut self) -> Option<Done> {
        let (mut done, mut weight) = (Done::default(), 0);
        while weight < CHUNK
            && let Some(ended) = self.open.next()
        {
            done.ended.push(ended.place());
            let over = ended.over(&mut self.spare, false);
            self.judging.judge(&over, &mut done.rows, &mut self.spare.lists);
            self.spare.takes(over.flow);
            weight += 1 + done.rows.last().map_or(0, |row| row.stalls.len());
        }
        (weight > 0).then_some(done)
    }
}

#[cfg(test)]
mod tests;
