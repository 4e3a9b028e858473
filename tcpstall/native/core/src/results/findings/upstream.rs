//! Tells what a slow service waited for: while it owed its answers, its own host was a client of another service.
//!
//! A capture at a proxy or an application's server holds both sides. The service in front is as late as the one behind it,
//! and the change belongs behind. Times are compared at one tap, so no distance and no clock comes in.

use std::hash::Hash;

use hashbrown::HashMap;

use super::kind::FindingKind;
use super::row::WaitedFor;
use super::share::Share;
use crate::exchange::{Exchange, Phase};
use crate::flow::End;
use crate::results::rows::FlowRow;
use crate::results::rows::outcome::Outcome;
use crate::time::Nanos;
use crate::wire::{Address, Endpoint};

/// Shortest slow answer that is looked at, and shortest wait for another service.
const LEAST_OWED: Nanos = Nanos::from_millis(10);
const LEAST_ASKED: Nanos = Nanos::from_millis(1);
/// Longest times of a service that are remembered.
const KEPT: usize = 16;
/// Times apart from each other in which a service owed answers, for as many as are remembered.
const SPANS: usize = 64;
/// Services that are remembered: a stranger can name many.
const SERVICES: usize = 1 << 10;
/// Share of the slow answers from which they were late because of the other service.
const MOST: f64 = 0.75;
/// Divisor of a request's time: where the client's own time before it is below a quarter of it, they are one wait with the
/// request before.
const BETWEEN: i64 = 4;
/// First wait of a client for an answer to its SYN (RFC 6298 §2.1).
const ATTEMPT: Nanos = Nanos::from_millis(1_000);

/// Answers that services owed, and requests to them, for as many services as fit.
#[derive(Clone, Default)]
pub(super) struct Upstreams {
    owed: HashMap<(FindingKind, Endpoint), Owed>,
    asked: HashMap<Endpoint, Longest>,
}

/// A time in which a service owed an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Wait {
    from: Nanos,
    /// First byte of the (last) answer.
    answered: Nanos,
    /// Its last byte.
    to: Nanos,
    client: Address,
    /// The tap was at the end that the wait is told of: the server of what is owed, the client of what was asked.
    here: bool,
}

/// Longest waits for a service, and all times in which it owed an answer.
#[derive(Clone, Debug, Default)]
struct Owed {
    longest: Longest,
    /// Start and end, in order and apart from each other, the longest of them.
    spans: Vec<(Nanos, Nanos)>,
}

/// The longest waits of a service.
#[derive(Clone, Debug, Default)]
struct Longest {
    waits: Vec<Wait>,
    /// The shortest of as many as are kept.
    shortest: Nanos,
    /// Place of the latest one.
    latest: usize,
}

impl Upstreams {
    /// Kinds of findings that a wait for another service explains.
    pub(super) const fn knows(kind: FindingKind) -> bool {
        matches!(kind, FindingKind::ServerSlow | FindingKind::SentInPieces)
    }

    /// Takes in a flow.
    pub(super) fn add(&mut self, row: &FlowRow, shares: &[Share<'_>]) {
        let client = row.client.address;
        for share in shares.iter().filter(|share| Upstreams::knows(share.kind) && share.side == End::Server) {
            let here = row.vantage.is_at(End::Server) || row.server.address.is_loopback();
            let mut owes = |from: Nanos, to: Nanos| {
                if to - from >= LEAST_OWED
                    && let Some(known) = of(&mut self.owed, (share.kind, row.server))
                {
                    known.offer(Wait { from, answered: to, to, client, here });
                }
            };
            match share.kind {
                FindingKind::ServerSlow => share.stalls.iter().for_each(|stall| owes(stall.start_ns, stall.end_ns)),
                _ => in_pieces(row, share).for_each(|one| owes(one.start_ns, one.end_ns)),
            }
        }
        each_asked(row, |wait| {
            if wait.length() >= LEAST_ASKED
                && let Some(known) = of(&mut self.asked, row.server)
            {
                let here = row.vantage.is_at(End::Client) || client.is_loopback();
                known.takes_in(Wait { client, here, ..wait });
            }
        });
    }

    /// The service that `slow` waited for in such waits, if there was one: the one that had its requests for most of that
    /// time.
    pub(super) fn waited_for(&self, kind: FindingKind, slow: Endpoint) -> Option<WaitedFor> {
        let Owed { longest, spans } = self.owed.get(&(kind, slow))?;
        let owed = &longest.waits;
        let here = owed.iter().any(|wait| wait.here);
        let all: i64 = owed.iter().map(|wait| wait.length().0).sum();
        let share = |asked: &Longest| {
            let own = |wait: &&Wait| wait.client == slow.address || here && wait.here;
            let asked: Vec<Wait> =
                asked.waits.iter().filter(own).filter(|wait| wait.is_within(spans)).copied().collect();
            covered(owed, asked) as f64 / all.max(1) as f64
        };
        let others = self.asked.iter().filter(|(service, _)| **service != slow);
        let found = others.map(|(service, asked)| (share(asked), *service)).filter(|(share, _)| *share >= MOST);
        let (share, service) = found.max_by(|one, other| one.0.total_cmp(&other.0).then(other.1.cmp(&one.1)))?;
        Some(WaitedFor { address: service.address, port: service.port, share })
    }
}

impl Wait {
    fn length(&self) -> Nanos {
        self.to - self.from
    }

