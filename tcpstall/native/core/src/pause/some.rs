//! Replaces some pauses of a list.

use super::evidence::Pause;

/// The pauses, those that `is_meant` as `replaced` returns them. Usually none is meant, and no pause is moved.
pub(super) fn replace_some(
    pauses: Vec<Pause>,
    is_meant: impl Fn(&Pause) -> bool,
    replaced: impl Fn(Pause) -> Pause,
) -> Vec<Pause> {
    if !pauses.iter().any(&is_meant) {
        return pauses;
    }
    pauses.into_iter().map(|pause| if is_meant(&pause) { replaced(pause) } else { pause }).collect()
}
