//! Kinds of findings: each has its own text and its own advice.

use serde::{Serialize, Serializer};

use crate::causes::Cause;

/// Reason, with one remedy, why flows lost time or failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// Nothing answered the SYNs.
    Unreachable,
    /// A RST answered the SYN.
    Refused,
    /// The server accepted, and the client neither completed nor reset.
    HalfOpen,
    /// An end retransmitted data repeatedly, and the peer was not heard any more.
    PeerGone,
    /// An end reset the connection before all data was exchanged.
    Reset,
    /// A SYN or a SYN-ACK was retransmitted.
    HandshakeLoss,
    /// The handshake took far longer than a round trip, and nothing was retransmitted.
    HandshakeSlow,
    /// Handshakes of one normal round trip.
    HandshakeDistance,
    /// The server had the request and did not answer.
    ServerSlow,
    /// An end paused in the middle of a message.
    SentInPieces,
    /// Small messages in both directions, as of a terminal, a chat or a heartbeat: probably nobody waited.
    Messages,
    /// The client had no request, or an end had no data.
    Idle,
    /// Losses and their repair.
    Loss,
    /// Packets that the path delayed while others overtook them.
    Reordering,
    /// A limit of the transport.
    Limit(Cause),
    /// Losses kept the congestion window small, and ACKs set the rate.
    RateWindow,
    /// The sender spaced its segments out.
    RatePacing,
    /// The application limited the rate by writing slowly.
    RateApplication,
    /// The sender set the rate, by pacing or by its application.
    RateSender,
    /// Consecutive requests, each sent after the answer to the one before.
    RoundTrips,
    /// The capture has one direction only.
    OneSided,
    /// The capture does not decide.
    Unexplained,
}

impl Kind {
    /// Name in the report.
    pub const fn name(self) -> &'static str {
        match self {
            Kind::Unreachable => "unreachable",
            Kind::Refused => "refused",
            Kind::HalfOpen => "half-open",
            Kind::PeerGone => "peer-gone",
            Kind::Reset => "reset",
            Kind::HandshakeLoss => "handshake-loss",
            Kind::HandshakeSlow => "handshake-slow",
            Kind::HandshakeDistance => "handshake-distance",
            Kind::ServerSlow => "server-slow",
            Kind::SentInPieces => "sent-in-pieces",
            Kind::Messages => "messages",
            Kind::Idle => "idle",
            Kind::Loss => "loss",
            Kind::Reordering => "reordering",
            Kind::Limit(cause) => cause.name(),
            Kind::RateWindow => "rate-window",
            Kind::RatePacing => "rate-pacing",
            Kind::RateApplication => "rate-application",
            Kind::RateSender => "rate-sender",
            Kind::RoundTrips => "round-trips",
            Kind::OneSided => "one-sided",
            Kind::Unexplained => "unexplained",
        }
    }

    /// A change could give this time back. For other kinds only the time is known, not the time without the problem.
    pub const fn is_recoverable(self) -> bool {
        !matches!(
            self,
            Kind::HandshakeDistance
                | Kind::Messages
                | Kind::Idle
                | Kind::RateWindow
                | Kind::RatePacing
                | Kind::RateApplication
                | Kind::RateSender
                | Kind::RoundTrips
                | Kind::OneSided
                | Kind::Unexplained
        )
    }
}

impl Serialize for Kind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}
