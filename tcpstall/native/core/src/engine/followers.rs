//! Threads that follow and judge the flows of shards; the reading thread puts their rows in order.

use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{Scope, ScopedJoinHandle};
use std::{mem, vec};

use super::batch::Batch;
use super::deal::{BATCHES, Dealer, Load};
use super::entry::Ended;
use super::judging::Judging;
use super::shards::Numbers;
use super::table::Table;
use crate::results::FlowRow;
use crate::time::Nanos;

/// Rows and stalls that are handed on together.
const CHUNK: usize = 64;

/// Work of a follower.
enum Work {
    /// A batch.
    Takes(Arc<Batch>),
    /// The stream's end: the flows that are still open are over. The latest segment of any flow.
    Ends(Nanos),
}

/// Result of a follower.
#[derive(Default)]
struct Done {
    /// Numbers of the segments that opened flows.
    opened: Vec<u64>,
    /// The flows that are over: the segments that ended and opened them, in the order of the former.
    ended: Vec<(u64, u64)>,
    /// Rows of those that are selected, in that order.
    rows: Vec<FlowRow>,
    load: Vec<Load>,
}

/// The reading thread's ends of the channels to one follower, and its thread.
struct Line<'scope> {
    to_do: SyncSender<Work>,
    done: Receiver<Done>,
    thread: ScopedJoinHandle<'scope, ()>,
}

/// Followers of all shards.
pub(super) struct Followers<'scope> {
    lines: Vec<Line<'scope>>,
    under_way: VecDeque<Arc<Batch>>,
    /// What the first followers have done of the first batch.
    parts: Vec<Done>,
}

impl<'scope> Followers<'scope> {
    /// Starts at most `most` threads, each with some of the tables.
    pub(super) fn start<'env>(
        scope: &'scope Scope<'scope, 'env>,
        tables: &'env mut [Table],
        judging: Judging<'env>,
        most: usize,
    ) -> Followers<'scope> {
        let share = tables.len().div_ceil(most);
        let start = |tables: &'env mut [Table]| {
            let (to_do, work) = sync_channel(BATCHES);
            let (back, done) = sync_channel(BATCHES);
            let thread = scope.spawn(move || follow(tables, judging, &work, &back));
            Line { to_do, done, thread }
        };
        Followers { lines: tables.chunks_mut(share).map(start).collect(), under_way: VecDeque::new(), parts: vec![] }
    }

    /// Number of batches that not all followers have done.
    pub(super) fn under_way(&self) -> usize {
        self.under_way.len()
    }

    /// Gives out a batch; breaks if a follower is gone.
    pub(super) fn take(&mut self, batch: Batch) -> ControlFlow<()> {
        let batch = Arc::new(batch);
        let sent = self.lines.iter().all(|line| line.to_do.send(Work::Takes(batch.clone())).is_ok());
        self.under_way.push_back(batch);
        if sent { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }

    /// The first batch under way, and the flows that were over in it; `None` while not all have done it, unless the
    /// caller `waits`, and if a follower is gone.
    pub(super) fn done(
        &mut self,
        waits: bool,
        dealer: &mut Dealer,
        numbers: &mut Numbers,
    ) -> Option<(Batch, impl Iterator<Item = Told> + use<>)> {
        if self.under_way.is_empty() {
            return None;
        }
        while let Some(line) = self.lines.get(self.parts.len()) {
            self.parts.push(if waits { line.done.recv().ok()? } else { line.done.try_recv().ok()? });
        }
        let parts = mem::take(&mut self.parts);
        // Followers let go of a batch before they tell what they have done.
        let batch = self.under_way.pop_front().and_then(Arc::into_inner)?;
        let load: Vec<Load> = parts.iter().flat_map(|part| part.load.iter().copied()).collect();
        dealer.learns(load.try_into().unwrap_or_default());
        numbers.opened(parts.iter().flat_map(|part| part.opened.iter().copied()).collect());
        Some((batch, InOrder { parts: parts.into_iter().map(Part::of).collect(), more: |_: usize| None }))
    }

    /// Ends the stream at its latest segment: the flows that are still open.
    pub(super) fn ends(&self, latest: Nanos) -> impl Iterator<Item = Told> {
        // A follower that is gone has no flows.
        self.lines.iter().for_each(|line| _ = line.to_do.send(Work::Ends(latest)));
        let parts = self.lines.iter().map(|_| Part::of(Done::default())).collect();
        InOrder { parts, more: |line: usize| self.lines[line].done.recv().ok() }
    }

    /// Waits for the threads.
    pub(super) fn finish(self) {
        for Line { to_do, done, thread } in self.lines {
            // A thread that waits for work, or to tell what it has done, must not wait for ever.
            drop((to_do, done));
            if let Err(panic) = thread.join() {
                std::panic::resume_unwind(panic);
            }
        }
    }
}

