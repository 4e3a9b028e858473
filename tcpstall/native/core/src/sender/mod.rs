//! Models of the sending stack: congestion window, timers, idle restart.

mod cubic;
pub mod cwnd;
mod hystart;
mod path;
pub mod timers;

pub use cwnd::Cwnd;
pub use path::Path;
