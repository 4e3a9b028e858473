//! Round trips in the report: the normal round trip and the excess of a stall, and a flow's spikes.

use crate::causes::PausePart;
use crate::causes::excess::{ExcessOwner, excess};
use crate::flow::End;
use crate::json::{named, row};
use crate::pause::{Finished, Pause};
use crate::time::Nanos;

row! {
    /// The round trip in a stall: the path's part, and the excess with its owner.
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    pub struct RoundTrip {
        /// The path's smallest round trip at that time.
        pub base_rtt_ns: Option<Nanos>,
        /// Time of the stall beyond that round trip; `None` where the stall waited for no answer.
        pub excess_ns: Option<Nanos>,
        /// Owner of the excess: `queue`, `receiver-silent`, `delayed-ack`, `loss`, `unknown`; `None` where the excess is
        /// negligible.
        pub excess_owner: Option<ExcessOwner>,
    }
}

impl RoundTrip {
    pub(in super::super) fn of(pause: &Pause, part: &PausePart) -> RoundTrip {
        let excess = excess(pause, part);
        RoundTrip { base_rtt_ns: pause.base_rtt, excess_ns: excess.span, excess_owner: excess.owner }
    }
}

named!(ExcessOwner);

row! {
    /// The peak of an episode in which round trips exceeded five times the base round trip.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct SpikeRow {
        /// Sender whose data was acknowledged late.
        pub sender: End,
        /// Time when the ACK reached the sender.
        pub time_ns: Nanos,
        /// Length of the round trip.
        pub rtt_ns: Nanos,
        /// Bytes in flight before that ACK.
        pub in_flight_bytes: u64,
        /// The peer's window before that ACK; `None` where it is unknown.
        pub peer_window_bytes: Option<u64>,
    }
}

/// Spikes of both senders in order of time, and the number that a limit dropped.
pub(in super::super) fn spikes(flow: &Finished) -> (Vec<SpikeRow>, u64) {
    let (mut rows, last) = (Vec::new(), flow.connection().end);
    for sender in End::BOTH {
        rows.extend(flow.spikes(sender).list.iter().map(|spike| SpikeRow {
            sender,
            // The last ACK may reach a distant sender after the flow's last packet passed the tap.
            time_ns: spike.time.min(last),
            rtt_ns: spike.rtt,
            in_flight_bytes: spike.flight.max(0) as u64,
            peer_window_bytes: spike.window.map(|window| window.max(0) as u64),
        }));
    }
    rows.sort_by_key(|spike| spike.time_ns);
    (rows, End::BOTH.iter().map(|sender| flow.spikes(*sender).dropped).sum())
}