    /// Takes in a wait that follows; false if it does not.
    fn joins(&mut self, next: &Wait) -> bool {
        let follows = self.from <= next.from && (next.from - self.to).times(BETWEEN) <= next.length();
        if follows {
            (self.to, self.answered) = (self.to.max(next.to), self.answered.max(next.answered));
        }
        follows
    }

    /// It begins and ends while an answer is owed: other work of the host does so by chance only.
    fn is_within(&self, owed: &[(Nanos, Nanos)]) -> bool {
        let inside = |time: Nanos| owed.iter().any(|(from, to)| *from <= time && time <= *to);
        inside(self.from) && inside(self.answered)
    }
}

impl Owed {
    fn offer(&mut self, wait: Wait) {
        self.longest.offer(wait);
        let (mut from, mut to) = (wait.from, wait.to);
        self.spans.retain(|span| {
            let apart = span.1 < from || to < span.0;
            if !apart {
                (from, to) = (from.min(span.0), to.max(span.1));
            }
            apart
        });
        self.spans.insert(self.spans.partition_point(|span| span.0 < from), (from, to));
        if self.spans.len() > SPANS
            && let Some(shortest) = (0..self.spans.len()).min_by_key(|&at| self.spans[at].1 - self.spans[at].0)
        {
            self.spans.remove(shortest);
        }
    }
}

impl Longest {
    /// Takes in what a client asked: each of its requests may have had a connection of its own.
    fn takes_in(&mut self, wait: Wait) {
        let joins = |known: &mut Wait| known.client == wait.client && known.joins(&wait);
        if !self.waits.get_mut(self.latest).is_some_and(joins) {
            self.offer(wait);
        }
    }

    fn offer(&mut self, wait: Wait) {
        if self.waits.len() < KEPT {
            self.latest = self.waits.len();
            self.waits.push(wait);
        } else if self.shortest < wait.length() {
            let lengths = self.waits.iter().map(Wait::length).enumerate();
            let (place, shortest) = lengths.min_by_key(|(_, length)| *length).unwrap_or_default();
            self.shortest = shortest;
            if shortest < wait.length() {
                (self.waits[place], self.latest) = (wait, place);
            }
        }
    }
}

/// Record of a service, or of one kind of its waits; `None` where there are too many services.
fn of<K: Eq + Hash, V: Default>(known: &mut HashMap<K, V>, key: K) -> Option<&mut V> {
    let room = known.len() < SERVICES;
    if room { Some(known.entry(key).or_default()) } else { known.get_mut(&key) }
}

/// Exchanges whose answer the server sent with pauses.
fn in_pieces<'a>(row: &'a FlowRow, share: &'a Share<'_>) -> impl Iterator<Item = &'a Exchange> {
    let paused = |one: &&Exchange| {
        let next = share.stalls.partition_point(|stall| stall.start_ns < one.start_ns);
        share.stalls.get(next).is_some_and(|stall| stall.end_ns <= one.end_ns)
    };
    row.exchanges.iter().flatten().filter(paused)
}

/// Gives the times in which the client waited for the server: of requests, several in a row as one, or of the whole flow
/// where the server never answered.
fn each_asked(row: &FlowRow, mut give: impl FnMut(Wait)) {
    let exchanges = row.exchanges.as_deref().unwrap_or_default();
    let failed = matches!(row.outcome.outcome, Some(Outcome::Unreachable | Outcome::Refused | Outcome::Gone(_)));
    if exchanges.is_empty() && failed {
        // The client waits for the answer to its last attempt, too.
        let (from, answered) = (row.start_ns, row.end_ns);
        give(Wait { from, answered, to: answered + (answered - from) + ATTEMPT, ..Wait::default() });
    }
    let mut run: Option<Wait> = None;
    for exchange in exchanges.iter().filter(|one| one.requester == End::Client) {
        // What the client waited for, wherever the tap was.
        let away = (exchange.latency_ns - (exchange.end_ns - exchange.start_ns)).or_zero();
        let away = Nanos(away.0 / 2);
        let (from, to) = (exchange.start_ns - away, exchange.end_ns + away);
        let one = Wait { from, answered: (to - exchange.of(Phase::Response)).max(from), to, ..Wait::default() };
        if run.as_mut().is_none_or(|run| !run.joins(&one)) {
            run.replace(one).into_iter().for_each(&mut give);
        }
    }
    run.into_iter().for_each(give);
}

/// Time of `owed` in which something was `asked`.
fn covered(owed: &[Wait], mut asked: Vec<Wait>) -> i64 {
    asked.sort_unstable_by_key(|wait| wait.from);
    let of = |owed: &Wait| {
        let (mut time, mut reached) = (0, owed.from);
        for wait in &asked {
            let (from, to) = (wait.from.max(reached), wait.to.min(owed.to));
            if from < to {
                (time, reached) = (time + (to - from).0, to);
            }
        }
        time
    };
    owed.iter().map(of).sum()
}
