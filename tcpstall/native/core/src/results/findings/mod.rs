//! Findings: groups the same cause at the same service over many flows into one finding, as flows end.
//!
//! Memory is bounded, because a stranger can name as many services as there are addresses and ports: beyond a limit the
//! findings with the least time are grouped by host, and those of hosts into one group.

mod accept;
mod application;
mod asking;
mod beats;
mod broken;
mod events;
mod given_up;
mod idle;
mod kind;
mod news;
mod parts;
mod queues;
mod rate;
mod relay;
mod room;
mod row;
mod share;
mod spread;
mod tells;
mod tls;
mod upstream;
mod weight;

pub use self::kind::FindingKind;
pub(super) use self::parts::{columns, parts};
pub use self::row::{FindingRow, WaitedFor};

use std::cmp::Reverse;

use hashbrown::HashMap;

use self::queues::Queues;
pub(super) use self::rate::rate_set_by;
use self::row::{Example, place};
use self::share::{Share, shares};
use self::spread::Spread;
use self::upstream::Upstreams;
use self::weight::weight;
use super::room::Room;
use super::rows::FlowRow;
use super::rows::losses::LossesRow;
use crate::flow::End;
use crate::time::Nanos;
use crate::wire::{Address, Endpoint};

/// Details of a cause that are listed separately.
const DETAILS: usize = 16;

/// Findings of which it is looked up what they waited for, and behind which queue.
const LOOKED_UP: usize = 64;

/// Key of a finding: the kind, the end that it is about, and the service; where there is no room without the port, then
/// without the address.
type Key = (FindingKind, End, Option<Address>, Option<u16>);

/// Time of a flow in which somebody waited, and time in which nobody did: pauses of its applications, and small messages.
pub fn waited_and_idle(row: &FlowRow) -> (Nanos, Nanos) {
    let shares = shares(row);
    let of = |is: fn(FindingKind) -> bool| {
        shares.iter().filter(|share| is(share.kind)).fold(Nanos::ZERO, |sum, share| sum + share.time)
    };
    (of(FindingKind::is_a_wait), of(|kind| matches!(kind, FindingKind::Idle | FindingKind::Messages)))
}

/// Findings of the flows that have ended.
#[derive(Clone, Default)]
pub struct Findings {
    room: Room,
    found: HashMap<Key, Finding>,
    /// Those of single services.
    services: usize,
    upstreams: Upstreams,
    queues: Queues,
}

/// Client addresses of a finding.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Clients {
    #[default]
    None,
    One(Address),
    Several,
}

#[derive(Clone, Default)]
struct Finding {
    flows: u64,
    waits: u64,
    time: i128,
    recoverable: i128,
    /// Times of flows, or for a slow server of its answers.
    spread: Spread,
    /// Sum of confidence times length, and sum of lengths.
    sure: f64,
    weight: f64,
    details: Vec<(&'static str, i128)>,
    clients: Clients,
    first: Nanos,
    last: Nanos,
    attempts: u64,
    most_attempts: u32,
    exchanges: u64,
    /// Payload of the end that the finding is about.
    bytes: u64,
    retransmitted: u64,
    segments: u64,
    reordered: u64,
    needless: u64,
    losses: LossesRow,
    /// Sum of the flows' durations.
    lasted: i128,
    /// Time of the waits of TLS's handshake.
    tls_handshake: i128,
    /// Flows that a reset ended in TLS's handshake, and later without any of an answer that was due.
    reset_in_tls: u64,
    reset_unanswered: u64,
    example: Option<Box<Example>>,
}

impl Findings {
    /// Findings that are kept within that room.
    pub fn within(room: Room) -> Findings {
        Findings { room, ..Findings::default() }
    }

    /// Findings of these flows.
    pub fn of(rows: &[FlowRow]) -> Findings {
        let mut findings = Findings::default();
        rows.iter().for_each(|row| findings.add(row));
        findings
    }

