//! The model: one connection, two hosts, a path, played event by event. It knows no clock but its own and draws no lots.

mod ack;
mod board;
mod host;
mod receive;
mod repair;
mod send;
mod timer;
mod write;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use self::host::{FIRST, Host};
pub use self::write::WRITTEN_AHEAD;
use super::setup::{Loss, Setup};
use crate::sender::timers::INITIAL_RTO;
use crate::time::Nanos;

/// Events after which one replay is given up: a flow that needs more is longer than what is kept of one.
const MOST_EVENTS: u64 = 40_000_000;

/// What travels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Packet {
    start: i64,
    bytes: i64,
    ack: i64,
    edge: i64,
    /// The range around what arrived last, where holes are left below it.
    sack: Option<(i64, i64)>,
}

/// What happens next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Event {
    /// The client is established.
    Open,
    /// Its application writes.
    Write(usize),
    /// A packet reaches it.
    Arrive(usize, Packet),
    /// All that reached it at this moment is there: it acknowledges or not.
    Settle(usize),
    /// Its delayed acknowledgement is due, unless another went.
    DelayedAck(usize, u32),
    /// Its retransmission or probe timer, unless set anew.
    Timer(usize, u32),
    /// Its reader has made room.
    Room(usize, i64),
    /// Its reader, which is behind, has read some more.
    Read(usize),
    /// Its writer, blocked until now, runs.
    Wake(usize),
    /// It may send by its pace.
    Paced(usize),
}

/// What a replay came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Played {
    /// From the client's SYN (or first write, on a connection in use) to the arrival of the last byte of either end.
    pub transfer: Nanos,
    /// How long each exchange took for the client.
    pub exchanges: Vec<Nanos>,
    /// What was lost, and sent again, and how often a timer ran out: for whoever doubts it.
    pub sent_again: u64,
    /// Events that it took.
    pub events: u64,
}

/// The world.
pub(super) struct World<'a> {
    setup: &'a Setup,
    now: Nanos,
    queue: BinaryHeap<Reverse<(Nanos, u64, Event)>>,
    order: u64,
    /// When each end's data has passed the narrowest point.
    busy_until: [Nanos; 2],
    losses: [Vec<Loss>; 2],
}

impl World<'_> {
    fn after(&mut self, span: Nanos, event: Event) {
        self.order += 1;
        self.queue.push(Reverse((self.now + span, self.order, event)));
    }

    /// A packet of `from` leaves.
    fn carry(&mut self, from: usize, packet: Packet) {
        let one_way = Nanos(self.setup.rtt.0 / 2);
        let mut wait = Nanos::ZERO;
        if let Some(rate) = self.setup.ends[from].rate.filter(|_| packet.bytes > 0) {
            let begin = self.busy_until[from].max(self.now);
            self.busy_until[from] = begin + Nanos((packet.bytes as f64 / rate * 1e9) as i64);
            wait = self.busy_until[from] - self.now;
        }
        if packet.bytes == 0 || !self.loses(from, &packet) {
            self.after(one_way + wait, Event::Arrive(1 - from, packet));
        }
    }

    fn loses(&mut self, from: usize, packet: &Packet) -> bool {
        let losses = &mut self.losses[from];
        let first = losses.partition_point(|loss| loss.at < packet.start);
        let hit = losses[first..].iter_mut().take_while(|loss| loss.at < packet.start + packet.bytes);
        let mut lost = false;
        for loss in hit.filter(|loss| loss.times > 0) {
            loss.times -= 1;
            lost = true;
        }
        lost
    }
}

/// Plays the connection to its end; `None` where it never ends.
pub fn play(setup: &Setup) -> Option<Played> {
    let mut hosts = [0, 1].map(|end| Host::new(setup, end));
    let first = run(setup, &mut hosts)?;
    let Some(reuse) = setup.reuse else { return Some(first) };
    let mut hosts = hosts.map(|host| host.again(setup, reuse));
    run(setup, &mut hosts)
}

fn run(setup: &Setup, hosts: &mut [Host; 2]) -> Option<Played> {
    let losses = [0, 1].map(|end| setup.ends[end].losses.clone());
    let mut world =
        World { setup, now: Nanos::ZERO, queue: BinaryHeap::new(), order: 0, busy_until: [Nanos::ZERO; 2], losses };
    open(&mut world, hosts);
    // What each end will have heard: its peer's data, added up once.
    let all = [1, 0].map(|peer: usize| FIRST + setup.ends[peer].bytes());
    let complete = |hosts: &[Host; 2]| hosts.iter().zip(all).all(|(host, all)| host.has_heard(all));
    let mut events = 0;
    while let Some(Reverse((time, _, event))) = world.queue.pop() {
        world.now = time;
        events += 1;
        if events > MOST_EVENTS {
            return None;
        }
        happens(event, hosts, &mut world);
        // What is used again has heard the last acknowledgements too.
        if setup.reuse.is_none() && complete(hosts) {
            break;
        }
    }
    complete(hosts).then(|| outcome(setup, hosts, events))
}

fn open(world: &mut World<'_>, hosts: &[Host; 2]) {
    if hosts[0].is_used() {
        world.after(Nanos::ZERO, Event::Open);
        return;
    }
    let repeated = (0..world.setup.lost_handshakes.min(6)).map(|attempt| INITIAL_RTO.times(1 << attempt));
    let repeated = repeated.fold(Nanos::ZERO, |sum, timeout| sum + timeout);
    world.after(repeated + world.setup.rtt, Event::Open);
}

/// The client heard the SYN-ACK, and with it the server's window; its ACK tells the server its own.
fn greets(hosts: &mut [Host; 2], world: &mut World<'_>) {
    let [client, server] = hosts;
    server.announce(world);
    client.announce(world);
    client.is_told(server.own_edge);
    if client.is_used() {
        server.is_told(client.own_edge);
        server.opens(world);
    } else {
        client.acknowledges(world);
    }
    client.opens(world);
}

fn happens(event: Event, hosts: &mut [Host; 2], world: &mut World<'_>) {
    match event {
        Event::Open => greets(hosts, world),
        Event::Write(end) => hosts[end].writes(world),
        Event::Arrive(end, packet) => hosts[end].hears(&packet, world),
        Event::Settle(end) => hosts[end].settles(world),
        Event::DelayedAck(end, turn) => hosts[end].delayed(turn, world),
        Event::Timer(end, turn) => hosts[end].times_out(turn, world),
        Event::Room(end, edge) => hosts[end].makes_room(edge, world),
        Event::Read(end) => hosts[end].has_read(world),
        Event::Wake(end) => hosts[end].wakes(world),
        Event::Paced(end) => hosts[end].paced(world),
    }
}

fn outcome(setup: &Setup, hosts: &[Host; 2], events: u64) -> Played {
    let transfer = hosts[0].heard_last().max(hosts[1].heard_last());
    let exchanges = setup.spans.iter().map(|span| {
        let begin = span.asked.map_or(Nanos::ZERO, |at| hosts[0].written_at(at));
        (hosts[0].heard_at(span.answered) - begin).or_zero()
    });
    let sent_again = hosts.iter().map(Host::sent_again).sum();
    Played { transfer, exchanges: exchanges.collect(), sent_again, events }
}

#[cfg(test)]
mod tests;
