//! Kinds of findings: each has its own words and its own advice.

use serde::{Serialize, Serializer};

use crate::causes::Cause;

/// A reason why flows lost time or failed, as far as a remedy goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// Nothing answered the SYNs.
    Unreachable,
    /// A RST answered the SYN.
    Refused,
    /// The server accepted, and the client did not complete or reset.
    HalfOpen,
    /// An end sent data again and again, and the peer was not heard any more.
    PeerGone,
    /// An end reset the connection before all was said.
    Reset,
    /// A SYN or a SYN-ACK was sent again.
    HandshakeLoss,
    /// The handshake took far longer than a round trip, and nothing was sent again.
    HandshakeSlow,
    /// Handshakes of one plain round trip.
    HandshakeDistance,
    /// The server had the request and did not answer.
    ServerSlow,
    /// An end paused within what it was sending.
    SentInPieces,
    /// Small messages both ways, as of a terminal, a chat or a heartbeat: nobody need have waited.
    Messages,
    /// The client had nothing to ask, or an end nothing to say.
    Idle,
    /// Losses and their repair.
    Loss,
    /// Packets that the path held back and let others overtake.
    Reordering,
    /// A limit of the transport.
    Limit(Cause),
    /// Losses kept the congestion window small, and its ACKs set the rate.
    RateWindow,
    /// The sender spaced its segments out.
    RatePacing,
    /// The application wrote no faster.
    RateApplication,
    /// The sender set the rate by one of the two.
    RateSender,
    /// One request after another, each after the answer to the one before.
    RoundTrips,
    /// The capture has one direction.
    OneSided,
    /// The capture does not decide.
    Unexplained,
}

impl Kind {
    /// The word in the report.
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

    /// Time that a change could give back; of the other kinds the time is known, what it could have been is not.
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
