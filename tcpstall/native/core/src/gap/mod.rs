//! State to bursts and gaps: the end of a gap freezes its evidence, which is all that the rules will see.

pub mod builder;
pub mod context;
pub mod evidence;
mod open;
pub mod reading;
pub mod shut;
pub mod watch;

pub use evidence::{Burst, Gap};
pub use reading::Reading;
pub use shut::Shut;
pub use watch::{Finished, Seen, Watch};
