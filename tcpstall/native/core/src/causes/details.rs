//! The list of details: a detail narrows its cause, and may have better advice than the cause itself.

use super::cause::Cause;
use crate::pause::evidence::repair::Trigger;

/// One detail of a cause.
#[derive(Clone, Copy, Debug)]
pub struct Detail {
    /// The cause that the detail narrows.
    pub cause: Cause,
    /// Public name.
    pub name: &'static str,
    /// Change that helps; `None` where the cause's own advice holds.
    advice: Option<&'static str>,
}

/// Change that shortens a stall of this cause and detail.
pub fn advice(cause: Cause, detail: &str) -> &'static str {
    if detail.is_empty() {
        return cause.info().advice;
    }
    let (from, to) = OF_CAUSE[cause as usize];
    let found = DETAILS[from..to].iter().find(|row| row.name == detail);
    found.and_then(|row| row.advice).unwrap_or(cause.info().advice)
}

/// First place of the details of each cause in the list, and the place after the last.
const OF_CAUSE: [(usize, usize); Cause::ALL.len()] = {
    let (mut places, mut place) = ([(0, 0); Cause::ALL.len()], 0);
    while place < DETAILS.len() {
        let of = &mut places[DETAILS[place].cause as usize];
        if of.1 == 0 {
            of.0 = place;
        }
        place += 1;
        of.1 = place;
    }
    places
};

macro_rules! optional {
    () => {
        None
    };
    ($advice:literal) => {
        Some($advice)
    };
}

macro_rules! details {
    ($($cause:ident { $($(#[$doc:meta])* $detail:ident = $name:expr $(, $advice:literal)?;)* })*) => {
        $($($(#[$doc])* pub const $detail: &str = $name;)*)*

        /// Every detail.
        pub const DETAILS: &[Detail] = &[
            $($(Detail { cause: Cause::$cause, name: $detail, advice: optional!($($advice)?) },)*)*
        ];
    };
}

details! {
    Handshake {
        /// SYNs or SYN-ACKs were sent again, and the handshake was completed.
        SYN_LOSS = "syn-loss",
            "find out who drops or ignores SYNs or SYN-ACKs: they were sent again";
        /// A RST answered the SYN.
        REFUSED = "refused",
            "start the service, or look for the firewall that rejects the connection";
        /// Nothing answered the SYN.
        UNANSWERED = "unanswered",
            "check that the host is up and that the port listens, that no firewall drops the SYNs, and that a route leads there and back";
        /// A SYN-ACK answered the SYN, and no ACK followed.
        HALF_OPEN = "half-open",
            "find out why the client does not complete the handshake: it gave up, its address is forged, or the SYN-ACKs are dropped on the way to it";
    }
    CwndLimited {
        /// The first flight of the connection.
        INITIAL_WINDOW = "initial-window",
            "raise the initial congestion window (ip route … initcwnd), or reuse a connection that is already fast";
        /// The window was doubling.
        SLOW_START = "slow-start";
        /// The window grew slowly, after a loss or at the slow-start threshold.
        CONGESTION_AVOIDANCE = "congestion-avoidance",
            "find the losses that keep the congestion window small, or choose a congestion control that recovers faster";
    }
    RwndLimited {
        /// The application read slower than data arrived.
        SLOW_READER = "slow-reader",
            "make the receiving application read faster; its buffer is filling up";
        /// The reader kept up, the window was small.
        SMALL_BUFFER = "small-buffer";
    }
    ZeroWindow {
        /// No update came while the capture ran.
        NEVER_REOPENED = "never-reopened",
            "find out why the receiving application stopped reading; it never read again while the capture ran";
        /// The window was open for less than a segment.
        BELOW_SEGMENT = "below-segment";
    }
    SndbufLimited {
        /// Several flights of one size.
        PLATEAU = "plateau";
    }
    IdleRestart {
        /// The window was growing back.
        CLIMB = "slow-start";
    }
    AppLimited {
        /// It said nothing by itself.
        IDLE = "idle";
        /// It had the request and worked on the answer.
        THINK_TIME = "think-time",
            "look at the application on the sending host: it had the request and took this long to answer";
        /// It was the peer's turn.
        AWAITING_PEER = "awaiting-peer",
            "nothing here: it was the other end's turn to speak";
        /// It went on at the peer's messages alone, with TCP open: a window or a number of requests of its own.
        APPLICATION_WINDOW = "application-window",
            "raise the window of the protocol above TCP at the receiving end (HTTP/2: SETTINGS_INITIAL_WINDOW_SIZE and the connection's window; SSH: the channel's), or have more requests outstanding";
    }
    Retransmission {
        /// No sign of the loss came before the retransmission timer.
        TIMEOUT = Trigger::Timeout.name(),
            "find where packets are lost; a lost tail or a lost retransmission costs a timer each time";
        /// SACK blocks or duplicate ACKs came.
        FAST_RETRANSMIT = Trigger::Fast.name();
        /// The probe timer fired.
        TAIL_LOSS = Trigger::TailProbe.name(),
            "find where packets are lost; the end of a transfer has no later data to reveal a loss";
        /// A repair that had begun before was not over.
        RECOVERY = "recovery";
        /// The original had arrived.
        SPURIOUS = "spurious",
            "the data had arrived: find what drops its ACKs, delays them by more than the sender's timer, or reorders packets";
    }
    Nagle {
        /// The short end of a burst was held until the next write.
        TAIL_HELD = "tail-held";
        /// Small writes filled a segment.
        FILLED_UP = "filled-up";
        /// The short end of a write left alone.
        WRITE_TAIL = "write-tail";
    }
    DelayedAck {
        /// The sender held a small segment for that ACK.
        HELD_BY_NAGLE = "nagle";
    }
    BurstLimited {
        /// Each ACK let a fixed count of segments go.
        PARTIAL_ACK = "partial-ack";
    }
    BandwidthLimited {
        /// A queue stood on the path.
        QUEUE = "queue";
        /// Segments came one by one at the line's rate.
        LINE = "line";
    }
    CaptureGap {
        /// A paste leaves lines out.
        LEFT_OUT = "left-out";
        /// Data was acknowledged that the capture lacks.
        ACKED_UNSEEN = "acked-unseen";
        /// More bytes are missing than a window allows.
        UNSEEN = "unseen";
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_detail_is_found_under_its_cause() {
        for cause in Cause::ALL {
            let (from, to) = OF_CAUSE[cause as usize];
            let own = |row: &&Detail| row.cause == cause;
            assert!(DETAILS.iter().filter(own).map(|row| row.name).eq(DETAILS[from..to].iter().map(|row| row.name)));
            for row in DETAILS.iter().filter(own) {
                assert_eq!(advice(cause, row.name), row.advice.unwrap_or(cause.info().advice));
            }
            assert_eq!((advice(cause, ""), advice(cause, "another")), (cause.info().advice, cause.info().advice));
        }
    }
}
