//! State to bursts and gaps: the end of a gap freezes its evidence, which is all that the rules will see.

pub mod bottleneck;
pub mod builder;
pub mod context;
pub mod evidence;
mod open;
pub mod repair;
mod scale;
mod turns;
pub mod watch;

pub use bottleneck::Stretch;
pub use evidence::{Burst, Gap};
pub use repair::{Attempt, Repair, Trigger};
pub use watch::{Finished, Seen, Watch};
