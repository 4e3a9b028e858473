//! Several connections on one line, replayed with one clock.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::host::{FIRST, Host};
use super::line::Line;
use super::{MOST_EVENTS, Played, World, happens, open, outcome};
use crate::flow::End;
use crate::replay::setup::Setup;
use crate::time::Nanos;

/// Start of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// At this time.
    At(Nanos),
    /// This long after another one, by its index, had brought all of its data.
    After(usize, Nanos),
}

/// One of several connections.
#[derive(Clone, Debug)]
pub struct Member {
    /// Its setup; `rate` and `queue` of its ends are the line's.
    pub setup: Setup,
    /// Its start.
    pub start: Start,
    /// Its client is where the other connections have their servers.
    pub flipped: bool,
}

struct Running<'a> {
    world: World<'a>,
    hosts: [Host; 2],
    /// Offsets of the peer's data that each end will have received.
    all: [i64; 2],
    events: u64,
    over: bool,
}

impl Running<'_> {
    fn is_complete(&self) -> bool {
        self.hosts.iter().zip(self.all).all(|(host, all)| host.has_heard(all))
    }
}

/// Replays connections that share a line, each to its end; `None` where one never ends.
pub fn play_together(members: &[Member]) -> Option<Vec<Played>> {
    let line = Line::shared(members.first()?.setup.seed);
    let mut running: Vec<Running> = members.iter().map(|member| Running::new(member, &line)).collect();
    let mut next = BinaryHeap::new();
    let mut waiting: Vec<Vec<(usize, Nanos)>> = vec![Vec::new(); members.len()];
    for (at, member) in members.iter().enumerate() {
        match member.start {
            Start::At(time) => starts(&mut running, at, time, &mut next),
            Start::After(other, span) => waiting.get_mut(other)?.push((at, span)),
        }
    }
    let mut events = 0;
    while let Some(Reverse((time, at))) = next.pop() {
        let one = &mut running[at];
        let Some(Reverse((own, _, event))) = one.world.queue.pop() else { continue };
        one.world.now = own;
        (one.events, events) = (one.events + 1, events + 1);
        if events > MOST_EVENTS {
            return None;
        }
        happens(event, &mut one.hosts, &mut one.world);
        if one.is_complete() {
            one.over = true;
            for (follower, span) in std::mem::take(&mut waiting[at]) {
                starts(&mut running, follower, time + span, &mut next);
            }
        } else {
            awaits(one, at, &mut next);
        }
    }
    let ended = running
        .iter()
        .zip(members)
        .map(|(one, member)| one.over.then(|| outcome(&member.setup, &one.hosts, one.events)));
    ended.collect()
}

type Next = BinaryHeap<Reverse<(Nanos, usize)>>;

fn starts(running: &mut [Running], at: usize, time: Nanos, next: &mut Next) {
    let one = &mut running[at];
    one.world.begin = time;
    open(&mut one.world, &one.hosts);
    awaits(one, at, next);
}

fn awaits(one: &Running, at: usize, next: &mut Next) {
    if let Some(Reverse((own, ..))) = one.world.queue.peek() {
        next.push(Reverse((one.world.begin + *own, at)));
    }
}

impl<'a> Running<'a> {
    fn new(member: &'a Member, line: &'a Line) -> Running<'a> {
        let setup = &member.setup;
        Running {
            world: World { flipped: member.flipped, ..World::new(setup, line) },
            hosts: End::BOTH.map(|end| Host::new(setup, end)),
            all: End::BOTH.map(|end| FIRST + setup.ends[end.peer()].bytes()),
            events: 0,
            over: false,
        }
    }
}
