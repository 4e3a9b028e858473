//! Sums of the flows of each service, for a comparison of two captures. Their memory does not depend on the number of
//! flows, except for two numbers per flow whose median is needed.

use hashbrown::HashMap;
use serde::Serialize;

use super::ledger::Owner;
use super::rows::{FlowRow, StallRow};
use crate::causes::Cause;
use crate::wire::Endpoint;

/// Services kept that only one of the captures has. A stranger can name as many services as there are addresses and
/// ports, so flows to further services are only counted.
pub const SERVICES_KEPT: usize = 1 << 16;

/// Sums behind a mean and a variance, nanoseconds and their squares.
#[derive(Clone, Copy, Default, Serialize)]
struct Moments {
    sum: i128,
    squares: u128,
}

/// Time at each level of bytes in flight, or of the window, while one cause held the sender.
#[derive(Clone)]
struct Levels {
    cause: Cause,
    /// The first flow at one of these levels, and its stall.
    first: (u64, u64),
    spans: HashMap<u64, i128>,
}

/// Flows of one service.
#[derive(Clone, Default)]
struct Flows {
    /// The lowest id of a flow.
    first: u64,
    count: u64,
    bytes: u64,
    retransmitted: u64,
    repairs: u64,
    duration: i128,
    /// Owners with any time, in order.
    time: Vec<(u8, Moments)>,
    round_trips: Vec<i64>,
    /// First bursts, in segments, of the end that sent more.
    windows: Vec<u64>,
    levels: Vec<Levels>,
}

/// Sums of some flows.
#[derive(Serialize)]
pub struct Facts {
    flows: u64,
    bytes: u64,
    retransmitted_bytes: u64,
    repairs: u64,
    duration_ns: i128,
    time_ns: Vec<(&'static str, i128, u128)>,
    /// The median, or the two middle values.
    base_rtt_ns: Vec<i64>,
    initial_window_segments: Vec<u64>,
    levels: Vec<(Cause, u64)>,
}

/// Flows by service, as they end.
#[derive(Default)]
pub struct Compared {
    services: HashMap<Endpoint, Flows>,
    dropped: u64,
}

impl Compared {
    /// Takes in a flow. Its service is kept below the limit, and beyond it where the `other` capture has the service
    /// too.
    pub fn add(&mut self, row: &FlowRow, other: Option<&Compared>) {
        if self.services.len() >= SERVICES_KEPT
            && !self.services.contains_key(&row.server)
            && !other.is_some_and(|other| other.services.contains_key(&row.server))
        {
            self.dropped += 1;
            return;
        }
        self.services.entry(row.server).or_insert_with(|| Flows { first: row.id, ..Flows::default() }).add(row);
    }

    /// Flows dropped because their services are beyond the limit.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// The services in the order of their first flows.
    pub fn services(&self) -> Vec<Endpoint> {
        let mut found: Vec<(u64, Endpoint)> = self.services.iter().map(|(end, flows)| (flows.first, *end)).collect();
        found.sort_unstable();
        found.into_iter().map(|(_, end)| end).collect()
    }

    /// Sums of the flows of these services together.
    pub fn facts<'a>(&self, services: impl Iterator<Item = &'a Endpoint>) -> Facts {
        let mut sum = Flows::default();
        services.filter_map(|end| self.services.get(end)).for_each(|flows| sum.merge(flows));
        sum.facts()
    }
}

impl Flows {
    fn add(&mut self, row: &FlowRow) {
        let ends = [&row.directions.client, &row.directions.server];
        self.first = self.first.min(row.id);
        self.count += 1;
        self.duration += i128::from((row.end_ns - row.start_ns).0);
        for end in ends {
            let repair = &end.repair;
            self.bytes = self.bytes.saturating_add(end.bytes);
            self.retransmitted = self.retransmitted.saturating_add(end.retransmitted_bytes);
            self.repairs +=
                u64::from(repair.timeouts) + u64::from(repair.fast_retransmits) + u64::from(repair.tail_probes);
        }
        for owner in Owner::all() {
            let span = row.time_ns.of(owner).0;
            if span != 0 {
                let square = u128::from(span.unsigned_abs()).pow(2);
                self.moments(owner.index() as u8).takes(Moments { sum: i128::from(span), squares: square });
            }
        }
        self.round_trips.extend(row.base_rtt_ns.map(|span| span.0));
        let sender = if ends[1].bytes > ends[0].bytes { ends[1] } else { ends[0] };
        if let (Some(window), Some(mss)) = (sender.initial_window_bytes, sender.mss_bytes)
            && window > 0
            && mss > 0
        {
            self.windows.push(window.div_ceil(u64::from(mss)));
        }
        for stall in &row.stalls {
            self.stood(row.id, stall);
        }
    }

