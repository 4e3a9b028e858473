//! Colour, summary, documentation and advice of each cause; everything else iterates this table.

use super::cause::Cause;

/// The row of one cause.
#[derive(Clone, Copy, Debug)]
pub struct Info {
    /// The cause.
    pub cause: Cause,
    /// Colour as #rrggbb, from palettes made for the colour-blind (Okabe and Ito; Tol).
    pub colour: &'static str,
    /// Summary: one sentence without a full stop.
    pub summary: &'static str,
    /// Change that helps, where no detail has better advice.
    pub advice: &'static str,
    source: &'static str,
}

impl Info {
    /// Documentation of the rule: the heading comment of its file.
    pub fn documentation(&self) -> String {
        let lines = self.source.lines().take_while(|line| line.starts_with("//!"));
        lines.map(|line| line.trim_start_matches("//!").strip_prefix(' ').unwrap_or("").to_owned() + "\n").collect()
    }
}

/// The row of a cause.
pub const fn info(cause: Cause) -> &'static Info {
    &TABLE[cause as usize]
}

/// Change that shortens a stall of this cause and detail.
pub fn advice(cause: Cause, detail: &str) -> &'static str {
    match (cause, detail) {
        (Cause::CwndLimited, "initial-window") => {
            "raise the initial congestion window (ip route … initcwnd), or reuse a connection that is already fast"
        }
        (Cause::CwndLimited, "congestion-avoidance") => {
            "find the losses that keep the congestion window small, or choose a congestion control that recovers faster"
        }
        (Cause::RwndLimited, "slow-reader") => "make the receiving application read faster; its buffer is filling up",
        (Cause::Retransmission, "timeout") => {
            "find where packets are lost; a lost tail or a lost retransmission costs a timer each time"
        }
        (Cause::Retransmission, "tail-loss") => {
            "find where packets are lost; the end of a transfer has no later data to reveal a loss"
        }
        (Cause::Retransmission, "spurious") => {
            "nothing was lost: find what reorders packets, or delays them or their ACKs by more than the sender's timer"
        }
        (Cause::Handshake, "refused") => "start the service, or look for the firewall that rejects the connection",
        (Cause::Handshake, "unanswered") => {
            "check that the host is up and that the port listens, that no firewall drops the SYNs, and that a route leads there and back"
        }
        (Cause::Handshake, "half-open") => {
            "find out why the client does not complete the handshake: it gave up, its address is forged, or the SYN-ACKs are dropped on the way to it"
        }
        (Cause::Handshake, "syn-loss") => "find out who drops or ignores SYNs or SYN-ACKs: they were sent again",
        (Cause::AppLimited, "think-time") => {
            "look at the application on the sending host: it had the request and took this long to answer"
        }
        (Cause::AppLimited, "awaiting-peer") => "nothing here: it was the other end's turn to speak",
        (Cause::ZeroWindow, "never-reopened") => {
            "find out why the receiving application stopped reading; it never read again while the capture ran"
        }
        _ => info(cause).advice,
    }
}

macro_rules! row {
    ($cause:ident, $colour:literal, $file:literal, $summary:literal, $advice:literal) => {
        Info { cause: Cause::$cause, colour: $colour, summary: $summary, advice: $advice, source: include_str!($file) }
    };
}

/// Every cause in the order of its code.
pub const TABLE: [Info; Cause::ALL.len()] = [
    row!(
        Handshake,
        "#999999",
        "handshake.rs",
        "the connection was not yet established",
        "reuse connections: each handshake costs a round trip before the first byte"
    ),
    row!(
        CwndLimited,
        "#0072b2",
        "cwnd_limited.rs",
        "the congestion window was full",
        "start with a larger initial window or reuse a connection that is already fast; slow start costs a round trip a doubling"
    ),
    row!(
        RwndLimited,
        "#d55e00",
        "rwnd_limited.rs",
        "the peer's receive window was full",
        "enlarge the receiver's buffer: do not set SO_RCVBUF, and raise net.ipv4.tcp_rmem"
    ),
    row!(
        ZeroWindow,
        "#8c1a4b",
        "zero_window.rs",
        "the peer closed its receive window",
        "make the receiving application read: its buffer was full to the last byte"
    ),
    row!(
        SndbufLimited,
        "#e69f00",
        "sndbuf_limited.rs",
        "the application was blocked on a full send buffer",
        "do not set SO_SNDBUF (autotuning sizes it), or set it above the bandwidth-delay product; raise net.ipv4.tcp_wmem"
    ),
    row!(
        IdleRestart,
        "#56b4e9",
        "idle_restart.rs",
        "an idle period had lowered the congestion window",
        "set net.ipv4.tcp_slow_start_after_idle=0 on the sender, or keep the connection busy"
    ),
    row!(
        AppLimited,
        "#b8c4a8",
        "app_limited.rs",
        "the application had nothing to send",
        "look at the application: TCP had nothing to send"
    ),
    row!(
        Retransmission,
        "#cc0000",
        "retransmission.rs",
        "lost data was being repaired",
        "find where packets are lost: a full queue, a policer, a bad link"
    ),
    row!(
        Nagle,
        "#cc79a7",
        "nagle.rs",
        "a small segment was held until earlier data was acknowledged",
        "set TCP_NODELAY on the sender, or write a request in one call"
    ),
    row!(
        DelayedAck,
        "#aa4499",
        "delayed_ack.rs",
        "the peer delayed its ACK and the sender could not go on without it",
        "set TCP_NODELAY on the sender or TCP_QUICKACK on the receiver, or write a request in one call"
    ),
    row!(
        Pacing,
        "#117733",
        "pacing.rs",
        "the sender spaced its segments out on purpose",
        "raise the pacing rate (SO_MAX_PACING_RATE, fq maxrate) if it is lower than the path can carry"
    ),
    row!(
        BurstLimited,
        "#999933",
        "burst_limited.rs",
        "the stack cut a burst short of the congestion window",
        "turn burst moderation off (bictcp_moderation = 0 on old kernels) or upgrade the sender's kernel"
    ),
    row!(
        BandwidthLimited,
        "#009e73",
        "bandwidth_limited.rs",
        "the path carried all it could",
        "only more bandwidth or fewer bytes help: larger windows and buffers would lengthen the queue"
    ),
    row!(
        CaptureGap,
        "#ddcc77",
        "capture_gap.rs",
        "the capture lacks the packets that would tell",
        "capture again with a larger buffer (tcpdump -B) or a smaller snap length, and attach the whole capture"
    ),
    row!(
        Unexplained,
        "#666666",
        "unexplained.rs",
        "the evidence does not decide",
        "capture again from the SYN on, at the sender if possible"
    ),
];
