//! Pairs two taps' connections into flows: finds the nearer end, aligns the clocks, then compares every packet.

use super::clock::{RelativeClock, Sighting, align, widest};
use super::crossing::cross;
use super::matching::{By, Match, matches};
use super::recovery::united;
use super::rows::{EndpointRow, PairRow, Pairing};
use super::tap::{Conversation, Tap};
use super::way::{Course, PacketRows};
use crate::results::End;

/// Events that are listed; the sums count all.
const EVENTS: usize = 100_000;

/// Compares two taps; if the second turns out to be nearer to the clients, they are exchanged.
pub(super) fn survey(first: &Tap, second: &Tap, same_clock: bool) -> Pairing {
    let (pairs, rewritten) = matches(first, second);
    let sights: Vec<Sight> = pairs.iter().map(|pair| Sight::of(first, second, *pair)).collect();
    let balance: i64 = sights.iter().map(|sight| sight.client_near.map_or(0, |first| if first { 1 } else { -1 })).sum();
    if balance >= 0 {
        return follow([first, second], &pairs, rewritten, sights, same_clock);
    }
    let (pairs, rewritten) = matches(second, first);
    let sights = pairs.iter().map(|pair| Sight::of(second, first, *pair)).collect();
    Pairing { swapped: true, ..follow([second, first], &pairs, rewritten, sights, same_clock) }
}

fn follow(taps: [&Tap; 2], pairs: &[Match], rewritten: u64, mut sights: Vec<Sight>, same_clock: bool) -> Pairing {
    let mut pairing = Pairing {
        swapped: false,
        clock: common_clock(&mut sights, same_clock),
        unmatched: taps.map(|tap| (tap.conversations.len() - pairs.len()) as u64),
        rewritten,
        left_out: taps.map(|tap| tap.left_out),
        events_dropped: 0,
        flows: Vec::with_capacity(pairs.len()),
        events: Vec::new(),
        delays: Vec::new(),
        recoveries: Vec::new(),
    };
    for (pair, sight) in pairs.iter().zip(&sights) {
        let row = describe(taps, *pair, sight, &mut pairing);
        pairing.flows.push(row);
    }
    pairing.events_dropped = pairing.events.len().saturating_sub(EVENTS) as u64;
    pairing.events.truncate(EVENTS);
    pairing.recoveries = united(std::mem::take(&mut pairing.recoveries));
    pairing
}

/// Sightings of a flow's packets that can be matched without a clock.
struct Sight {
    /// The client is nearer to the first tap; `None` where that is unknown.
    client_near: Option<bool>,
    /// Sightings of the client's packets, and of the server's, in the order of the second tap.
    ways: [Vec<Sighting>; 2],
}

impl Sight {
    fn of(first: &Tap, second: &Tap, pair: Match) -> Sight {
        let (one, other) = (&first.conversations[pair.at[0]], &second.conversations[pair.at[1]]);
        let ways = End::BOTH.map(|sender| {
            let (sent, seen) = (&one.ways[sender].passages, &other.ways[pair.theirs(sender)].passages);
            let crossing = cross(sent, seen, pair.shift[sender], &|_, _| Some(0));
            let sure = crossing.arrivals.into_iter().filter(|arrival| arrival.sure);
            let sightings = sure.map(|arrival| {
                let time = sent[arrival.sent].time;
                (time, seen[arrival.seen].time.saturating_sub(time))
            });
            let mut sightings: Vec<Sighting> = sightings.collect();
            sightings.sort_unstable();
            sightings
        });
        // A round trip from one tap to the other and back takes a positive time on any clock; in the wrong order it
        // would be negative.
        let client_near = match (widest(&ways[0], &ways[1]), widest(&ways[1], &ways[0])) {
            (Some(one), Some(other)) if one != other => Some(one > other),
            _ => None,
        };
        Sight { client_near, ways }
    }

    fn is_turned(&self) -> bool {
        self.client_near == Some(false)
    }
}

/// One alignment for all flows: two taps have two clocks, however many flows pass them.
fn common_clock(sights: &mut [Sight], same_clock: bool) -> RelativeClock {
    let (mut there, mut back) = (Vec::new(), Vec::new());
    for sight in sights {
        let [client, server] = std::mem::take(&mut sight.ways);
        let (one, other) = if sight.is_turned() { (server, client) } else { (client, server) };
        there.extend(one);
        back.extend(other);
    }
    there.sort_unstable();
    back.sort_unstable();
    align(&there, &back, same_clock)
}

fn describe(taps: [&Tap; 2], pair: Match, sight: &Sight, pairing: &mut Pairing) -> PairRow {
    let ends = [0, 1].map(|tap| &taps[tap].conversations[pair.at[tap]]);
    let id = pairing.flows.len() as u64;
    let mut way = |sender: End| {
        let sides = [&ends[0].ways[sender], &ends[1].ways[pair.theirs(sender)]];
        let answers = [&ends[0].ways[sender.peer()], &ends[1].ways[pair.theirs(sender.peer())]];
        let from_first = (sender == End::Client) != sight.is_turned();
        let (sent, seen) = if from_first { (0, 1) } else { (1, 0) };
        let course = Course {
            flow: id,
            sender,
            sent: sides[sent],
            seen: sides[seen],
            shift: if from_first { pair.shift[sender] } else { -pair.shift[sender] },
            from_first,
            clock: &pairing.clock,
            spans: [taps[sent].span, taps[seen].span],
            acked: answers[seen].passages.iter().filter_map(|passage| passage.acked).max(),
        };
        let mut found = PacketRows {
            events: &mut pairing.events,
            delays: &mut pairing.delays,
            recoveries: &mut pairing.recoveries,
        };
        course.describe(&mut found)
    };
    let (client_sent, server_sent) = (way(End::Client), way(End::Server));
    let spans = ends.map(Conversation::span);
    let end = |end: End| [EndpointRow::from(ends[0].ends[end]), EndpointRow::from(ends[1].ends[pair.theirs(end)])];
    PairRow {
        id,
        client: end(End::Client),
        server: end(End::Server),
        matched_by: match pair.by {
            By::InitialNumbers => "initial-numbers",
            By::Packets => "packets",
        },
        opened_from_server_side: sight.is_turned(),
        start_ns: spans.map(|span| span.0),
        end_ns: spans.map(|span| span.1),
        packets: ends.map(|end| end.ways.iter().map(|way| way.passages.len() as u64).sum()),
        client_sent,
        server_sent,
    }
}
