//! Runs one stream through the engine: this thread reads, judges and outputs; another follows the flows, where there is
//! another processor.

use std::borrow::Borrow;
use std::ops::ControlFlow;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::{iter, mem, thread};

use super::batch::Batch;
use super::entry::{Ended, Over};
use super::reader::{Filled, Reader};
use super::stream::{StreamState, put_down};
use super::table::Table;
use super::{Follower, RunOptions};
use crate::results::{FlowRow, flow_row};

/// Batches in use at once: one is filled, one is worked on, the others even out the two speeds.
const BATCHES: usize = 4;

/// Packets between two reports of progress.
const PROGRESS_EVERY: u64 = 1 << 18;

/// Flows that pass through a stage together, so that its code is loaded once for all of them.
const TOGETHER: usize = 32;

/// One stream on its run through the engine.
pub(super) struct Pass<'a> {
    pub(super) options: &'a RunOptions,
    pub(super) follower: &'a mut dyn Follower,
    /// Its captures, by their numbers.
    set: &'a [usize],
    pub(super) next_id: &'a mut u64,
    pub(super) reader: Reader<'a>,
    told: u64,
}

/// Work of the thread that follows flows: a batch, and flows whose rows are made. The thread that allocated a flow's
/// memory also frees it: otherwise the two would wait for each other at the allocator's lock.
type Work = (Batch, Vec<Over>);

/// Result of that thread: flows that are over, and the batch to be filled again.
type Done = (Vec<Over>, Option<Batch>);

