//! Runs one stream through the engine: this thread reads and outputs; others follow and judge the flows, where there are
//! other processors.

use std::num::NonZero;
use std::ops::ControlFlow;
use std::{mem, thread};

use super::batch::Batch;
use super::deal::{BATCHES, Dealer};
use super::followers::judging::Judging;
use super::followers::{Again, Followers, InOrder, More};
use super::reader::{Filled, Reader};
use super::shards::{Numbers, Shards};
use super::stream::{StreamState, put_down};
use super::table::entry::{Ended, Over};
use super::table::spare::{Spare, TOGETHER};
use super::turns::{Turns, Way};
use super::{Follower, RunOptions};
use crate::results::FlowRow;

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
    /// Memory for the rows of flows that are judged together.
    rows: Vec<FlowRow>,
}

/// End of a run through a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Read {
    /// To its end.
    ToEnd,
    /// To where it is serialised.
    ToPutDown,
}

impl<'a> Pass<'a> {
    pub(super) fn new(
        options: &'a RunOptions,
        follower: &'a mut dyn Follower,
        set: &'a [usize],
        next_id: &'a mut u64,
        reader: Reader<'a>,
    ) -> Pass<'a> {
        Pass { options, follower, set, next_id, reader, told: 0, rows: Vec::with_capacity(TOGETHER) }
    }

    /// Reads the stream to its end, or until the follower breaks.
    ///
    /// `stream` is the serialised stream before it; where it is serialised again, `paths` are the names of all
    /// captures.
    pub(super) fn read(mut self, paths: &[String], stream: Option<StreamState>) -> ControlFlow<()> {
        let processors = self.options.threads.map_or_else(thread::available_parallelism, Ok);
        let threads = processors.map_or(1, NonZero::get);
        let (mut shards, mut again) = (self.shards(), None);
        if let Some(stream) = stream {
            (shards, self.reader) = stream.goes_on(shards, self.reader);
        } else if threads == 2 {
            let (options, first) = (self.options, *self.next_id);
            again = self.reader.opens_twice().map(|(paths, lane)| Again { options, paths, lane, first });
        }
        let flow = if threads == 1 { self.alone(&mut shards) } else { self.beside(&mut shards, threads, again) };
        if let Some(stream) = put_down(paths, &mut self.reader, &mut shards) {
            self.follower.put_down(stream);
        }
        self.set.iter().for_each(|number| self.reader.statuses[*number].doubt());
        flow
    }

    fn alone(&mut self, shards: &mut Shards) -> ControlFlow<()> {
        let (mut batch, mut done) = (Batch::default(), Vec::new());
        loop {
            let filled = self.reader.fill(&mut batch);
            shards.takes(&mut batch, &mut done);
            batch.clear();
            self.hand_on_all(&mut done, false, shards)?;
            if filled == Filled::End {
                break;
            }
            self.tell(filled)?;
        }
        self.report()?;
        let (mut open, goes_on) = (shards.ends(), shards.goes_on());
        self.note(shards);
        self.hand_on_all(&mut open, goes_on, shards)
    }

    fn shards(&self) -> Shards {
        let first = self.set.first().map_or(0, |first| *first as u32);
        let sets = &self.options.sets;
        Shards::new(*self.next_id, first, sets.new_from as u32, sets.most_past)
    }

    /// Reads while other threads follow the flows, until the stream is serialised, which takes all flows at once.
    fn beside(&mut self, shards: &mut Shards, threads: usize, again: Option<Again<'a>>) -> ControlFlow<()> {
        let Shards { tables, dealer, numbers, .. } = shards;
        let judging = Judging::by(self.options);
        let read = thread::scope(|scope| {
            let mut followers = match again {
                Some(again) => Followers::start_reading(scope, tables, judging, again),
                None => Followers::start(scope, tables, judging, threads),
            };
            let read = self.feed(&mut followers, dealer, numbers);
            followers.finish();
            read
        })?;
        if read == Read::ToEnd {
            self.note(shards);
            return ControlFlow::Continue(());
        }
        let mut done = Vec::new();
        shards.puts_down(&mut done);
        self.hand_on_all(&mut done, false, shards)?;
        self.alone(shards)
    }

    /// Reads, and hands on what the followers have done.
    fn feed(
        &mut self,
        followers: &mut Followers<'_, '_>,
        dealer: &mut Dealer,
        numbers: &mut Numbers,
    ) -> ControlFlow<(), Read> {
        let (mut empty, mut turns): (Vec<Batch>, _) = (Vec::new(), Turns::new(self.reader.packets()));
        let read = loop {
            self.hand_on_done(followers, dealer, numbers, &mut empty, BATCHES - 1)?;
            let mut batch = empty.pop().unwrap_or_default();
            batch.clear();
            let filled = self.reader.fill(&mut batch);
            batch.deal(dealer);
            let put_down = batch.put_down;
            followers.take(batch)?;
            if put_down || filled == Filled::End {
                break if put_down { Read::ToPutDown } else { Read::ToEnd };
            }
            self.tell(filled)?;
            if !followers.reads() && turns.is_over() {
                self.hand_on_done(followers, dealer, numbers, &mut empty, 0)?;
                match turns.next(self.reader.packets()) {
                    Way::Alone => followers.rest()?,
                    Way::Beside => followers.work(),
                }
            }
        };
        self.hand_on_done(followers, dealer, numbers, &mut empty, 0)?;
        if followers.differs()
            && let Some(capture) = self.set.first()
        {
            self.reader.differs_again(*capture);
        }
        if read == Read::ToEnd {
            self.report()?;
            self.hand_on_rows(followers.ends(dealer.latest()), numbers)?;
        }
        ControlFlow::Continue(read)
    }

    /// Hands on what the followers have done, and waits until `most` batches at most are under way; the others are `empty`.
    fn hand_on_done(
        &mut self,
        followers: &mut Followers<'_, '_>,
        dealer: &mut Dealer,
        numbers: &mut Numbers,
        empty: &mut Vec<Batch>,
        most: usize,
    ) -> ControlFlow<()> {
        loop {
            let waits = followers.under_way() > most;
            let Some((batch, over)) = followers.done(waits, dealer, numbers) else {
                // A follower is gone only after a panic, which is reported where its thread is joined.
                return if waits { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
            };
            empty.push(batch);
            let rows = self.hand_on_rows(over, numbers)?;
            followers.takes_rows(rows);
        }
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

    fn note(&mut self, shards: &Shards) {
        *self.next_id = shards.numbers.next();
        let Some(status) = self.set.first().and_then(|first| self.reader.statuses.get_mut(*first)) else { return };
        if shards.let_go() > 0 {
            let message = format!(
                "{} flows left before they ended: too many were open at once, or they were silent for too long; what came later counts as a flow of its own",
                shards.let_go()
            );
            status.warn("flow-limit", shards.let_go(), message);
        }
        let forgotten = shards.forgotten();
        if forgotten > 0 {
            let message = format!(
                "{forgotten} frames were forgotten before they were acknowledged: too much was in flight at once; they give no round trip"
            );
            status.warn("flight-limit", forgotten, message);
        }
    }

    /// Finishes flows and hands on the rows of those that are selected. For `goes_on` see [`Over::goes_on`].
    fn hand_on_all(&mut self, ended: &mut Vec<Ended>, goes_on: bool, shards: &mut Shards) -> ControlFlow<()> {
        let mut some = Vec::with_capacity(TOGETHER);
        for ended in Ended::together(ended) {
            Ended::all_over(ended, goes_on, &mut shards.spare, &mut some);
            self.hand_on(&some, &mut shards.spare)?;
            some.drain(..).for_each(|over| shards.spare.takes(over.flow));
        }
        ended.clear();
        ControlFlow::Continue(())
    }

    /// Judges flows that are over and hands on the rows of those that are selected.
    fn hand_on(&mut self, over: &[Over], spare: &mut Spare) -> ControlFlow<()> {
        let judging = Judging::by(self.options);
        let mut rows = mem::take(&mut self.rows);
        for over in over.iter().filter(|over| self.options.filter.wants_id(over.id)) {
            judging.judge(over, &mut rows, &mut spare.lists);
        }
        for row in &mut rows {
            self.names(row);
            self.counts(row);
            self.follower.flow(row)?;
        }
        spare.takes_rows(&mut rows);
        self.rows = rows;
        ControlFlow::Continue(())
    }

    /// Hands on the rows that followers made, of flows that are selected; returns them for their memory.
    fn hand_on_rows(
        &mut self,
        mut over: InOrder<impl More>,
        numbers: &mut Numbers,
    ) -> ControlFlow<(), Vec<Vec<FlowRow>>> {
        while let Some((opened, row)) = over.next() {
            let id = numbers.ended(opened);
            if let Some(row) = row
                && self.options.filter.wants_id(id)
            {
                row.id = id;
                self.names(row);
                self.counts(row);
                self.follower.flow(row)?;
            }
        }
        ControlFlow::Continue(over.into_rows())
    }

    /// Fills in the name of a row's interface, which may tell whose host it was.
    fn names(&self, row: &mut FlowRow) {
        if self.options.names.is_none() {
            row.interface = self.reader.interfaces.text(row.interface_number).cloned();
        }
    }

    /// Counts a row for the trust in its capture.
    fn counts(&mut self, row: &FlowRow) {
        self.reader.statuses[row.capture as usize].trust.add(row);
    }
}
