//! Changes to a SYN between the taps.

use serde::Serialize;

use crate::wire::Segment;

/// A field of the SYN that arrived with another value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SynChange {
    /// `mss`, `window-scale`, `sack-permitted`, `timestamps`, `multipath`.
    pub field: &'static str,
    /// Value as sent: bytes, a shift, or 1 for present; `None` without the option.
    pub sent: Option<u32>,
    /// Value as it arrived.
    pub seen: Option<u32>,
}

/// Differences between a SYN as sent and as it arrived; none where the snap length cut either's options.
pub(super) fn changes(sent: Option<&Segment>, seen: Option<&Segment>) -> Vec<SynChange> {
    let Some((sent, seen)) = sent.zip(seen).filter(|(sent, seen)| !sent.options_cut && !seen.options_cut) else {
        return Vec::new();
    };
    let present = |is: bool| is.then_some(1);
    let fields = |syn: &Segment| {
        [
            ("mss", syn.mss.map(u32::from)),
            ("window-scale", syn.window_scale.map(u32::from)),
            ("sack-permitted", present(syn.sack_permitted)),
            ("timestamps", present(syn.timestamps.is_some())),
            ("multipath", present(syn.multipath)),
        ]
    };
    let pairs = fields(sent).into_iter().zip(fields(seen));
    let pairs = pairs.map(|((field, sent), (_, seen))| (field, sent, seen));
    let changed = pairs.filter(|(_, sent, seen)| sent != seen);
    changed.map(|(field, sent, seen)| SynChange { field, sent, seen }).collect()
}
