//! How much memory the gaps of all flows may take.

use super::super::waiting::Waiting;
use crate::gap::Watch;

/// What they take before older ones are packed, a kilobyte each until then and a quarter of it afterwards.
const PLAIN: usize = 16 << 20;
/// What they take at most: beyond that a flow keeps no more than its share.
const MOST: usize = 48 << 20;
/// The least such share.
const LEAST_SHARE: usize = 16 << 10;

/// The gaps of all flows that are followed.
#[derive(Debug, Default)]
pub(super) struct Gaps {
    bytes: usize,
}

impl Gaps {
    /// That flow, one of so many, has a gap more.
    pub(super) fn grow(&mut self, watch: &mut Watch, flows: &Waiting) {
        if self.bytes >= PLAIN {
            watch.packs_gaps();
        }
        let (before, now) = watch.holds();
        self.bytes = self.bytes + now - before;
        watch.keeps_gaps(if self.bytes >= MOST { flows.share(MOST).max(LEAST_SHARE) } else { usize::MAX });
    }

    /// That flow leaves.
    pub(super) fn leave(&mut self, watch: Option<&Watch>) {
        self.bytes -= watch.map_or(0, Watch::held);
    }
}
