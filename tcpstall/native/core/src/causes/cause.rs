//! The list of causes: permanent code and name, colour, summary, documentation, advice. JSON, colours, the README and the
//! legend iterate this list.

use super::limits::Limits;

/// The row of one cause.
#[derive(Clone, Copy, Debug)]
pub struct Info {
    /// The permanent public name.
    pub name: &'static str,
    /// Colour as #rrggbb, from palettes made for the colour-blind (Okabe and Ito; Tol).
    pub colour: &'static str,
    /// Summary: one sentence without a full stop.
    pub summary: &'static str,
    /// Change that helps, where no detail has better advice.
    pub advice: &'static str,
    source: &'static str,
}

impl Info {
    /// Documentation of the rule: the heading comment of its file, with these thresholds.
    pub fn documentation(&self, limits: &Limits) -> String {
        let lines = self.source.lines().take_while(|line| line.starts_with("//!"));
        let text = lines.map(|line| line.trim_start_matches("//!").strip_prefix(' ').unwrap_or("").to_owned() + "\n");
        limits.filled_in(text.collect())
    }
}

macro_rules! causes {
    ($($(#[$doc:meta])* $cause:ident = $code:literal {
        name: $name:literal,
        colour: $colour:literal,
        file: $file:literal,
        summary: $summary:literal,
        advice: $advice:literal,
    })*) => {
        /// Cause of a sender's wait. Codes and names are permanent, because other programs store them.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum Cause { $($(#[$doc])* $cause = $code,)* }

        impl Cause {
            /// Every cause, in the order of its code.
            pub const ALL: [Cause; [$($code),*].len()] = [$(Cause::$cause),*];
        }

        const TABLE: [Info; Cause::ALL.len()] = [$(Info {
            name: $name,
            colour: $colour,
            summary: $summary,
            advice: $advice,
            source: include_str!($file),
        }),*];
    };
}

impl Cause {
    /// The permanent code.
    pub const fn code(self) -> u8 {
        self as u8
    }

    /// The row of the list.
    pub const fn info(self) -> &'static Info {
        &TABLE[self as usize]
    }

    /// The permanent public name.
    pub const fn name(self) -> &'static str {
        self.info().name
    }

    /// The cause with this name.
    pub fn from_name(name: &str) -> Option<Cause> {
        Cause::ALL.into_iter().find(|cause| cause.name() == name)
    }
}

impl serde::Serialize for Cause {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

causes! {
    /// The connection was not yet established.
    Handshake = 0 {
        name: "handshake",
        colour: "#999999",
        file: "handshake.rs",
        summary: "the connection was not yet established",
        advice: "reuse connections: each handshake costs a round trip before the first byte",
    }
    /// The congestion window was full.
    CwndLimited = 1 {
        name: "cwnd-limited",
        colour: "#0072b2",
        file: "cwnd_limited.rs",
        summary: "the congestion window was full",
        advice: "start with a larger initial window or reuse a connection that is already fast; slow start costs a round trip a doubling",
    }
    /// The peer's receive window was full.
    RwndLimited = 2 {
        name: "rwnd-limited",
        colour: "#d55e00",
        file: "rwnd_limited.rs",
        summary: "the peer's receive window was full",
        advice: "enlarge the receiver's buffer: do not set SO_RCVBUF, and raise net.ipv4.tcp_rmem",
    }
    /// The peer closed its receive window altogether.
    ZeroWindow = 3 {
        name: "zero-window",
        colour: "#8c1a4b",
        file: "zero_window.rs",
        summary: "the peer closed its receive window",
        advice: "make the receiving application read: its buffer was full to the last byte",
    }
    /// The application waited for space in the send buffer.
    SndbufLimited = 4 {
        name: "sndbuf-limited",
        colour: "#e69f00",
        file: "sndbuf_limited.rs",
        summary: "the application was blocked on a full send buffer",
        advice: "do not set SO_SNDBUF (autotuning sizes it), or set it above the bandwidth-delay product; raise net.ipv4.tcp_wmem",
    }
    /// An idle period had lowered the congestion window.
    IdleRestart = 5 {
        name: "idle-restart",
        colour: "#56b4e9",
        file: "idle_restart.rs",
        summary: "an idle period had lowered the congestion window",
        advice: "set net.ipv4.tcp_slow_start_after_idle=0 on the sender, or keep the connection busy",
    }
    /// The application had nothing to send.
    AppLimited = 6 {
        name: "app-limited",
        colour: "#b8c4a8",
        file: "app_limited.rs",
        summary: "the application had nothing to send",
        advice: "look at the application: TCP had nothing to send",
    }
    /// Lost data was being repaired.
    Retransmission = 7 {
        name: "retransmission",
        colour: "#cc0000",
        file: "retransmission.rs",
        summary: "lost data was being repaired",
        advice: "find where packets are lost: a full queue, a policer, a bad link",
    }
    /// A small segment was held until earlier data was acknowledged.
    Nagle = 8 {
        name: "nagle",
        colour: "#cc79a7",
        file: "nagle.rs",
        summary: "a small segment was held until earlier data was acknowledged",
        advice: "set TCP_NODELAY on the sender, or write a request in one call",
    }
    /// The peer's delayed ACK held the sender.
    DelayedAck = 9 {
        name: "delayed-ack",
        colour: "#aa4499",
        file: "delayed_ack.rs",
        summary: "the peer delayed its ACK and the sender could not go on without it",
        advice: "set TCP_NODELAY on the sender or TCP_QUICKACK on the receiver, or write a request in one call",
    }
    /// The sender spaced its segments out on purpose.
    Pacing = 10 {
        name: "pacing",
        colour: "#117733",
        file: "pacing.rs",
        summary: "the sender spaced its segments out on purpose",
        advice: "raise the pacing rate (SO_MAX_PACING_RATE, fq maxrate) if it is lower than the path can carry",
    }
    /// The stack cut a burst short of the congestion window.
    BurstLimited = 11 {
        name: "burst-limited",
        colour: "#999933",
        file: "burst_limited.rs",
        summary: "the stack cut a burst short of the congestion window",
        advice: "turn burst moderation off (bictcp_moderation = 0 on old kernels) or upgrade the sender's kernel",
    }
    /// The path carried all it could.
    BandwidthLimited = 12 {
        name: "bandwidth-limited",
        colour: "#009e73",
        file: "bandwidth_limited.rs",
        summary: "the path carried all it could",
        advice: "only more bandwidth or fewer bytes help: larger windows and buffers would lengthen the queue",
    }
    /// The capture lacks the packets that would decide.
    CaptureGap = 13 {
        name: "capture-gap",
        colour: "#ddcc77",
        file: "capture_gap.rs",
        summary: "the capture lacks the packets that would tell",
        advice: "capture again with a larger buffer (tcpdump -B) or a smaller snap length, and attach the whole capture",
    }
    /// The evidence does not decide.
    Unexplained = 14 {
        name: "unexplained",
        colour: "#666666",
        file: "unexplained.rs",
        summary: "the evidence does not decide",
        advice: "capture again from the SYN on, at the sender if possible",
    }
}