    /// Takes in a flow.
    pub fn add(&mut self, row: &FlowRow) {
        let server = row.server;
        let shares = shares(row);
        self.upstreams.add(row, &shares);
        self.queues.add(row);
        for share in &shares {
            let key = (share.kind, share.side, Some(server.address), Some(server.port));
            if let Some(known) = self.found.get_mut(&key) {
                known.add(row, share);
                continue;
            }
            self.makes_room();
            self.services += 1;
            self.found.entry(key).or_default().add(row, share);
        }
    }

    /// The findings, ordered by recoverable time, then by lost time; ties have a fixed order.
    pub fn rows(self) -> Vec<FindingRow> {
        let mut rows: Vec<FindingRow> = self.found.into_iter().map(|(key, finding)| finding.into_row(key)).collect();
        rows.sort_by_key(place);
        for row in rows.iter_mut().filter(|row| Queues::lengthen(row.kind)).take(LOOKED_UP) {
            row.behind = self.queues.behind(row);
        }
        for row in rows.iter_mut().filter(|row| Upstreams::knows(row.kind)).take(LOOKED_UP) {
            let service = row.address.zip(row.port).map(|(address, port)| Endpoint { address, port });
            row.waited_for = service.and_then(|service| self.upstreams.waited_for(row.kind, service));
        }
        rows
    }
}

impl Finding {
    fn add(&mut self, row: &FlowRow, share: &Share<'_>) {
        self.flows += 1;
        self.waits += share.stalls.len() as u64;
        self.time += i128::from(share.time.0);
        self.recoverable += i128::from(share.recoverable.0);
        let client = Clients::One(row.client.address);
        self.clients = if self.clients == Clients::None || self.clients == client { client } else { Clients::Several };
        for stall in &share.stalls {
            let length = weight(stall);
            self.sure += f64::from(stall.confidence) * length as f64;
            self.weight += length as f64;
        }
        share.details().for_each(|(detail, time)| tally(&mut self.details, detail, time));
        match share.kind {
            FindingKind::ServerSlow => share.lengths().for_each(|length| self.spread.add(length)),
            _ => self.spread.add(share.time),
        }
        let (from, to) = share.span(row);
        self.first = if self.flows == 1 { from } else { self.first.min(from) };
        self.last = if self.flows == 1 { to } else { self.last.max(to) };
        let attempts = row.outcome.unanswered_attempts.unwrap_or(0);
        self.attempts += u64::from(attempts);
        self.most_attempts = self.most_attempts.max(attempts);
        self.exchanges += row.connection.exchanges;
        let end = row.directions.of(share.side);
        self.bytes += end.bytes;
        self.retransmitted += end.retransmitted_bytes;
        self.segments += end.segments;
        self.reordered += u64::from(end.repair.reordered_segments);
        self.needless += u64::from(end.repair.needless_retransmissions);
        if let Some(losses) = &end.losses {
            self.losses.add(losses);
        }
        self.lasted += i128::from((row.end_ns - row.start_ns).0);
        self.tls_handshake += i128::from(tls::time_in_handshake(row, share.stalls.iter().copied()));
        if share.kind == FindingKind::Reset {
            let in_tls = broken::in_tls_handshake(row);
            self.reset_in_tls += u64::from(in_tls);
            self.reset_unanswered += u64::from(!in_tls && broken::before_answer(row));
        }
        let shows = match share.kind {
            FindingKind::ServerSlow => Nanos(share.longest().map_or(0, weight)),
            _ => share.time,
        };
        let place = (shows, Reverse(row.id));
        if self.example.as_ref().is_none_or(|example| example.place() < place) {
            self.example = Some(Box::new(Example::new(row, share, shows)));
        }
    }
}

/// Adds waits to the times of their cause's details, whose number is limited.
fn tally(details: &mut Vec<(&'static str, i128)>, detail: &'static str, time: i128) {
    let room = details.len() < DETAILS;
    match details.iter_mut().find(|(known, _)| *known == detail) {
        Some((_, sum)) => *sum += time,
        None if room => details.push((detail, time)),
        None => {}
    }
}
