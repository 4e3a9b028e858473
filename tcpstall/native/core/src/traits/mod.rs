//! Traits of a sender that the rounds of one flow show, learnt before any wait of the flow is judged.
//!
//! A kernel's constant is a prior. A trait counts once the flow has shown it: rules read the value and how often it was
//! seen.

mod after_idle;
mod full_segment;
mod growth;
mod initial_window;
mod nagle;
mod push;
mod second_write;

use serde::{Deserialize, Serialize};

pub use full_segment::FullSegment;
pub use growth::Growth;
pub use nagle::Nagle;
pub use second_write::Second;

/// One burst and the pause after it, as input to the traits. Segments are full ones, rounded up.
#[derive(Clone, Copy, Debug, Default)]
pub struct BurstAndPause {
    /// Segments in flight when the pause began, after the ACKs that trail the burst.
    pub out: u32,
    /// ACKs of new data that released the burst.
    pub acks: u32,
    /// Segments acknowledged since the flow began, when the pause began.
    pub acked: u64,
    /// Segments that the ACKs so far counted for, two at most each, on top of a first window; unknown after a loss.
    pub counted: Option<u32>,
    /// An ACK ended the pause: the next burst followed at once.
    pub released: bool,
    /// The peer's window has room for another segment, where its scale is known.
    pub open: bool,
    /// The next burst left only at the last ACK, although an earlier one had made room in both windows.
    pub let_room_pass: bool,
    /// Data was lost or repaired in the pause, or packets are missing: the flight is no evidence.
    pub disturbed: bool,
    /// All data was acknowledged, and the sender stayed silent for longer than its retransmission timer.
    pub idle: bool,
    /// None of the sender's data was outstanding when the pause ended.
    pub emptied: bool,
    /// The first wait after the handshake, or after the peer's turn, with no data of the sender outstanding.
    pub no_burst: bool,
    /// No data was outstanding when the burst began.
    pub from_empty: bool,
    /// The end of the burst before the pause.
    pub tail: Tail,
    /// The start of the burst after the pause.
    pub next: Tail,
    /// ACKs of new data inside the pause.
    pub acks_inside: u32,
    /// Reaction to a short segment that was alone in flight.
    pub second: Second,
    /// The burst ended with PSH.
    pub pushed: bool,
    /// Segments of the burst with PSH.
    pub pushes: u32,
    /// The peer sent payload before the sender's next data.
    pub answered: bool,
    /// More than one short write was in flight.
    pub several_short: bool,
    /// One of them left directly behind another.
    pub short_behind_short: bool,
    /// Losses that had lowered the window by the time of the pause.
    pub losses: u32,
    /// The peer lacked data during the pause.
    pub hole: bool,
}

/// The short segment that ends a burst, or that is a burst by itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tail {
    /// Full segments only.
    #[default]
    Whole,
    /// Full segments, and a short segment that left with them.
    ShortWithMore,
    /// A short segment alone.
    ShortAlone,
}

/// Traits that a flow shows of its sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Traits {
    /// The law by which the congestion window grows in slow start.
    pub growth: Observed<Growth>,
    /// The window that a climb began with, segments.
    pub initial_window: Observed<u32>,
    /// The window after an idle period, segments.
    pub after_idle: Observed<u32>,
    /// The condition under which a short segment may leave.
    pub nagle: Observed<Nagle>,
    /// A short second write waits for the ACK of the first; a full segment does not.
    pub second_held: Observed<bool>,
    /// PSH marks the end of the sender's data.
    pub push: Observed<bool>,
}

/// A value, and how often the flow has shown it. A value shown zero times is the prior.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Observed<T> {
    /// The value, if the flow shows one.
    pub value: Option<T>,
    /// Number of times that the flow has shown it.
    pub times: u32,
}

impl BurstAndPause {
    /// The pause is a wait for the congestion window, if growth agrees: an ACK ended it, with room in the peer's
    /// window.
    pub(crate) fn is_wait(&self) -> bool {
        self.open && self.is_released()
    }

