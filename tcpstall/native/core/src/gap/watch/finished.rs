//! What a flow that has ended can be asked.

use super::Finished;
use crate::flow::{Connection, Direction, stamps::Stamps, starts::Starts, turns::Turns};
use crate::gap::repair::Totals;
use crate::gap::spikes::Spikes;
use crate::sender::Cwnd;
use crate::time::Nanos;
use crate::wire::tunnel::Tunnel;

/// RFC 9293 §3.4.1: no segment lives longer (MSL), so that no SYN-ACK answers an older SYN.
const SEGMENT_LIFE: Nanos = Nanos::from_millis(120_000);

impl Finished {
    /// The connection's state.
    pub fn connection(&self) -> &Connection {
        &self.watch.connection
    }

    /// What its ends said first, where that has a name.
    pub fn starts(&self) -> Option<&Starts> {
        self.watch.starts.as_deref()
    }

    /// What its first segment in a tunnel came through.
    pub fn tunnel(&self) -> Option<&Tunnel> {
        self.watch.tunnel.as_deref()
    }

    /// The client began with a TLS hello.
    pub fn speaks_tls(&self) -> bool {
        self.starts().is_some_and(Starts::speak_tls)
    }

    /// Its rounds of request and response.
    pub fn turns(&self) -> &Turns {
        &self.watch.turns
    }

    /// Packets of the flow that were stamped earlier than packets before them.
    pub fn stamps(&self) -> Option<&Stamps> {
        self.watch.stamps.as_deref()
    }

    /// The handshake lasted so long only by the clock of the capture: that took the time back, or nothing was sent again
    /// although no segment lives so long.
    pub fn opening_is_misdated(&self) -> bool {
        let handshake = &self.connection().handshake;
        let (Some(start), Some(end)) = (handshake.start(), handshake.end()) else { return false };
        let taken_back = self.stamps().is_some_and(|stamps| stamps.misdates(start, end));
        taken_back || handshake.answered().is_some_and(|span| span > SEGMENT_LIFE)
    }

    /// A sender's spikes of round trip time.
    pub fn spikes(&self, sender: Direction) -> &Spikes {
        &self.watch.spikes[sender as usize]
    }

    /// How often a sender repaired losses, and why.
    pub fn repairs(&self, sender: Direction) -> Totals {
        self.watch.builders[sender as usize].repairs()
    }

    /// The congestion window of a sender by the model, as the flow left it.
    pub fn model(&self, sender: Direction) -> &Cwnd {
        &self.watch.models[sender as usize]
    }

    /// It left memory while it was open: there were too many flows, or it was silent for too long.
    pub fn let_go(&self) -> bool {
        self.watch.let_go
    }

    /// Packets were left out of the capture.
    pub fn incomplete(&self) -> bool {
        self.watch.incomplete
    }
}
