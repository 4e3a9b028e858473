//! Flows between two hosts by one clock, on one path.

use super::OnLine;
use crate::flow::End;
use crate::replay::model::Start;
use crate::replay::record::Record;
use crate::replay::recover::refuse;
use crate::time::Nanos;

/// Longest time from the end of a flow to the start of another that waited for it: a program that begins its next
/// transfer takes a moment.
const FOLLOWS: Nanos = Nanos::from_millis(10);
/// Share of all bytes that may be of flows that cannot be replayed.
const UNKNOWN: f64 = 0.2;
/// Flows that are replayed together at most.
const MOST_TOGETHER: usize = 64;

/// One flow of a group.
pub(super) struct Sharing<'a> {
    pub(super) record: &'a Record,
    pub(super) changed: bool,
    /// Its client is the host at which the first flow has its server.
    pub(super) flipped: bool,
}

impl Sharing<'_> {
    /// The end of this flow at an end of the line; and the other way round.
    pub(super) fn end(&self, of_line: End) -> End {
        if self.flipped { of_line.peer() } else { of_line }
    }
}

/// Flows between two hosts.
pub(super) struct Group<'a> {
    pub(super) flows: Vec<Sharing<'a>>,
    /// The shortest round trip of any: a flow that began behind others' data never saw an empty queue.
    pub(super) rtt: Nanos,
    /// Round trips from the tap to either end of the line.
    pub(super) distances: [Nanos; 2],
}

impl<'a> Group<'a> {
    /// The group, where the flows are between two hosts and all but a few bytes are of flows that can be replayed.
    pub(super) fn of(flows: &[OnLine<'a>]) -> Option<Group<'a>> {
        let first = flows.first()?.record.row.client.address;
        let bytes = |record: &Record| record.passings.iter().map(|passing| passing.bytes).sum::<i64>() as f64;
        let (mut all, mut unknown) = (0.0, 0.0);
        let mut group = Group { flows: Vec::new(), rtt: Nanos(i64::MAX), distances: [Nanos(i64::MAX); 2] };
        for OnLine { record, changed } in flows.iter().take(MOST_TOGETHER).copied() {
            all += bytes(record);
            let ([Some(to_client), Some(to_server)], Some(rtt), None) =
                (record.distances, record.row.base_rtt_ns, refuse(record).err())
            else {
                unknown += bytes(record);
                continue;
            };
            let sharing = Sharing { record, changed, flipped: record.row.client.address != first };
            let [one, other] = &mut group.distances;
            let (at_client, at_server) = if sharing.flipped { (other, one) } else { (one, other) };
            *at_client = to_client.min(*at_client);
            *at_server = to_server.min(*at_server);
            group.rtt = group.rtt.min(rtt);
            group.flows.push(sharing);
        }
        (group.flows.len() > 1 && unknown <= UNKNOWN * all && flows.len() <= MOST_TOGETHER).then_some(group)
    }

    /// Starts of the flows: at their times, or after another of the same client that had just ended, when it ended.
    pub(super) fn starts(&self, transfers: &[Nanos]) -> Vec<Start> {
        let begin = |at: usize| {
            let record = self.flows[at].record;
            let travel = Nanos(self.distances[self.flows[at].end(End::Client)].0 / 2);
            record.syn.unwrap_or(record.row.start_ns) - travel
        };
        let first = (0..self.flows.len()).map(begin).min().unwrap_or_default();
        let mut used = vec![false; self.flows.len()];
        let mut starts = Vec::new();
        for at in 0..self.flows.len() {
            let gap = |other: usize| begin(at) - (begin(other) + transfers[other]);
            let same = |other: usize| self.flows[other].flipped == self.flows[at].flipped;
            let before = (0..self.flows.len())
                .filter(|other| !used[*other] && same(*other) && (Nanos::ZERO..=FOLLOWS).contains(&gap(*other)))
                .min_by_key(|other| gap(*other));
            starts.push(match before {
                Some(other) => {
                    used[other] = true;
                    Start::After(other, gap(other))
                }
                None => Start::At(begin(at) - first),
            });
        }
        starts
    }
}
