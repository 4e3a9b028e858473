//! Runs one stream through the engine: this thread reads and outputs; another follows the flows, where there is another
//! processor.

use std::ops::ControlFlow;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

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

/// Result of the thread that follows flows: the rows of finished flows, and the batch to be filled again. That thread
/// makes the rows too, so that the thread which allocated a flow's memory also frees it.
type Done = (Vec<FlowRow>, Option<Batch>);

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
        let judge = Judge { options: self.options };
        loop {
            let filled = self.reader.fill(&mut batch);
            table.takes(&batch, &mut done);
            batch.clear();
            let mut ended = done.drain(..);
            while let Some(rows) = judge.rows(&mut ended) {
                self.hand_on(rows.into_iter())?;
            }
            if filled == Filled::End {
                break;
            }
            self.tell(filled)?;
        }
        self.report()?;
        let open = table.drain();
        self.note(table);
        self.hand_on(open.filter_map(|over| judge.row(over)))
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
            let judge = Judge { options: self.options };
            let flows = scope.spawn(move || {
                follow(table, &judge, &to_do, &back);
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

    fn feed(&mut self, full: SyncSender<Batch>, done: &Receiver<Done>) -> ControlFlow<()> {
        let mut empty: Vec<Batch> = Vec::new();
        let mut under_way = 0;
        loop {
            while let Some((flows, batch)) = if under_way == BATCHES { done.recv().ok() } else { done.try_recv().ok() }
            {
                under_way -= 1;
                empty.extend(batch);
                self.hand_on(flows.into_iter())?;
            }
            let mut batch = empty.pop().unwrap_or_default();
            let filled = self.reader.fill(&mut batch);
            // The receiver is gone only after a panic, which is reported where the thread is joined.
            if full.send(batch).is_err() {
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
        done.iter().try_for_each(|(flows, _)| self.hand_on(flows.into_iter()))
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

    fn hand_on(&mut self, mut rows: impl Iterator<Item = FlowRow>) -> ControlFlow<()> {
        rows.try_for_each(|row| {
            self.reader.statuses[row.capture as usize].trust.add(&row);
            self.follower.flow(row)
        })
    }
}

/// Judges finished flows.
struct Judge<'a> {
    options: &'a RunOptions,
}

/// Flows that pass through a stage together, so that its code is loaded once for all of them.
const TOGETHER: usize = 32;

impl Judge<'_> {
    /// Rows of the next selected flows that are over; `None` where there are no more.
    fn rows(&self, ended: &mut impl Iterator<Item = Ended>) -> Option<Vec<FlowRow>> {
        let over: Vec<Over> = ended.take(TOGETHER).map(Ended::over).collect();
        (!over.is_empty()).then(|| over.into_iter().filter_map(|over| self.row(over)).collect())
    }

    /// The flow's row, if the flow is selected.
    fn row(&self, over: Over) -> Option<FlowRow> {
        let Over { id, capture, at_end, goes_on, flow } = over;
        let ends = [flow.connection().client, flow.connection().server];
        let RunOptions { filter, limits, wanted, names, .. } = self.options;
        filter.wants(id, ends).then(|| {
            let mut row = flow_row(&flow, id, capture, limits, *wanted);
            (row.at_end, row.goes_on) = (at_end, goes_on);
            if let Some(names) = names {
                row.anonymise(names);
            }
            row
        })
    }
}

/// Follows the flows of each batch and hands on those that are over; at the end hands on the others.
fn follow(table: &mut Table, judge: &Judge<'_>, to_do: &Receiver<Batch>, back: &SyncSender<Done>) {
    let mut done = Vec::new();
    for mut batch in to_do {
        table.takes(&batch, &mut done);
        batch.clear();
        let mut ended = done.drain(..);
        let rows = std::iter::from_fn(|| judge.rows(&mut ended)).flatten().collect();
        if back.send((rows, Some(batch))).is_err() {
            return;
        }
    }
    // One at a time: a flow open at the end may be costly to finish.
    for row in table.drain().filter_map(|over| judge.row(over)) {
        if back.send((vec![row], None)).is_err() {
            break;
        }
    }
}
