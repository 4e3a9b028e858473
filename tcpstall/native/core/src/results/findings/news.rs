//! Detects a client that asks the same again and again, at once after each answer, where the answers come at any time: it may wait for
//! news. Nobody can tell that from a slow server where TLS hides what is asked.

use super::idle::carries_tls;
use crate::flow::rounds::UNPROMPTED_AFTER;
use crate::results::rows::FlowRow;
use crate::time::Nanos;

/// Requests of one length that make a habit.
const ALIKE: usize = 3;
/// Half of the answers of a server that is well come sooner.
const SOON: Nanos = Nanos::from_millis(500);
/// Ratio of the latest answer to the middle one from which answers come at any time: of events at random that is 4 to 8 in a
/// dozen, and the times of one kind of work are nearer to each other.
const APART: i64 = 4;

/// Length of the requests that may ask for news, in a connection with TLS from before the capture. `soon` is the longest time from an
/// answer to a request that follows at once.
pub(super) fn length_of_polls(row: &FlowRow, soon: Nanos) -> Option<u64> {
    let all = row.exchanges.as_deref().unwrap_or_default();
    if row.handshake.duration_ns.is_some() || all.len() < ALIKE || !carries_tls(row) {
        return None;
    }
    let later = all.windows(2).filter(|two| two[1].start_ns - two[0].end_ns <= soon).map(|two| &two[1]);
    let mut waits: Vec<_> = all[..1].iter().chain(later).map(|one| (one.request_bytes, one.waited_ns)).collect();
    waits.sort_unstable();
    let alike = waits.chunk_by(|one, other| one.0 == other.0).max_by_key(|alike| alike.len())?;
    let (middle, latest) = (alike[alike.len() / 2].1, alike[alike.len() - 1].1);
    let any_time = middle >= SOON && latest >= middle.times(APART).max(UNPROMPTED_AFTER);
    (alike.len() >= ALIKE && 2 * alike.len() > all.len() && any_time).then_some(alike[0].0)
}
