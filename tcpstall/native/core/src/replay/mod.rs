//! Predicts the effect of a change: recovers a connection's applications, path and limits from a capture, and replays
//! them.
//!
//! [`record`] keeps a flow's packets and diagnosis, [`recover`] infers applications, path and limits from them,
//! [`model`] replays these, [`forecast`] compares the results.

mod bound;
mod buffers;
mod carried;
pub mod change;
mod fit;
pub mod forecast;
mod gain;
mod luck;
pub mod model;
mod outcome;
mod progress;
pub mod record;
pub mod recover;
mod remedies;
pub mod setup;
pub mod shared;
mod sizing;
mod times;
mod unknown;
mod view;

pub use self::change::Change;
pub use self::forecast::{Forecast, forecast};
pub use self::record::{Passing, PassingKind, Record, among};
pub use self::shared::{OnLine, forecast_together};
pub use self::times::Times;
