//! Where the tap is, and what it sees when: its distance from each end, and the senders' clocks and counters that show in which order,
//! and when, their packets left.

pub mod ack_arrival;
pub(super) mod ack_clock;
pub mod ack_round;
pub mod clock_steps;
pub mod disorder;
pub mod ip_id;
pub mod min_rtt;
mod nearer;
pub mod shortest;
pub mod tsval_clock;
pub mod vantage;
