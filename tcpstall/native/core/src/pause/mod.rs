//! Derives bursts and pauses from per-flow state. The end of a pause freezes its facts, which nothing changes; the flow's end
//! settles them and adds their context, and that is all that the rules see.

mod after_recovery;
mod arrange;
pub mod beat;
mod before_report;
pub mod bottleneck;
pub mod builder;
mod burst;
mod burst_cap;
mod byte_growth;
pub mod context;
mod coverage;
mod cut_short;
pub mod evidence;
mod first_avoidance;
pub mod hole;
mod kept;
mod later;
mod lone;
pub mod losses;
mod merged_acks;
mod messages;
mod mid_write;
mod open;
mod over;
mod packed;
pub mod pauses;
mod per_ack;
pub mod persist;
mod rare_events;
pub mod reading;
mod recovered;
mod release;
pub mod repair;
pub mod repairs;
mod room;
mod round_growth;
mod same_level;
mod scale;
mod settle;
mod several_short;
mod shaper;
mod slowest_ack;
mod some;
mod spare_segment;
pub mod spikes;
mod trait_evidence;
mod tso;
pub mod under_way;
mod unseen;
pub mod watch;
mod whole_burst;

pub use bottleneck::BusyPeriod;
pub use burst::Burst;
pub use evidence::Facts;
pub use over::Over;
pub use pauses::{Pause, Pauses, Rest};
pub use persist::Persist;
pub use reading::{Backlog, Reading};
pub use repair::{Attempt, PauseRepairs, Trigger};
pub use slowest_ack::SlowestAck;
pub use watch::{Finished, SeenSegment, SegmentKind, Watch};

use crate::time::Nanos;

/// Shortest pause that counts as a wait: shorter ones are the noise of hosts.
pub const LEAST_PAUSE: Nanos = Nanos::from_micros(250);
