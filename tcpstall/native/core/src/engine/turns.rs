//! Whose turn it is: the reading thread's alone, or with other threads beside it.
//!
//! Segments and rows pass from processor to processor through memory. Where the two share no cache, that takes longer than
//! the work that the other one saves: long flows then take 1.8 times as long on two processors as on one. A host may move
//! its guests' processors at any time, so both ways are tried now and then, and the faster one goes on. The results are
//! the same either way.

use std::time::Instant;

/// Thread or threads that follow the flows of some batches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// By the reading thread.
    Alone,
    /// By other threads, while the reading one reads.
    Beside,
}

/// Batches of a trial beside others, and alone: some milliseconds.
const TRIAL: usize = if cfg!(test) { 2 } else { 64 };
const TRIAL_ALONE: usize = TRIAL.div_ceil(4);
/// Batches from the end of a trial to the next.
const SETTLED: usize = 32 * TRIAL;
/// Most time that the reading thread takes alone, as a share of what it takes beside others, to go on alone.
const CLEARLY_FASTER: f64 = 0.9;

/// The turns of a stream, in which the others begin. Short streams end in the first one.
#[derive(Debug)]
pub(super) struct Turns {
    turn: Turn,
    /// Batches until the turn is over.
    left: usize,
    /// Time for each packet in the latest trial beside others.
    beside: f64,
    /// When the turn began, and after how many packets.
    began: (Instant, u64),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Turn {
    /// The first batches: they fill the tables of flows, and tell nothing of later ones.
    First,
    Trial(Way),
    Settled(Way),
}

impl Turns {
    /// The turns of a stream, of which so many packets were read before.
    pub(super) fn new(packets: u64) -> Turns {
        Turns { turn: Turn::First, left: TRIAL, beside: 0.0, began: (now(), packets) }
    }

    /// Counts a batch; true if the turn is over with it.
    pub(super) fn is_over(&mut self) -> bool {
        self.left -= 1;
        self.left == 0
    }

    /// Whose turn is next, after so many packets of the stream.
    pub(super) fn next(&mut self, packets: u64) -> Way {
        let ((began, before), now) = (self.began, now());
        self.began = (now, packets);
        self.follows((now - began).as_secs_f64() / (packets - before).max(1) as f64)
    }

    /// Whose turn follows, given the `time` for each packet in the one that is over.
    fn follows(&mut self, time: f64) -> Way {
        let (turn, way, batches) = match self.turn {
            Turn::First | Turn::Settled(_) => (Turn::Trial(Way::Beside), Way::Beside, TRIAL),
            Turn::Trial(Way::Beside) => {
                self.beside = time;
                (Turn::Trial(Way::Alone), Way::Alone, TRIAL_ALONE)
            }
            Turn::Trial(Way::Alone) => {
                let way = if time < CLEARLY_FASTER * self.beside { Way::Alone } else { Way::Beside };
                (Turn::Settled(way), way, SETTLED)
            }
        };
        (self.turn, self.left) = (turn, batches);
        way
    }
}

/// No result depends on it.
#[expect(clippy::disallowed_methods, reason = "the faster way is that of this machine, whatever the capture's time")]
fn now() -> Instant {
    Instant::now()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The ways of so many turns of a stream whose packets take these times.
    fn ways(alone: f64, beside: f64, count: usize) -> Vec<Way> {
        let (mut turns, mut way, mut found) = (Turns::new(0), Way::Beside, Vec::new());
        for _ in 0..count {
            found.push(way);
            while !turns.is_over() {}
            way = turns.follows(if way == Way::Alone { alone } else { beside });
        }
        found
    }

    #[test]
    fn the_faster_way_goes_on_until_both_are_tried_again() {
        use Way::{Alone, Beside};
        assert_eq!(ways(1.0, 1.8, 7), [Beside, Beside, Alone, Alone, Beside, Alone, Alone]);
        assert_eq!(ways(1.0, 0.6, 7), [Beside, Beside, Alone, Beside, Beside, Alone, Beside]);
    }

    #[test]
    fn other_threads_go_on_unless_they_cost_clearly_more() {
        assert_eq!(ways(1.0, 1.05, 4).pop(), Some(Way::Beside));
        assert_eq!(ways(1.0, 1.2, 4).pop(), Some(Way::Alone));
    }
}
