//! Kinds of findings: each has its own text and its own advice.

use serde::{Serialize, Serializer};

use crate::causes::Cause;

/// Reason, with one remedy, why flows lost time or failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FindingKind {
    /// Nothing answered the SYNs.
    Unreachable,
    /// A RST answered the SYN.
    Refused,
    /// The server accepted, and the client was silent.
    HalfOpen,
    /// The client reset the connection instead of completing the handshake.
    Aborted,
    /// An end retransmitted data repeatedly, and the peer was not heard any more.
    PeerGone,
    /// An end reset the connection before all data was exchanged.
    Reset,
    /// The server closed in the middle of an answer whose length its head announces.
    CutAnswer,
    /// The server had closed an idle connection, or forgotten it, when the client's next request came.
    StaleConnection,
    /// A SYN or a SYN-ACK was retransmitted.
    HandshakeLoss,
    /// SYNs or first data reached the server, and it ignored them for a while: its accept queue was probably full.
    AcceptQueue,
    /// The handshake took far longer than a round trip, and nothing was retransmitted.
    HandshakeSlow,
    /// Handshakes of one normal round trip.
    HandshakeDistance,
    /// The server had the request and did not answer.
    ServerSlow,
    /// The client closed while the server owed it an answer.
    NoAnswer,
    /// The server answered after the same time again and again, and was asked again at once: a long poll, or a timeout.
    ServerTimer,
    /// The server was silent before a message, and the capture does not show whether the client waited for it.
    ServerSilent,
    /// An end paused in the middle of a message.
    SentInPieces,
    /// The client waited for permission to send the content of its request, and none came.
    NoPermission,
    /// An end went on only at its peer's messages, with TCP open.
    FlowControl,
    /// Small messages in both directions, as of a terminal, a chat or a heartbeat: probably nobody waited.
    Messages,
    /// The client had no request, or an end had no data.
    Idle,
    /// Losses and their repair.
    Loss,
    /// Full segments never arrive, shorter ones do.
    PathMtu,
    /// Packets that the path delayed while others overtook them.
    Reordering,
    /// A limit of the transport.
    Limit(Cause),
    /// Losses kept the congestion window small, and ACKs set the rate; or it grew until all was sent.
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

impl FindingKind {
    /// Name in the report.
    pub const fn name(self) -> &'static str {
        match self {
            FindingKind::Unreachable => "unreachable",
            FindingKind::Refused => "refused",
            FindingKind::HalfOpen => "half-open",
            FindingKind::Aborted => "aborted",
            FindingKind::PeerGone => "peer-gone",
            FindingKind::Reset => "reset",
            FindingKind::CutAnswer => "cut-answer",
            FindingKind::StaleConnection => "stale-connection",
            FindingKind::HandshakeLoss => "handshake-loss",
            FindingKind::AcceptQueue => "accept-queue",
            FindingKind::HandshakeSlow => "handshake-slow",
            FindingKind::HandshakeDistance => "handshake-distance",
            FindingKind::ServerSlow => "server-slow",
            FindingKind::NoAnswer => "no-answer",
            FindingKind::ServerTimer => "server-timer",
            FindingKind::ServerSilent => "server-silent",
            FindingKind::SentInPieces => "sent-in-pieces",
            FindingKind::NoPermission => "no-permission",
            FindingKind::FlowControl => "flow-control",
            FindingKind::Messages => "messages",
            FindingKind::Idle => "idle",
            FindingKind::Loss => "loss",
            FindingKind::PathMtu => "path-mtu",
            FindingKind::Reordering => "reordering",
            FindingKind::Limit(cause) => cause.name(),
            FindingKind::RateWindow => "rate-window",
            FindingKind::RatePacing => "rate-pacing",
            FindingKind::RateApplication => "rate-application",
            FindingKind::RateSender => "rate-sender",
            FindingKind::RoundTrips => "round-trips",
            FindingKind::OneSided => "one-sided",
            FindingKind::Unexplained => "unexplained",
        }
    }

    /// Somebody waited, and the capture shows why.
    pub const fn is_a_wait(self) -> bool {
        use FindingKind as Kind;
        let of_nobody = matches!(self, Kind::HandshakeDistance | Kind::Aborted | Kind::Messages | Kind::Idle);
        let doubtful = matches!(self, Kind::ServerTimer | Kind::ServerSilent | Kind::OneSided | Kind::Unexplained);
        !of_nobody && !doubtful
    }

    /// A change could give this time back. For other kinds only the time is known, not the time without the problem.
    pub const fn is_recoverable(self) -> bool {
        !matches!(
            self,
            FindingKind::HandshakeDistance
                | FindingKind::Aborted
                | FindingKind::ServerTimer
                | FindingKind::ServerSilent
                | FindingKind::Messages
                | FindingKind::Idle
                | FindingKind::RateWindow
                | FindingKind::RatePacing
                | FindingKind::RateApplication
                | FindingKind::RateSender
                | FindingKind::RoundTrips
                | FindingKind::OneSided
                | FindingKind::Unexplained
        )
    }
}

impl Serialize for FindingKind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}
