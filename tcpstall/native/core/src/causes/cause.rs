//! Causes with their permanent codes and names; JSON, colours, README and legend iterate this table.

/// Cause of a sender's wait. Codes and names are permanent, because other programs store them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Cause {
    /// The connection was not yet established.
    Handshake = 0,
    /// The congestion window was full.
    CwndLimited = 1,
    /// The peer's receive window was full.
    RwndLimited = 2,
    /// The peer closed its receive window altogether.
    ZeroWindow = 3,
    /// The application waited for space in the send buffer.
    SndbufLimited = 4,
    /// An idle period had lowered the congestion window.
    IdleRestart = 5,
    /// The application had nothing to send.
    AppLimited = 6,
    /// Lost data was being repaired.
    Retransmission = 7,
    /// A small segment was held until earlier data was acknowledged.
    Nagle = 8,
    /// The peer's delayed ACK held the sender.
    DelayedAck = 9,
    /// The sender spaced its segments out on purpose.
    Pacing = 10,
    /// The stack cut a burst short of the congestion window.
    BurstLimited = 11,
    /// The path carried all it could.
    BandwidthLimited = 12,
    /// The capture lacks the packets that would decide.
    CaptureGap = 13,
    /// The evidence does not decide.
    Unexplained = 14,
}

impl Cause {
    /// Every cause, in the order of its code.
    pub const ALL: [Cause; 15] = [
        Cause::Handshake,
        Cause::CwndLimited,
        Cause::RwndLimited,
        Cause::ZeroWindow,
        Cause::SndbufLimited,
        Cause::IdleRestart,
        Cause::AppLimited,
        Cause::Retransmission,
        Cause::Nagle,
        Cause::DelayedAck,
        Cause::Pacing,
        Cause::BurstLimited,
        Cause::BandwidthLimited,
        Cause::CaptureGap,
        Cause::Unexplained,
    ];

    /// The permanent code.
    pub const fn code(self) -> u8 {
        self as u8
    }

    /// The permanent public name.
    pub const fn name(self) -> &'static str {
        NAMES[self as usize]
    }

    /// The cause with this name.
    pub fn from_name(name: &str) -> Option<Cause> {
        Cause::ALL.into_iter().find(|cause| cause.name() == name)
    }
}

const NAMES: [&str; 15] = [
    "handshake",
    "cwnd-limited",
    "rwnd-limited",
    "zero-window",
    "sndbuf-limited",
    "idle-restart",
    "app-limited",
    "retransmission",
    "nagle",
    "delayed-ack",
    "pacing",
    "burst-limited",
    "bandwidth-limited",
    "capture-gap",
    "unexplained",
];

impl serde::Serialize for Cause {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}
