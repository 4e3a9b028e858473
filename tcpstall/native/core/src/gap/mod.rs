//! Derives bursts and gaps from per-flow state; the end of a gap freezes its evidence, which is all that the rules see.

mod answer;
mod arrange;
pub mod bottleneck;
pub mod builder;
pub mod context;
mod coverage;
pub mod evidence;
pub mod hole;
mod kept;
mod open;
pub mod reading;
mod recovered;
pub mod repair;
mod rounds;
mod scale;
pub mod shut;
pub mod spikes;
mod turns;
pub mod unseen;
pub mod watch;

pub use answer::Answer;
pub use bottleneck::Stretch;
pub use evidence::{Burst, Gap};
pub use reading::{Backlog, Reading};
pub use repair::{Attempt, Repair, Trigger};
pub use rounds::SOON;
pub use shut::Shut;
pub use watch::{Finished, Seen, Watch};
