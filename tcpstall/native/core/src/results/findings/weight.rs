//! Weight of a wait, and size of a message.

use crate::causes::details;
use crate::results::rows::StallRow;

/// Mean payload of a segment up to which an end sends messages: a keystroke through a secure shell takes 36 to
/// 80 bytes.
pub(super) const MESSAGE: u64 = 128;

/// Payload of a full segment on most paths: 1,500 bytes less the headers of IPv4.
pub(super) const FULL_SEGMENT: u64 = 1_460;

/// Segment size that every host accepts (RFC 9293 §3.7.1).
pub(super) const LEAST_SEGMENT: u64 = 536;

/// Own length of a wait: for an answer the time since its request, for any other wait its whole length. The silence
/// before the request was the peer's.
pub(super) fn weight(stall: &StallRow) -> i64 {
    let thought = stall.evidence.freed_to_data_ns.filter(|_| stall.detail == details::THINK_TIME);
    thought.unwrap_or(stall.duration_ns).min(stall.duration_ns).0.max(0)
}
