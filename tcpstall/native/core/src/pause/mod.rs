//! Derives bursts and pauses from per-flow state. The end of a pause freezes its facts, which nothing changes; the flow's end
//! settles them and adds their context, and that is all that the rules see.

mod arrange;
pub mod bottleneck;
pub mod builder;
mod burst;
pub mod context;
pub mod evidence;
pub mod hole;
mod kept;
mod later;
pub mod losses;
mod open;
mod over;
mod packed;
pub mod pauses;
mod rare_events;
pub mod reading;
pub mod repairs;
mod settle;
pub mod spikes;
mod trait_evidence;
pub mod watch;

pub use bottleneck::BusyPeriod;
pub use burst::Burst;
pub use evidence::Facts;
pub use evidence::persist::Persist;
pub use evidence::repair::{Attempt, PauseRepairs, Trigger};
pub use evidence::slowest_ack::SlowestAck;
pub use over::Over;
pub use pauses::{Pause, Pauses, Rest};
pub use reading::{Backlog, Reading};
pub use watch::{Finished, SeenSegment, SegmentKind, Watch};

use crate::time::Nanos;

/// Shortest pause that counts as a wait: shorter ones are the noise of hosts.
pub const LEAST_PAUSE: Nanos = Nanos::from_micros(250);