impl<'a> Pass<'a> {
    pub(super) fn new(
        options: &'a RunOptions,
        follower: &'a mut dyn Follower,
        set: &'a [usize],
        next_id: &'a mut u64,
        reader: Reader<'a>,
    ) -> Pass<'a> {
        Pass { options, follower, set, next_id, reader, told: 0 }
    }

    /// Reads the stream to its end, or until the follower breaks.
    ///
    /// `stream` is the serialised stream before it; where it is serialised again, `paths` are the names of all
    /// captures.
    pub(super) fn read(mut self, paths: &[String], stream: Option<StreamState>) -> ControlFlow<()> {
        let processors = self.options.threads.map_or_else(thread::available_parallelism, Ok);
        let alone = processors.is_ok_and(|processors| processors.get() == 1);
        let mut table = self.table();
        if let Some(stream) = stream {
            (table, self.reader) = stream.goes_on(table, self.reader);
        }
        let flow = if alone { self.alone(&mut table) } else { self.beside(&mut table) };
        if let Some(stream) = put_down(paths, &mut self.reader, &mut table) {
            self.follower.put_down(stream);
        }
        self.set.iter().for_each(|number| self.reader.statuses[*number].doubt());
        flow
    }

    fn alone(&mut self, table: &mut Table) -> ControlFlow<()> {
        let (mut batch, mut done) = (Batch::default(), Vec::new());
        loop {
            let filled = self.reader.fill(&mut batch);
            table.takes(&batch, &mut done);
            batch.clear();
            let mut ended = done.drain(..);
            while ended.len() > 0 {
                let over: Vec<Over> = ended.by_ref().take(TOGETHER).map(Ended::over).collect();
                self.hand_on(over.into_iter())?;
            }
            if filled == Filled::End {
                break;
            }
            self.tell(filled)?;
        }
        self.report()?;
        let mut open = table.drain();
        self.note(table);
        open.try_for_each(|over| self.hand_on(iter::once(over)))
    }

    fn table(&self) -> Table {
        let first = self.set.first().map_or(0, |first| *first as u32);
        let sets = &self.options.sets;
        Table::new(*self.next_id, first).telling_from(sets.new_from as u32).keeping(sets.most_past)
    }

    fn beside(&mut self, table: &mut Table) -> ControlFlow<()> {
        thread::scope(|scope| {
            let (full, to_do) = sync_channel(BATCHES);
            let (back, done) = sync_channel(BATCHES);
            let flows = scope.spawn(move || {
                follow(table, &to_do, &back);
                table
            });
            let flow = self.feed(full, &done);
            // A thread that waits to hand flows on must not wait for ever.
            drop(done);
            match flows.join() {
                Ok(table) => self.note(table),
                Err(panic) => std::panic::resume_unwind(panic),
            }
            flow
        })
    }

    fn feed(&mut self, full: SyncSender<Work>, done: &Receiver<Done>) -> ControlFlow<()> {
        let (mut empty, mut told): (Vec<Batch>, Vec<Over>) = (Vec::new(), Vec::new());
        let mut under_way = 0;
        loop {
            while let Some((mut over, batch)) =
                if under_way == BATCHES { done.recv().ok() } else { done.try_recv().ok() }
            {
                under_way -= 1;
                empty.extend(batch);
                self.hand_on(over.iter())?;
                told.append(&mut over);
            }
            let mut batch = empty.pop().unwrap_or_default();
            let filled = self.reader.fill(&mut batch);
            // The receiver is gone only after a panic, which is reported where the thread is joined.
            if full.send((batch, mem::take(&mut told))).is_err() {
                return ControlFlow::Break(());
            }
            under_way += 1;
            if filled == Filled::End {
                break;
            }
            self.tell(filled)?;
        }
        drop(full);
        self.report()?;
        done.iter().try_for_each(|(over, _)| self.hand_on(over.iter()))
    }

    fn tell(&mut self, filled: Filled) -> ControlFlow<()> {
        let read = self.reader.packets();
        if filled == Filled::Interrupted || read - self.told >= PROGRESS_EVERY {
            self.told = read;
            return self.report();
        }
        ControlFlow::Continue(())
    }

    fn report(&mut self) -> ControlFlow<()> {
        let (read, size) = self.reader.progress();
        self.follower.progress(read, size)
    }

    fn note(&mut self, table: &Table) {
        *self.next_id = table.next_id();
        let Some(status) = self.set.first().and_then(|first| self.reader.statuses.get_mut(*first)) else { return };
        if table.let_go() > 0 {
            let message = format!(
                "{} flows left before they ended: too many were open at once, or they were silent for too long; what came later counts as a flow of its own",
                table.let_go()
            );
            status.warn("flow-limit", table.let_go(), message);
        }
        let forgotten = table.forgotten();
        if forgotten > 0 {
            let message = format!(
                "{forgotten} frames were forgotten before they were acknowledged: too much was in flight at once; they give no round trip"
            );
            status.warn("flight-limit", forgotten, message);
        }
    }

    /// Judges flows that are over and hands on the rows of those that are selected.
    fn hand_on(&mut self, mut over: impl ExactSizeIterator<Item: Borrow<Over>>) -> ControlFlow<()> {
        while over.len() > 0 {
            let mut rows: Vec<FlowRow> = Vec::with_capacity(over.len().min(TOGETHER));
            over.by_ref().take(TOGETHER).for_each(|over| self.judge(over.borrow(), &mut rows));
            for row in rows {
                self.reader.statuses[row.capture as usize].trust.add(&row);
                self.follower.flow(row)?;
            }
        }
        ControlFlow::Continue(())
    }

    /// Adds the flow's row, if the flow is selected. A row takes kilobytes and is filled in where it lies.
    fn judge(&self, over: &Over, rows: &mut Vec<FlowRow>) {
        let Over { id, capture, at_end, goes_on, flow } = over;
        let ends = [flow.connection().client, flow.connection().server];
        let RunOptions { filter, limits, wanted, names, .. } = self.options;
        if !filter.wants(*id, ends) {
            return;
        }
        rows.push(flow_row(flow, *id, *capture, limits, *wanted));
        if let Some(row) = rows.last_mut() {
            (row.at_end, row.goes_on) = (*at_end, *goes_on);
            if let Some(names) = names {
                row.anonymise(names);
            }
        }
    }
}

/// Follows the flows of each batch and hands on those that are over; at the end hands on the others.
fn follow(table: &mut Table, to_do: &Receiver<Work>, back: &SyncSender<Done>) {
    let mut done = Vec::new();
    for (mut batch, told) in to_do {
        drop(told);
        table.takes(&batch, &mut done);
        batch.clear();
        let over = done.drain(..).map(Ended::over).collect();
        if back.send((over, Some(batch))).is_err() {
            return;
        }
    }
    // One at a time: a flow open at the end may be costly to finish.
    for over in table.drain() {
        if back.send((vec![over], None)).is_err() {
            break;
        }
    }
}
