//! Traits: what the rounds of one flow show of its sender, learnt before any wait of it is judged.
//!
//! A kernel's constant is a prior. A trait counts once the flow has shown it: rules read the value and how often it was seen.

mod after_idle;
mod full_segment;
mod growth;
mod initial_window;
mod nagle;
mod second_write;

use serde::{Deserialize, Serialize};

pub use full_segment::FullSegment;
pub use growth::Growth;
pub use nagle::Nagle;
pub use second_write::Second;

/// One burst and the pause after it, as the traits read them. Segments are full ones, rounded up.
#[derive(Clone, Copy, Debug, Default)]
pub struct Round {
    /// Segments in flight when the pause began, after the ACKs that trail the burst.
    pub out: u32,
    /// ACKs of new data that let the burst go.
    pub acks: u32,
    /// Segments acknowledged since the flow began, when the pause began.
    pub acked: u64,
    /// An ACK ended the pause: the next burst followed at once.
    pub released: bool,
    /// The peer's window has room for another segment, so far as its scale is known.
    pub open: bool,
    /// Something was lost or repaired in the pause, or packets are missing: the flight says little.
    pub disturbed: bool,
    /// Everything was acknowledged, and the sender stayed silent for longer than its retransmission timer.
    pub idle: bool,
    /// Nothing of the sender was outstanding when the pause ended.
    pub emptied: bool,
    /// The first wait after the handshake, or after the peer's turn, with nothing of the sender out.
    pub no_burst: bool,
    /// Nothing was out when the burst began.
    pub from_empty: bool,
    /// The end of the burst before the pause.
    pub tail: Tail,
    /// The start of the burst after the pause.
    pub next: Tail,
    /// ACKs of new data inside the pause.
    pub acks_inside: u32,
    /// What followed a short segment that had the pipe to itself.
    pub second: Second,
}

/// The short segment that a burst ends with, or that is a burst by itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tail {
    /// Full segments only.
    #[default]
    Whole,
    /// Full segments, and a short one that left with them.
    ShortWithMore,
    /// A short segment alone.
    ShortAlone,
}

/// What a flow shows of its sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Traits {
    /// How the congestion window grows in slow start.
    pub growth: Seen<Growth>,
    /// The window that a climb began with, segments.
    pub initial_window: Seen<u32>,
    /// The window that an idle period left, segments.
    pub after_idle: Seen<u32>,
    /// When a short segment may leave.
    pub nagle: Seen<Nagle>,
    /// A short second write waits for the ACK of the first, a full segment does not.
    pub second_held: Seen<bool>,
}

/// A value, and how often the flow has shown it; without that it is the prior.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seen<T> {
    /// The value, if the flow shows one.
    pub value: Option<T>,
    /// How often.
    pub times: u32,
}

impl Round {
    /// An ACK ended it, with room in the window: the congestion window, if growth agrees.
    pub(crate) fn is_wait(&self) -> bool {
        self.released && self.open && !self.disturbed && !self.no_burst && self.out > 0
    }
}

impl<T: Copy> Seen<T> {
    fn of(value: T, times: u32) -> Seen<T> {
        Seen { value: (times > 0).then_some(value), times }
    }

    /// The value, once it was seen twice: what happens once may be an accident.
    pub fn learnt(&self) -> Option<T> {
        self.value.filter(|_| self.times >= 2)
    }
}

/// What the traits make of one pause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Read {
    /// Steps of growth, one after the other, that lead through this pause: before and after it, each as the trait says.
    pub climb: u32,
    /// The climb begins here.
    pub climb_starts: bool,
    /// The window before an idle period, while the climb back is below it, segments.
    pub before_idle: Option<u32>,
    /// No pause after data came before it.
    pub first_wait: bool,
    /// The most segments that were in flight at any later pause.
    pub most_later: u32,
    /// The same of earlier pauses.
    pub most_before: u32,
    /// A short segment left alone after it, and only once nothing else was out.
    pub tail_held: bool,
}

/// Learns the traits of a sender from its rounds in order of time, and reads each round by them.
pub fn learn(rounds: &[Round]) -> (Traits, Vec<Read>) {
    let mut reads = vec![Read::default(); rounds.len()];
    if let Some(first) = rounds.iter().position(|round| !round.no_burst) {
        reads[first].first_wait = true;
    }
    let steps = growth::steps(rounds);
    let growth = growth::learn(&steps);
    let climbs = growth::climbs(rounds, &steps, growth);
    for climb in &climbs {
        climb.rounds.clone().for_each(|at| reads[at].climb = climb.steps);
        reads[*climb.rounds.start()].climb_starts = true;
    }
    let initial_window = initial_window::learn(rounds, &climbs);
    let after_idle = after_idle::learn(rounds, &climbs, &mut reads);
    let nagle = nagle::learn(rounds, &mut reads);
    let second_held = second_write::learn(rounds);
    let mut most = 0;
    for (round, read) in rounds.iter().zip(&mut reads).rev() {
        read.most_later = most;
        most = most.max(round.out);
    }
    most = 0;
    for (round, read) in rounds.iter().zip(&mut reads) {
        read.most_before = most;
        most = most.max(round.out);
    }
    (Traits { growth, initial_window, after_idle, nagle, second_held }, reads)
}
