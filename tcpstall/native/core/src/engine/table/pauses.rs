//! Limits the memory of all flows' pauses.

use super::waiting::Waiting;
use crate::pause::Watch;

/// Memory from which older pauses are packed, bytes: a pause takes a kilobyte before, a seventh of that afterwards. What
/// packing frees lies in pieces of six kilobytes, which packed pauses are too long to use again.
const PLAIN: usize = 8 << 20;
/// Largest memory of all pauses, bytes: beyond it each flow keeps only its share. The flow that is judged takes seven times
/// its share on top.
const MOST: usize = 32 << 20;
/// Smallest share of a flow, bytes.
const LEAST_SHARE: usize = 16 << 10;

/// Memory of the pauses of all followed flows.
#[derive(Debug, Default)]
pub(super) struct Pauses {
    bytes: usize,
    /// Memory of those in other shards.
    elsewhere: usize,
}

impl Pauses {
    /// Takes in a further pause of that flow, one of `flows`.
    pub(super) fn grow(&mut self, watch: &mut Watch, flows: &Waiting) {
        if self.bytes + self.elsewhere >= PLAIN {
            watch.packs_pauses();
        }
        let (before, now) = watch.holds();
        self.bytes = self.bytes + now - before;
        watch.keeps_pauses(if self.bytes + self.elsewhere >= MOST {
            flows.share(MOST).max(LEAST_SHARE)
        } else {
            usize::MAX
        });
    }

    /// Removes that flow.
    pub(super) fn leave(&mut self, watch: Option<&Watch>) {
        self.bytes -= watch.map_or(0, Watch::held);
    }

    /// Memory of this shard's, bytes.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Takes in the memory of those in other shards.
    pub(super) fn is_beside(&mut self, elsewhere: usize) {
        self.elsewhere = elsewhere;
    }
}
