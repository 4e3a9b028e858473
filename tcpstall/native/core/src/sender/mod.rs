//! What the sending stack does by itself: congestion window, timers, idle restart.

pub mod cwnd;
pub mod timers;

pub use cwnd::Cwnd;
