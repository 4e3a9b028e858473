//! State to bursts and gaps: the end of a gap freezes its evidence, which is all that the rules will see.

mod answer;
pub mod builder;
pub mod context;
pub mod evidence;
mod open;
pub mod repair;
pub mod spikes;
pub mod watch;

pub use answer::Answer;
pub use evidence::{Burst, Gap};
pub use repair::{Attempt, Repair, Trigger};
pub use watch::{Finished, Seen, Watch};
