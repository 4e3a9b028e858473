//! Queries on a flow that has ended.

use super::Finished;
use crate::flow::{Connection, End, first_payload::FirstPayloads, rounds::Rounds, tap::clock_steps::ClockSteps};
use crate::pause::losses::Losses;
use crate::pause::repairs::RepairTotals;
use crate::pause::spikes::Spikes;
use crate::sender::Cwnd;
use crate::time::Nanos;
use crate::wire::tunnel::Tunnel;

/// Maximum segment lifetime (MSL, RFC 9293 §3.4.1): no SYN-ACK answers an older SYN.
const SEGMENT_LIFE: Nanos = Nanos::from_millis(120_000);

impl Finished {
    /// The connection's state.
    pub fn connection(&self) -> &Connection {
        &self.watch.connection
    }

    /// First bytes of each end, where they were recognised.
    pub fn first_payloads(&self) -> Option<&FirstPayloads> {
        self.watch.first_payloads.as_deref()
    }

    /// Outer tunnel path of the flow's first tunnelled segment.
    pub fn tunnel(&self) -> Option<&Tunnel> {
        self.watch.tunnel.as_deref()
    }

    /// The client began with a TLS hello.
    pub fn speaks_tls(&self) -> bool {
        self.first_payloads().is_some_and(FirstPayloads::speak_tls)
    }

    /// Its rounds of request and response.
    pub fn rounds(&self) -> &Rounds {
        &self.watch.rounds
    }

    /// Packets of the flow that were stamped earlier than packets before them.
    pub fn clock_steps(&self) -> Option<&ClockSteps> {
        self.watch.clock_steps.as_deref()
    }

    /// The handshake's length is an error of the capture's clock: the clock was set back, or nothing was retransmitted
    /// although no segment lives this long.
    pub fn opening_is_misdated(&self) -> bool {
        let handshake = &self.connection().handshake;
        let taken_back = self.clock_steps().is_some_and(|clock_steps| {
            handshake
                .start()
                .zip(handshake.end())
                .is_some_and(|(start, end)| clock_steps.misdates(self.connection().originals(), start, end))
        });
        taken_back || handshake.answered().is_some_and(|span| span > SEGMENT_LIFE)
    }

    /// Spikes of a sender's round trip time.
    pub fn spikes(&self, sender: End) -> &Spikes {
        &self.watch.spikes[sender]
    }

    /// Number of a sender's repairs, by trigger.
    pub fn repairs(&self, sender: End) -> RepairTotals {
        self.watch.builders[sender].repairs()
    }

    /// A sender's losses; `None` where neither a repair nor a hole showed one.
    pub fn losses(&self, sender: End) -> Option<&Losses> {
        self.watch.builders[sender].losses()
    }

    /// Final congestion window of a sender by the model.
    pub fn model(&self, sender: End) -> &Cwnd {
        &self.watch.models[sender]
    }

    /// The flow was removed from memory while it was open: there were too many flows, or it was silent for too long.
    pub fn let_go(&self) -> bool {
        self.watch.let_go
    }

    /// Packets were left out of the capture.
    pub fn incomplete(&self) -> bool {
        self.watch.incomplete
    }
}