    fn moments(&mut self, owner: u8) -> &mut Moments {
        let at = self.time.binary_search_by_key(&owner, |(other, _)| *other).unwrap_or_else(|at| {
            self.time.insert(at, (owner, Moments::default()));
            at
        });
        &mut self.time[at].1
    }

    fn stood(&mut self, flow: u64, stall: &StallRow) {
        let evidence = &stall.evidence;
        let limit =
            if stall.cause == Cause::RwndLimited { evidence.peer_window_bytes } else { evidence.in_flight_bytes };
        if let Some(level) = limit {
            let found = self.levels(stall.cause, (flow, stall.number));
            found.first = found.first.min((flow, stall.number));
            *found.spans.entry(level).or_default() += i128::from(stall.duration_ns.0);
        }
    }

    fn levels(&mut self, cause: Cause, first: (u64, u64)) -> &mut Levels {
        let known = self.levels.iter().position(|levels| levels.cause == cause);
        let at = known.unwrap_or_else(|| {
            self.levels.push(Levels { cause, first, spans: HashMap::new() });
            self.levels.len() - 1
        });
        &mut self.levels[at]
    }

    /// Takes in the flows of a further service, whose causes follow the existing ones.
    fn merge(&mut self, other: &Flows) {
        self.count += other.count;
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.retransmitted = self.retransmitted.saturating_add(other.retransmitted);
        self.repairs += other.repairs;
        self.duration += other.duration;
        other.time.iter().for_each(|(owner, moments)| self.moments(*owner).takes(*moments));
        self.round_trips.extend(&other.round_trips);
        self.windows.extend(&other.windows);
        let mut levels: Vec<&Levels> = other.levels.iter().collect();
        levels.sort_unstable_by_key(|levels| levels.first);
        for found in levels {
            let own = self.levels(found.cause, found.first);
            found.spans.iter().for_each(|(level, span)| *own.spans.entry(*level).or_default() += span);
        }
    }

    fn facts(mut self) -> Facts {
        let names: Vec<&str> = Owner::all().map(Owner::name).collect();
        Facts {
            flows: self.count,
            bytes: self.bytes,
            retransmitted_bytes: self.retransmitted,
            repairs: self.repairs,
            duration_ns: self.duration,
            time_ns: self.time.iter().map(|(owner, one)| (names[usize::from(*owner)], one.sum, one.squares)).collect(),
            base_rtt_ns: middle(&mut self.round_trips),
            initial_window_segments: middle(&mut self.windows),
            levels: self.levels.iter().map(|levels| (levels.cause, levels.most())).collect(),
        }
    }
}

impl Moments {
    fn takes(&mut self, other: Moments) {
        self.sum += other.sum;
        self.squares = self.squares.saturating_add(other.squares);
    }
}

impl Levels {
    /// The median, weighted by time.
    fn most(&self) -> u64 {
        let mut spans: Vec<(u64, i128)> = self.spans.iter().map(|(level, span)| (*level, *span)).collect();
        spans.sort_unstable();
        let (whole, mut sum) = (spans.iter().map(|(_, span)| span).sum::<i128>(), 0);
        let half = spans.iter().find(|(_, span)| {
            sum += span;
            2 * sum >= whole
        });
        half.or(spans.last()).map_or(0, |(level, _)| *level)
    }
}

/// The median, or the two middle values where their number is even.
fn middle<T: Copy + Ord>(values: &mut [T]) -> Vec<T> {
    values.sort_unstable();
    let half = values.len() / 2;
    let first = if values.len().is_multiple_of(2) { half.saturating_sub(1) } else { half };
    values.iter().copied().take(half + 1).skip(first).collect()
}
