//! Replaces some pauses of a list.

use super::super::evidence::Facts;

/// The pauses, those that `is_meant` as `replaced` returns them. No other pause is moved.
pub(super) fn replace_some(
    mut pauses: Vec<Facts>,
    is_meant: impl Fn(&Facts) -> bool,
    replaced: impl Fn(Facts) -> Facts,
) -> Vec<Facts> {
    for pause in pauses.iter_mut().filter(|pause| is_meant(pause)) {
        *pause = replaced(pause.clone());
    }
    pauses
}
