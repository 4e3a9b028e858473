//! Two captures of the same traffic, taken at both ends: which flows they share, how their clocks stand, and what became of
//! each packet between them.
//!
//! Both are read whole into a record a packet ([`tap`]). Connections are told by what middleboxes leave alone ([`matching`]),
//! packets by the bytes that they carry ([`crossing`]), for one frame at one tap may be many at the other. Packets that
//! can be told without a clock align the clocks ([`clock`]); the others are told by the aligned clocks.

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

pub use clock::{Alignment, Clock};
pub use columns::{delays, events, recoveries};
pub use rows::{Delay, Event, PairRow, Pairing, Passed, Period, Recovery, WayRow};

use crate::capture::CaptureError;
use crate::run::CaptureStatus;
use tap::Tap;

/// What came of two captures.
#[derive(Debug)]
pub struct Paired {
    /// The flows that both hold.
    pub pairing: Pairing,
    /// What became of each input, in the order given.
    pub captures: [CaptureStatus; 2],
}

/// Reads two captures and pairs their flows. `same_clock`: their times are one clock's, nothing is to be aligned.
pub fn pair(paths: [&str; 2], same_clock: bool, mut signalled: impl FnMut() -> bool) -> Result<Paired, CaptureError> {
    let (first, first_status) = Tap::read(paths[0], &mut signalled)?;
    let (second, second_status) = Tap::read(paths[1], &mut signalled)?;
    let pairing = survey::survey(&first, &second, same_clock);
    Ok(Paired { pairing, captures: [first_status, second_status] })
}

#[cfg(test)]
mod tests;
