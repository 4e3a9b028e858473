//! A follower's thread, and the channels to it.

use std::mem;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{Scope, ScopedJoinHandle};

use super::super::shards::{self, Taken};
use super::{BATCHES, Batch, Done, Judging, SHARDS, Spare, Table, Work};
use crate::engine::table::entry::Ended;
use crate::results::FlowRow;
use crate::time::Nanos;

/// Rows and stalls that are handed on together.
const CHUNK: usize = 64;

/// The reading thread's ends of the channels to one follower, and its thread.
pub(super) struct Line<'scope, 'env> {
    pub(super) to_do: SyncSender<Work<'env>>,
    pub(super) done: Receiver<Done>,
    pub(super) given_back: Receiver<Vec<&'env mut Table>>,
    pub(super) thread: ScopedJoinHandle<'scope, ()>,
}

/// A follower's ends of the channels to the reading thread.
pub(super) struct Ends<'env> {
    pub(super) work: Receiver<Work<'env>>,
    pub(super) back: SyncSender<Done>,
    gives_back: SyncSender<Vec<&'env mut Table>>,
}

impl<'scope, 'env> Line<'scope, 'env> {
    /// Starts a follower.
    pub(super) fn start(
        scope: &'scope Scope<'scope, 'env>,
        follow: impl FnOnce(&Ends<'env>) + Send + 'scope,
    ) -> Line<'scope, 'env> {
        let (to_do, work) = sync_channel(BATCHES.max(SHARDS));
        let (back, done) = sync_channel(BATCHES);
        let (gives_back, given_back) = sync_channel(1);
        let thread = scope.spawn(move || follow(&Ends { work, back, gives_back }));
        Line { to_do, done, given_back, thread }
    }
}

/// Follows and judges the flows of the tables that it gets.
pub(super) fn follow<'env>(judging: Judging<'_>, ends: &Ends<'env>) {
    let Ends { work, back, gives_back } = ends;
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
            Work::Learns(_) => {}
            Work::Ends(latest) => {
                // The reading thread may have ended before.
                _ = Ending::of(&mut tables, latest, judging, spare).try_for_each(|done| back.send(done));
                return;
            }
        }
    }
}

/// Takes in a batch, and judges the flows that are over, in the memory of earlier rows.
pub(super) fn take(
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
pub(super) struct Ending<'a> {
    open: Vec<Ended>,
    /// Number of flows that were judged.
    told: usize,
    judging: Judging<'a>,
    spare: Spare,
}

impl<'a> Ending<'a> {
    pub(super) fn of(tables: &mut [&mut Table], latest: Nanos, judging: Judging<'a>, spare: Spare) -> Ending<'a> {
        let open = shards::end(tables.iter_mut().map(|table| &mut **table), latest);
        Ending { open, told: 0, judging, spare }
    }
}

impl Iterator for Ending<'_> {
    type Item = Done;

    fn next(&mut self) -> Option<Done> {
        let (mut done, mut weight) = (Done::default(), 0);
        while weight < CHUNK
            && let Some(ended) = Ended::together(&mut self.open[self.told..]).next()
        {
            let before = done.rows.len();
            done.ended.extend(ended.iter().map(Ended::place));
            self.judging.judge_together(ended, &mut done.rows, &mut self.spare);
            self.told += ended.len();
            weight += ended.len() + done.rows[before..].iter().map(|row| row.stalls.len()).sum::<usize>();
        }
        (weight > 0).then_some(done)
    }
}
