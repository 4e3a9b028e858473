//! Record of one connection for a replay: its packets and their diagnosis.

use super::setup::{Earlier, Span};
use crate::causes::{self, Cause, Limits};
use crate::flow::End;
use crate::packet_no::PacketNo;
use crate::pause::Finished;
use crate::results::{FlowRow, Wanted, flow_row};
use crate::time::Nanos;
use crate::wire::{Address, Endpoint};

/// Segments kept of one flow; a longer flow is not replayed.
pub const MOST_KEPT: usize = 1_000_000;
/// Segments kept of all flows that are replayed together; flows that would exceed this number are not replayed.
pub const MOST_KEPT_TOGETHER: usize = 4_000_000;

/// Classification of a segment within its flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PassingKind {
    /// New data.
    New,
    /// Data that passed before.
    Again,
    /// Data below the newest that did not pass before: retransmitted by its sender, or only late.
    Late {
        /// The data was retransmitted.
        again: bool,
    },
    /// Neither data nor anything else that matters here, except its acknowledgement.
    Control,
}

/// A segment as it passed the tap.
#[derive(Clone, Copy, Debug)]
pub struct Passing {
    /// Time at the tap.
    pub time: Nanos,
    /// Packet of the segment.
    pub packet: PacketNo,
    /// Sender of the segment.
    pub sender: End,
    /// Classification of the segment.
    pub kind: PassingKind,
    /// Offset of its payload in its sender's data.
    pub start: i64,
    /// Size of its payload, bytes.
    pub bytes: i64,
    /// Acknowledged offset of its receiver's data.
    pub ack: Option<i64>,
    /// Right edge of its sender's window for the receiver's data.
    pub edge: Option<i64>,
    /// Its first SACK block.
    pub sack: Option<(i64, i64)>,
    /// The whole round trip that it measured as an acknowledgement.
    pub rtt: Option<Nanos>,
}

/// Segments kept of one flow.
#[derive(Clone, Debug, Default)]
pub struct KeptSegments {
    passings: Vec<Passing>,
    /// The flow exceeded the limit, and all its segments were dropped.
    cut: bool,
}

impl KeptSegments {
    /// Keeps one more segment while the flow has no more than `most`; takes its place out of `left`.
    pub fn keep(&mut self, passing: Passing, most: usize, left: &mut usize) {
        if self.cut {
            return;
        }
        if self.passings.len() >= most || *left == 0 {
            *left += self.passings.len();
            *self = KeptSegments { passings: Vec::new(), cut: true };
            return;
        }
        *left -= 1;
        self.passings.push(passing);
    }
}

/// A stretch of one sender's silence, with its diagnosis.
#[derive(Clone, Copy, Debug)]
pub struct Silence {
    /// Cause of the silence.
    pub cause: Cause,
    /// Start of the silence.
    pub start: Nanos,
    /// End of the silence.
    pub end: Nanos,
    /// The packet of new data that ended the silence, if the silence lasted until then.
    pub next: Option<PacketNo>,
    /// Bytes in flight at its start.
    pub out_before: i64,
    /// Bytes in flight at its end.
    pub out_after: i64,
    /// The sender had sent nothing before.
    pub first: bool,
    /// Rate of the burst before it: its bytes divided by the time of burst and silence, bytes per second.
    pub pace: Option<f64>,
    /// Rate at which the peer's application read while it lagged, over the whole flow, bytes per second.
    pub reads: Option<u64>,
}

/// Record of one connection.
#[derive(Clone, Debug)]
pub struct Record {
    /// Its row in the report, with all stalls and exchanges.
    pub row: FlowRow,
    /// All segments after the handshake, in order.
    pub passings: Vec<Passing>,
    /// The flow has more segments than are kept.
    pub cut: bool,
    /// Round trips from the tap to the client and to the server.
    pub distances: [Option<Nanos>; 2],
    /// Time when the first SYN passed.
    pub syn: Option<Nanos>,
    /// Times when the SYN-ACK and the segment that completed the handshake passed.
    pub opened: [Option<Nanos>; 2],
    /// Retransmitted SYNs and SYN-ACKs.
    pub lost_handshakes: u32,
    /// Payload of a full segment of either end.
    pub mss: [i64; 2],
    /// Both ends use SACK.
    pub sack: bool,
    /// Bytes were acknowledged that the tap never saw.
    pub has_gaps: bool,
    /// Packets are known to be left out while the flow was open, by damage or by the author of a paste; they may be of other
    /// flows.
    pub left_out: bool,
    /// The flow has more pauses than are kept, so limits of its later part are unknown.
    pub lacks_pauses: bool,
    /// Exchanges beyond those that are kept of a flow.
    pub exchanges_left_out: u64,
    /// A loss halves the window of either end.
    pub reno: [bool; 2],
    /// Length below which silences are no stalls, and their causes less certain.
    pub threshold: Nanos,
    /// Bytes of other flows between the same hosts, in the direction of either end's data, from its first to its last
    /// segment with data.
    pub others: [i64; 2],
    /// The silences of either end.
    pub silences: [Vec<Silence>; 2],
    /// The first flight of either end, bytes.
    pub first_flight: [Option<i64>; 2],
    /// The connection that could be used instead, among the recorded ones: see [`among`].
    pub earlier: Earlier,
    /// Positions of the row's exchanges in the data.
    pub spans: Vec<Span>,
}

