//! What was changed in a SYN on its way.

use serde::Serialize;

use crate::wire::Segment;

/// A field of the SYN that came otherwise than it was sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Change {
    /// `mss`, `window-scale`, `sack-permitted`, `timestamps`, `multipath`.
    pub field: &'static str,
    /// As it was sent: bytes, a shift, or 1 for present; `None` without the option.
    pub sent: Option<u32>,
    /// As it came.
    pub seen: Option<u32>,
}

/// What differs between a SYN as it was sent and as it came; nothing where the snap length cut either's options.
pub(super) fn changes(sent: Option<&Segment>, seen: Option<&Segment>) -> Vec<Change> {
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
    changed.map(|(field, sent, seen)| Change { field, sent, seen }).collect()
}
