//! The model: one connection, two hosts and a path, replayed event by event. It uses no clock but its own and no
//! randomness.

mod ack;
mod bbr;
mod bbr3;
mod board;
mod delivery;
mod dice;
mod growth;
mod host;
mod line;
mod measured;
mod receive;
mod repair;
mod send;
mod timer;
mod together;
mod write;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

pub(super) use self::dice::Dice;
pub use self::growth::NEXT_ROUND;
pub use self::host::CONVERSATION;
use self::host::{FIRST, Host};
use self::line::Line;
pub use self::together::{Member, Start, play_together};
pub use self::write::WRITTEN_AHEAD;
use super::progress::Progress;
use super::setup::{Loss, LostAcks, Setup};
use crate::flow::End;
use crate::time::Nanos;

/// Events after which one replay is given up: a flow that needs more is longer than the longest recorded one.
const MOST_EVENTS: u64 = 40_000_000;

/// Uses of a connection that are replayed before the one in question: its windows have grown by then.
const MOST_USES: u32 = 3;

/// A packet on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Packet {
    start: i64,
    bytes: i64,
    ack: i64,
    edge: i64,
    /// The range around the last arrival, where holes remain below it.
    sack: Option<(i64, i64)>,
    /// Data came that had come before (RFC 2883).
    twice: bool,
}

/// An event of the replay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Event {
    /// The client's SYN leaves.
    Call,
    /// The SYN has reached the server, which answers.
    Answer,
    /// The client is established.
    Open,
    /// The application writes.
    Write(End),
    /// A packet reaches the host.
    Arrive(End, Packet),
    /// All packets of this moment have reached the host: it acknowledges them or not.
    Settle(End),
    /// The delayed acknowledgement is due, unless another one was sent.
    DelayedAck(End, u32),
    /// The retransmission or probe timer expires, unless it was reset.
    Timer(End, u32),
    /// The reader has made room.
    Room(End, i64),
    /// The lagging reader has read some more.
    Read(End),
    /// The blocked writer runs again.
    Wake(End),
    /// Pacing, or the end of its own wait, permits the host's next transmission.
    Paced(End),
}

/// Result of a replay.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Played {
    /// Time from the client's SYN (or first write, on a connection in use) to the arrival of the last byte of either
    /// end.
    pub transfer: Nanos,
    /// Duration of each exchange for the client.
    pub exchanges: Vec<Nanos>,
    /// Progress of the data that either end received.
    pub progress: [Progress; 2],
    /// Waits of both hosts themselves after all of their data had been acknowledged.
    pub late: Nanos,
    /// A writer stopped with nothing unsent.
    pub whole_frames: bool,
    /// Losses, retransmissions and timeouts, as a check of the result.
    pub sent_again: u64,
    /// Events of the replay.
    pub events: u64,
}

/// State of the replay outside the hosts: clock, queue of events, path.
pub(super) struct World<'a> {
    setup: &'a Setup,
    now: Nanos,
    queue: BinaryHeap<Reverse<(Nanos, u64, Event)>>,
    order: u64,
    line: &'a Line,
    /// Start of the connection by the line's clock.
    begin: Nanos,
    /// Its client is where other connections on the line have their servers.
    flipped: bool,
    losses: [Vec<Loss>; 2],
    lost_acks: [Vec<LostAcks>; 2],
    dice: Dice,
}

