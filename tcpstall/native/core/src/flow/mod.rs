//! Records the state of each flow from its segments, without judging it.

mod announced;
pub mod connection;
mod end;
pub mod events;
pub mod first_payload;
pub mod half;
pub mod rounds;
pub mod tap;

pub use connection::steady::Steady;
pub use connection::{Connection, State};
pub use end::{End, split};
pub use events::{Acked, Sending};
pub use half::pending::PendingAck;
pub use half::short::Short;
pub use half::{CalmAck, Half, SteadyAck, SteadyHalf};
