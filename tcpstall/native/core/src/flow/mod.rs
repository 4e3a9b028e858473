//! Records the state of each flow from its segments, without judging it.

pub mod ack_arrival;
mod ack_clock;
pub mod clock_steps;
pub mod connection;
pub mod disorder;
mod end;
pub mod events;
pub mod first_payload;
pub mod half;
pub mod handshake;
mod in_order;
pub mod ip_id;
mod legs;
pub mod min_rtt;
pub mod outstanding;
mod part;
mod pending;
mod queue;
pub mod ranges;
pub mod reordering;
pub mod roles;
pub mod round_trips;
pub mod rounds;
mod short;
pub mod shortest;
pub mod silence;
pub mod tsval_clock;
pub mod vantage;
pub mod window;

pub use connection::{Connection, State};
pub use end::{End, split};
pub use events::{Acked, Sending};
pub use half::{CalmAck, Half};
pub use pending::PendingAck;
pub use short::Short;