impl<'a> World<'a> {
    fn new(setup: &'a Setup, line: &'a Line) -> World<'a> {
        World {
            setup,
            now: Nanos::ZERO,
            queue: BinaryHeap::new(),
            order: 0,
            line,
            begin: Nanos::ZERO,
            flipped: false,
            losses: End::BOTH.map(|end| setup.ends[end].losses.clone()),
            lost_acks: End::BOTH.map(|end| setup.ends[end].lost_acks.clone()),
            dice: Dice::new(setup.seed),
        }
    }

    fn after(&mut self, span: Nanos, event: Event) {
        self.order += 1;
        self.queue.push(Reverse((self.now + span, self.order, event)));
    }

    /// Sends a packet of `from`.
    fn carry(&mut self, from: End, packet: Packet) {
        let one_way = Nanos(self.setup.rtt.0 / 2);
        let now = self.begin + self.now;
        let Some(wait) = self.line.carries(self.way(from), &self.setup.ends[from], &packet, now) else { return };
        if !self.loses_ack(from, &packet) && (packet.bytes == 0 || !self.loses(from, &packet)) {
            self.after(one_way + wait, Event::Arrive(from.peer(), packet));
        }
    }

    /// The end of the line at which this end is.
    fn way(&self, end: End) -> End {
        if self.flipped { end.peer() } else { end }
    }

    /// Time that a segment of the handshake waits behind others' data.
    fn backlog(&self, from: End) -> Nanos {
        self.line.backlog(self.way(from), self.begin + self.now)
    }

    fn loses(&mut self, from: End, packet: &Packet) -> bool {
        let losses = &mut self.losses[from];
        let first = losses.partition_point(|loss| loss.at < packet.start);
        let hit = losses[first..].iter_mut().take_while(|loss| loss.at < packet.start + packet.bytes);
        let mut lost = false;
        for loss in hit.filter(|loss| loss.times > 0) {
            loss.times -= 1;
            lost = true;
        }
        let share = self.setup.ends[from].loss_share;
        lost || share > 0.0 && self.dice.falls_below(share)
    }

    fn loses_ack(&mut self, from: End, packet: &Packet) -> bool {
        if packet.bytes > 0 {
            // It acknowledges too.
            self.lost_acks[from].iter_mut().filter(|lost| lost.from < packet.ack).for_each(|lost| lost.repeats = 0);
            return false;
        }
        let covers = |lost: &&mut LostAcks| lost.repeats > 0 && lost.from < packet.ack;
        let Some(lost) = self.lost_acks[from].iter_mut().find(covers) else { return false };
        lost.repeats -= u32::from(packet.twice);
        lost.repeats > 0
    }
}

/// Replays the connection to its end; `None` where it never ends.
pub fn play(setup: &Setup) -> Option<Played> {
    let mut hosts = End::BOTH.map(|end| Host::new(setup, end));
    let first = run(setup, &mut hosts)?;
    let Some(reuse) = setup.reuse else { return Some(first) };
    let mut last = first;
    for _ in 0..reuse.uses.clamp(1, MOST_USES) {
        hosts = hosts.map(|host| host.again(setup, reuse));
        last = run(setup, &mut hosts)?;
    }
    Some(last)
}

fn run(setup: &Setup, hosts: &mut [Host; 2]) -> Option<Played> {
    let line = Line::default();
    let mut world = World::new(setup, &line);
    open(&mut world, hosts);
    // The peer's data that each end will have received, summed once.
    let all = End::BOTH.map(|end| FIRST + setup.ends[end.peer()].bytes());
    let complete = |hosts: &[Host; 2]| hosts.iter().zip(all).all(|(host, all)| host.has_heard(all));
    let mut events = 0;
    while let Some(Reverse((time, _, event))) = world.queue.pop() {
        world.now = time;
        events += 1;
        if events > MOST_EVENTS {
            return None;
        }
        happens(event, hosts, &mut world);
        // A connection that is used again has received the last acknowledgements too.
        if setup.reuse.is_none() && complete(hosts) {
            break;
        }
    }
    complete(hosts).then(|| outcome(setup, hosts, events))
}

fn open(world: &mut World<'_>, hosts: &[Host; 2]) {
    if hosts[End::Client].is_used() {
        world.after(Nanos::ZERO, Event::Open);
        return;
    }
    world.after(Nanos::ZERO, Event::Call);
}

/// Sends the SYN, or the SYN-ACK, half a round trip each.
fn handshakes(event: Event, world: &mut World<'_>) {
    let Setup { rtt, opening, .. } = *world.setup;
    let half = Nanos(rtt.0 / 2);
    if event == Event::Call {
        world.after(world.backlog(End::Client) + half, Event::Answer);
    } else {
        world.after(world.backlog(End::Server) + opening + rtt - half, Event::Open);
    }
}

/// The client received the SYN-ACK and the server's window; its ACK announces its own window.
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
        Event::Call | Event::Answer => handshakes(event, world),
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
    let transfer = hosts[End::Client].heard_last().max(hosts[End::Server].heard_last());
    let exchanges = setup.spans.iter().map(|span| {
        let begin = span.asked.map_or(Nanos::ZERO, |at| hosts[End::Client].written_at(at));
        (hosts[End::Client].heard_at(span.answered) - begin).or_zero()
    });
    let sent_again = hosts.iter().map(Host::sent_again).sum();
    let progress = End::BOTH.map(|end| {
        let bytes = setup.ends[end.peer()].bytes();
        Progress::of(bytes, |offset| hosts[end].heard_at(offset))
    });
    let late = hosts.iter().fold(Nanos::ZERO, |sum, host| sum + host.late);
    let whole_frames = hosts.iter().any(|host| host.whole_frames);
    Played { transfer, exchanges: exchanges.collect(), progress, late, whole_frames, sent_again, events }
}

#[cfg(test)]
mod tests;
