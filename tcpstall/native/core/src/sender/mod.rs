//! Models of the sending stack: congestion window, timers, idle restart, and the sizes to set.

mod ack_sample;
mod cubic;
pub mod cwnd;
mod hystart;
pub mod sizes;
pub mod timers;
mod two_per_ack;

pub use ack_sample::AckSample;
pub use cwnd::Cwnd;
pub use two_per_ack::MOST_PER_ACK;
