//! Moves losses to other data: a changed transfer meets the path's losses elsewhere.

use super::setup::{HostSetup, Setup};

/// Places that the losses take by turns, evenly apart, the captured one among them.
const PLACES: i64 = 4;
/// Replays with losses elsewhere, beside the captured place.
pub(super) const TURNS: u64 = PLACES as u64 - 1;

/// The setup with all losses of each end moved by a part of its data.
pub(super) fn elsewhere(setup: &Setup) -> impl Iterator<Item = Setup> {
    (1..PLACES).map(|turn| {
        let mut moved = setup.clone();
        moved.ends.iter_mut().for_each(|end| turns(end, turn));
        moved
    })
}

fn turns(end: &mut HostSetup, turn: i64) {
    let bytes = end.bytes().max(1);
    for loss in &mut end.losses {
        loss.at = (loss.at + bytes / PLACES * turn) % bytes;
    }
    end.losses.sort_by_key(|loss| loss.at);
}
