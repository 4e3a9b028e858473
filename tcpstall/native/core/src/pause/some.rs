//! Replaces some pauses of a list.

use super::evidence::Facts;

/// The pauses, those that `is_meant` as `replaced` returns them. Usually none is meant, and no pause is moved.
pub(super) fn replace_some(
    pauses: Vec<Facts>,
    is_meant: impl Fn(&Facts) -> bool,
    replaced: impl Fn(Facts) -> Facts,
) -> Vec<Facts> {
    if !pauses.iter().any(&is_meant) {
        return pauses;
    }
    pauses.into_iter().map(|pause| if is_meant(&pause) { replaced(pause) } else { pause }).collect()
}