impl Record {
    /// The record of a finished flow, with its kept segments and the bytes of [`Record::others`].
    pub fn new(flow: &Finished, id: u64, capture: u32, kept: KeptSegments, others: [i64; 2]) -> Record {
        let KeptSegments { passings, cut } = kept;
        let limits = Limits::default();
        let wanted = Wanted { bursts: false, exchanges: true, least_stall: Nanos::ZERO };
        let row = flow_row(flow, id, capture, &limits, wanted);
        let connection = flow.connection();
        let handshake = &connection.handshake;
        Record {
            cut,
            distances: connection.distances(),
            syn: handshake.syn,
            opened: [handshake.last_syn_ack, handshake.done],
            lost_handshakes: handshake.syns.max(handshake.syn_acks).saturating_sub(1),
            mss: End::BOTH.map(|end| i64::from(connection.half(end).mss()).max(1)),
            sack: connection.half(End::Client).sack_permitted,
            has_gaps: connection.halves.iter().any(|half| half.never_seen > 0),
            left_out: flow.incomplete(),
            lacks_pauses: flow.dropped > 0,
            exchanges_left_out: flow.rounds().dropped,
            reno: End::BOTH.map(|end| flow.model(end).is_reno()),
            threshold: flow.threshold,
            others,
            silences: End::BOTH.map(|end| silences(flow, end, &limits)),
            first_flight: flow.initial_flight.map(|flight| flight.map(|bytes| bytes as i64)),
            earlier: Earlier::Unknown,
            spans: spans(flow, &row),
            row,
            passings,
        }
    }
}

/// Sets, for each of several flows, the other that had ended before it began, between the same hosts.
pub fn among(records: &mut [&mut Record]) {
    if records.len() < 2 {
        return;
    }
    records.sort_by_key(|record| record.row.start_ns);
    // Time when a connection became free, by its hosts, and how often it would have been used.
    let mut free: Vec<(Address, Endpoint, Nanos, u32)> = Vec::new();
    for record in records.iter_mut() {
        let (client, server, start) = (record.row.client.address, record.row.server, record.row.start_ns);
        let last = record.passings.iter().rev().find(|passing| passing.bytes > 0);
        let end = last.map_or(record.row.end_ns, |passing| passing.time);
        let found = free.iter().position(|(a, b, end, _)| (*a, *b) == (client, server) && *end <= start);
        let (earlier, uses) = match found.map(|at| free.swap_remove(at)) {
            Some((_, _, end, uses)) => (Earlier::Ended { idle: start - end, uses }, uses),
            None => (Earlier::None, 0),
        };
        record.earlier = earlier;
        free.push((client, server, end, uses + 1));
    }
}

fn silences(flow: &Finished, end: End, limits: &Limits) -> Vec<Silence> {
    let mut silences = Vec::new();
    for pause in flow.pauses[end].iter().filter(|pause| pause.ended) {
        for part in causes::explain(&pause, limits, flow.threshold) {
            silences.push(Silence {
                cause: part.cause,
                start: part.start,
                end: part.end,
                next: pause.next_packet.filter(|_| part.end >= pause.end),
                out_before: pause.flight_at_start,
                out_after: pause.left_in_flight,
                first: pause.first,
                pace: pause.context.pace,
                reads: pause.context.drain.filter(|_| pause.context.reader_behind),
            });
        }
    }
    silences
}

fn spans(flow: &Finished, row: &FlowRow) -> Vec<Span> {
    let exchanges = row.exchanges.as_deref().unwrap_or_default();
    let syn = flow.connection().handshake.syn;
    let span = |(index, round): (usize, &crate::flow::rounds::Round)| {
        let [asked, answered] = round.from();
        let with_handshake = index == 0 && exchanges.first().is_some_and(|first| Some(first.start_ns) == syn);
        Span {
            asked: (!with_handshake && !round.opening).then_some(asked),
            answered: answered + round.response_bytes as i64,
        }
    };
    flow.rounds().rounds().iter().enumerate().take(exchanges.len()).map(span).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passing() -> Passing {
        Passing {
            time: Nanos::ZERO,
            packet: PacketNo(1),
            sender: End::Client,
            kind: PassingKind::Control,
            start: 0,
            bytes: 0,
            ack: None,
            edge: None,
            sack: None,
            rtt: None,
        }
    }

    #[test]
    fn a_flow_beyond_its_limit_is_given_up_and_leaves_its_room_to_others() {
        let (mut first, mut second, mut left) = (KeptSegments::default(), KeptSegments::default(), 5);
        (0..4).for_each(|_| first.keep(passing(), 3, &mut left));
        assert!(first.cut && first.passings.is_empty());
        assert_eq!(left, 5);
        (0..3).for_each(|_| second.keep(passing(), 3, &mut left));
        assert!(!second.cut);
        assert_eq!((second.passings.len(), left), (3, 2));
    }

    #[test]
    fn flows_together_keep_no_more_than_there_is_room_for() {
        let mut left = 5;
        let mut flows = [KeptSegments::default(), KeptSegments::default(), KeptSegments::default()];
        for _ in 0..3 {
            flows.iter_mut().for_each(|flow| flow.keep(passing(), 3, &mut left));
        }
        assert_eq!(flows.iter().map(|flow| flow.passings.len()).sum::<usize>() + left, 5);
        assert_eq!(flows.map(|flow| flow.cut), [false, true, true]);
    }
}
