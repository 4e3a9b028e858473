//! Doubts: what the circumstances of a pause take from the confidence in a cause, whichever rule found it.

use super::cause::Cause;
use super::rule::{Missing, is_blurred};
use crate::pause::{LEAST_PAUSE, Pause};

/// A doubt about some causes of some pauses.
pub(super) struct Doubt {
    /// True of a pause of that kind.
    holds: fn(&Pause) -> bool,
    about: About,
    leaves: Leaves,
    /// Evidence that would settle it.
    pub(super) missing: Option<Missing>,
}

/// Causes that a doubt is about.
enum About {
    Every,
    These(&'static [Cause]),
    AllBut(&'static [Cause]),
}

/// Confidence that a doubt leaves.
enum Leaves {
    /// Such a share of it.
    Share(f32),
    /// So much at most.
    AtMost(f32),
}

/// Every doubt, in the order in which they lower a confidence.
pub(super) const DOUBTS: [Doubt; 12] = [
    Doubt {
        holds: |pause| !pause.unseen.is_nothing(),
        about: About::Every,
        leaves: Leaves::Share(0.8),
        missing: Some(Missing::PACKETS),
    },
    // The order of ACKs and data, and the data in flight between them, are uncertain where packets are out of order.
    Doubt {
        holds: is_blurred,
        about: About::These(&[
            Cause::AppLimited,
            Cause::RwndLimited,
            Cause::CwndLimited,
            Cause::IdleRestart,
            Cause::SndbufLimited,
            Cause::Nagle,
            Cause::DelayedAck,
            Cause::Pacing,
            Cause::BurstLimited,
        ]),
        leaves: Leaves::AtMost(0.85),
        missing: None,
    },
    // By a clock of milliseconds an ACK's pace is none, and data with a later stamp than an ACK's may not be its answer.
    Doubt {
        holds: |pause| pause.unseen.coarse,
        about: About::These(&[Cause::BandwidthLimited]),
        leaves: Leaves::AtMost(0.75),
        missing: Some(Missing::FINE_TIME),
    },
    Doubt {
        holds: |pause| pause.unseen.coarse && pause.after_ack().is_some_and(|span| span > LEAST_PAUSE),
        about: About::These(&[
            Cause::RwndLimited,
            Cause::CwndLimited,
            Cause::IdleRestart,
            Cause::SndbufLimited,
            Cause::Nagle,
            Cause::DelayedAck,
        ]),
        leaves: Leaves::AtMost(0.75),
        missing: Some(Missing::FINE_TIME),
    },
    // A wait of a step or two may have been as short as the round trip.
    Doubt {
        holds: |pause| pause.unseen.coarse && pause.duration() <= pause.jitter.times(2),
        about: About::These(&[Cause::AppLimited]),
        leaves: Leaves::AtMost(0.75),
        missing: Some(Missing::FINE_TIME),
    },
    // Little more than the ACK that ended the wait speaks for these, and the data may have followed it by chance.
    Doubt {
        holds: |pause| pause.ack_is_no_proof(),
        about: About::These(&[Cause::Nagle, Cause::SndbufLimited]),
        leaves: Leaves::AtMost(0.75),
        missing: None,
    },
    // At the sender a wait for the repair of a reported loss resembles these.
    Doubt {
        holds: |pause| pause.near_sender() && pause.hole.is_some_and(|hole| hole.reported.is_some()),
        about: About::These(&[Cause::CwndLimited, Cause::SndbufLimited, Cause::Pacing]),
        leaves: Leaves::AtMost(0.75),
        missing: None,
    },
    // With data in flight these rest on the absence of ACKs or on what each ACK lets go.
    Doubt {
        holds: |pause| pause.unseen.perhaps_acks && pause.left_in_flight > 0,
        about: About::These(&[Cause::AppLimited, Cause::Pacing, Cause::BurstLimited]),
        leaves: Leaves::AtMost(0.75),
        missing: Some(Missing::UNSTAMPED_ACKS),
    },
    // A writer whose tick is as long as a round trip meets its ACKs as well.
    Doubt {
        holds: |pause| pause.unseen.early_data,
        about: About::Every,
        leaves: Leaves::AtMost(0.75),
        missing: Some(Missing::ORDER),
    },
    // Without the ACKs that are missing, less was in flight; and a window that a middlebox scaled is unknown.
    Doubt {
        holds: |pause| pause.unseen.overrun,
        about: About::These(&[Cause::CwndLimited, Cause::IdleRestart, Cause::SndbufLimited]),
        leaves: Leaves::AtMost(0.75),
        missing: Some(Missing::WINDOW),
    },
    // A subflow shows no more than these by itself: its window, its data and whether it may send are those of the whole
    // connection (RFC 8684 §3.3.1, §3.3.5), its congestion window grows with that of the others (RFC 6356 §3), and the
    // connection's mappings cut full segments short.
    Doubt {
        holds: |pause| pause.multipath,
        about: About::AllBut(&[Cause::Handshake, Cause::Retransmission, Cause::CaptureGap, Cause::Unexplained]),
        leaves: Leaves::AtMost(0.6),
        missing: Some(Missing::SUBFLOWS),
    },
    Doubt {
        holds: |pause| pause.unseen.unplaced,
        about: About::Every,
        leaves: Leaves::Share(0.8),
        missing: Some(Missing::DISTANCE),
    },
];

impl Doubt {
    /// The doubt concerns that cause of that pause.
    pub(super) fn concerns(&self, cause: Cause, pause: &Pause) -> bool {
        // Most doubts hold of hardly any pause.
        (self.holds)(pause)
            && match self.about {
                About::Every => true,
                About::These(causes) => causes.contains(&cause),
                About::AllBut(causes) => !causes.contains(&cause),
            }
    }

    /// The confidence that is left of this one.
    pub(super) fn lowers(&self, confidence: f32) -> f32 {
        match self.leaves {
            Leaves::Share(share) => confidence * share,
            Leaves::AtMost(most) => confidence.min(most),
        }
    }
}