/// A flow that is over: the number of the segment that opened it, and its row if it is selected.
pub(super) type Told = (u64, Option<FlowRow>);

/// What one follower has done, in the order in which flows were over.
struct Part {
    ended: vec::IntoIter<(u64, u64)>,
    rows: vec::IntoIter<FlowRow>,
}

impl Part {
    fn of(done: Done) -> Part {
        Part { ended: done.ended.into_iter(), rows: done.rows.into_iter() }
    }

    fn first(&self) -> Option<(u64, u64)> {
        self.ended.as_slice().first().copied()
    }
}

/// Puts flows of several followers into one order. `more` returns a follower's further flows.
struct InOrder<F> {
    parts: Vec<Part>,
    more: F,
}

impl<F: FnMut(usize) -> Option<Done>> Iterator for InOrder<F> {
    type Item = Told;

    fn next(&mut self) -> Option<Told> {
        for (line, part) in self.parts.iter_mut().enumerate() {
            if part.first().is_none()
                && let Some(done) = (self.more)(line)
            {
                *part = Part::of(done);
            }
        }
        let part = self.parts.iter_mut().filter(|part| part.first().is_some()).min_by_key(|part| part.first())?;
        let (_, opened) = part.ended.next()?;
        let row =
            if part.rows.as_slice().first().is_some_and(|row| row.id == opened) { part.rows.next() } else { None };
        Some((opened, row))
    }
}

/// Follows and judges the flows of some tables.
fn follow(tables: &mut [Table], judging: Judging<'_>, work: &Receiver<Work>, back: &SyncSender<Done>) {
    for work in work {
        match work {
            Work::Takes(batch) => {
                let mut ended = Vec::new();
                tables.iter_mut().for_each(|table| table.takes(&batch, &mut ended));
                drop(batch);
                ended.sort_unstable_by_key(Ended::place);
                let mut done = Done {
                    opened: tables.iter_mut().flat_map(|table| table.opened.drain(..)).collect(),
                    ended: ended.iter().map(Ended::place).collect(),
                    load: tables.iter().map(Table::load).collect(),
                    ..Done::default()
                };
                judging.judge_all(ended, &mut done.rows, |over| {
                    let shard = over.shard();
                    if let Some(table) = tables.iter_mut().find(|table| table.shard == shard) {
                        table.spare.takes(over.flow);
                    }
                });
                if back.send(done).is_err() {
                    return;
                }
            }
            Work::Ends(latest) => return ends(tables, latest, judging, back),
        }
    }
}

/// Judges the flows that are open at the stream's end. They may be costly, so few are judged at a time.
fn ends(tables: &mut [Table], latest: Nanos, judging: Judging<'_>, back: &SyncSender<Done>) {
    let mut open: Vec<Ended> = tables.iter_mut().flat_map(|table| table.ends(latest)).collect();
    open.sort_unstable_by_key(Ended::place);
    let (mut done, mut weight) = (Done::default(), 0);
    for ended in open {
        done.ended.push(ended.place());
        judging.judge(&ended.over(), &mut done.rows);
        weight += 1 + done.rows.last().map_or(0, |row| row.stalls.len());
        if weight >= CHUNK && back.send(mem::take(&mut done)).is_err() {
            return;
        }
        weight %= CHUNK;
    }
    // The reading thread may have ended before.
    _ = back.send(done);
}
