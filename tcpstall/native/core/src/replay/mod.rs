//! What a change would buy: a connection's applications, path and limits, recovered from a capture, played again.
//!
//! [`record`] is what the capture tells, [`recover`] what that gives away of applications, path and limits, [`model`] plays
//! it, [`forecast`] compares.

mod bound;
pub mod change;
pub mod forecast;
pub mod model;
pub mod record;
pub mod recover;
mod remedies;
pub mod setup;
mod sizing;

pub use self::change::Change;
pub use self::forecast::{Forecast, forecast};
pub use self::record::{Kind, Passing, Record, among};
