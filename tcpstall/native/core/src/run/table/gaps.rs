//! Limits the memory of all flows' gaps.

use super::super::waiting::Waiting;
use crate::gap::Watch;

/// Memory from which older gaps are packed, bytes: a gap takes a kilobyte before, a quarter of that afterwards.
const PLAIN: usize = 16 << 20;
/// Largest memory of all gaps, bytes: beyond it each flow keeps only its share.
const MOST: usize = 48 << 20;
/// Smallest share of a flow, bytes.
const LEAST_SHARE: usize = 16 << 10;

/// Memory of the gaps of all followed flows.
#[derive(Debug, Default)]
pub(super) struct Gaps {
    bytes: usize,
}

impl Gaps {
    /// Takes in a further gap of that flow, one of `flows`.
    pub(super) fn grow(&mut self, watch: &mut Watch, flows: &Waiting) {
        if self.bytes >= PLAIN {
            watch.packs_gaps();
        }
        let (before, now) = watch.holds();
        self.bytes = self.bytes + now - before;
        watch.keeps_gaps(if self.bytes >= MOST { flows.share(MOST).max(LEAST_SHARE) } else { usize::MAX });
    }

    /// Removes that flow.
    pub(super) fn leave(&mut self, watch: Option<&Watch>) {
        self.bytes -= watch.map_or(0, Watch::held);
    }
}
