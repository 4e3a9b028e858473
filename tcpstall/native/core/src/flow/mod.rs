//! Records the state of each flow from its segments, without judging it.

pub mod connection;
pub mod departure;
pub mod disorder;
pub mod distance;
pub mod events;
pub mod half;
pub mod handshake;
pub mod hearing;
pub mod identification;
mod legs;
pub mod level;
pub mod outstanding;
mod pending;
pub mod ranges;
pub mod reordering;
pub mod silence;
pub mod stamps;
pub mod starts;
pub mod turns;
pub mod window;

pub use connection::{Connection, Direction, State};
pub use events::{Acked, Sending};
pub use half::Half;