    /// An ACK ended the pause, in which nothing was lost.
    pub(crate) fn is_released(&self) -> bool {
        self.released && !self.disturbed && !self.no_burst && self.out > 0
    }
}

impl<T: Copy> Observed<T> {
    fn of(value: T, times: u32) -> Observed<T> {
        Observed { value: (times > 0).then_some(value), times }
    }

    /// The value, once it was seen twice: a single occurrence may be an accident.
    pub fn learnt(&self) -> Option<T> {
        self.value.filter(|_| self.times >= 2)
    }
}

/// Evidence that the traits give for one pause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Read {
    /// Consecutive steps of growth through this pause, before and after it, each as the trait predicts.
    pub climb: u32,
    /// The climb begins with this pause.
    pub climb_starts: bool,
    /// Merged ACKs came since the pause before: the step to this pause is smaller than the trait predicts, by what such ACKs count for.
    pub merged: bool,
    /// The window before an idle period, while the climb back is below it, segments.
    pub before_idle: Option<u32>,
    /// The climb began after an idle period, perhaps before the capture, and no larger flight shows the window before that.
    pub after_idle: bool,
    /// No pause after data came before this one.
    pub first_wait: bool,
    /// The most segments that were in flight at any later pause.
    pub most_later: u32,
    /// The most segments that were in flight at any earlier pause.
    pub most_before: u32,
    /// The most segments that were in flight at any earlier pause since the last loss.
    pub most_since_loss: u32,
    /// Segments that two earlier waits for ACKs had in flight at least.
    pub twice_before: u32,
    /// Segments that three earlier waits for ACKs had in flight at least.
    pub often_before: u32,
    /// A short segment left alone after the pause, and only once no other data was outstanding.
    pub tail_held: bool,
    /// That segment was the end of what was written: the sender then stayed silent past the segment's own ACK.
    pub tail_ends: bool,
}

/// Learns the traits of a sender from its rounds in order of time, and fills in the evidence for each round, of which
/// none is known yet.
pub fn learn(rounds: &[BurstAndPause], reads: &mut [Read]) -> Traits {
    if let Some(first) = rounds.iter().position(|round| !round.no_burst) {
        reads[first].first_wait = true;
    }
    let steps = growth::steps(rounds);
    let growth = growth::learn(&steps);
    let climbs = growth::climbs(rounds, &steps, growth);
    for climb in &climbs {
        let start = *climb.rounds.start();
        // Where it goes on from a step by merged ACKs, the climb began before.
        reads[start].climb_starts = reads[start].climb == 0;
        climb.rounds.clone().for_each(|at| reads[at].climb = climb.steps.max(reads[at].climb));
        (climb.lawful + 1..=*climb.rounds.end()).for_each(|at| reads[at].merged = true);
    }
    let initial_window = initial_window::learn(rounds, &climbs);
    let after_idle = after_idle::learn(rounds, &climbs, reads);
    let nagle = nagle::learn(rounds, reads);
    let second_held = second_write::learn(rounds);
    let push = push::learn(rounds);
    let mut most = 0;
    for (round, read) in rounds.iter().zip(&mut *reads).rev() {
        read.most_later = most;
        most = most.max(round.out);
    }
    most = 0;
    let (mut since_loss, mut losses) = (0, 0);
    let mut largest = [0; 3];
    for (round, read) in rounds.iter().zip(reads) {
        let lossy = round.disturbed || round.hole;
        since_loss = if lossy || round.losses != losses { 0 } else { since_loss };
        (read.most_before, read.most_since_loss) = (most, since_loss);
        (read.twice_before, read.often_before) = (largest[1], largest[0]);
        since_loss = if lossy { 0 } else { since_loss.max(round.out) };
        (most, losses) = (most.max(round.out), round.losses);
        // With a short segment out the sender had sent all that its buffer held.
        if round.is_wait() && round.tail == Tail::Whole && round.out > largest[0] {
            largest[0] = round.out;
            largest.sort_unstable();
        }
    }
    Traits { growth, initial_window, after_idle, nagle, second_held, push }
}
