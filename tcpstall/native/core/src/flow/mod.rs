//! Segments to per-flow state: it records and never judges.

pub mod connection;
pub mod distance;
pub mod half;
pub mod handshake;
pub mod ranges;
pub mod window;

pub use connection::{Connection, Direction, State};
pub use half::{Acked, Half, Sending};
