//! Compares two captures of the same traffic, taken at both ends: their shared flows, their clocks, and the fate of
//! each packet between them.
//!
//! Both captures are read whole into one record per packet ([`tap`]). Connections are matched by fields that
//! middleboxes do not change ([`matching`]), packets by their bytes ([`crossing`]), because one frame at one tap may be
//! many at the other. Packets that can be matched without a clock align the clocks ([`clock`]); the aligned clocks
//! match the others.

mod arrival;
mod clock;
mod columns;
mod crossing;
mod hull;
mod matching;
mod pure;
mod recovery;
mod rows;
mod survey;
mod syn;
mod tap;
mod way;

pub use clock::{Alignment, RelativeClock};
pub use columns::{delays, events, recoveries};
pub use rows::{Delay, PacketEvent, PairRow, Pairing, Passed, Period, Recovery, WayRow};

use crate::capture::CaptureError;
use crate::engine::CaptureStatus;
use tap::Tap;

/// Result of the comparison.
#[derive(Debug)]
pub struct Paired {
    /// The flows in both captures.
    pub pairing: Pairing,
    /// Status of each input, in the given order.
    pub captures: [CaptureStatus; 2],
}

/// Reads two captures and pairs their flows. `same_clock`: both have one clock, so no alignment is needed.
pub fn pair(paths: [&str; 2], same_clock: bool, mut signalled: impl FnMut() -> bool) -> Result<Paired, CaptureError> {
    let (first, first_status) = Tap::read(paths[0], &mut signalled)?;
    let (second, second_status) = Tap::read(paths[1], &mut signalled)?;
    let pairing = survey::survey(&first, &second, same_clock);
    Ok(Paired { pairing, captures: [first_status, second_status] })
}

#[cfg(test)]
mod tests;
