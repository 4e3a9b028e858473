//! Recognises records of a pcap file among other bytes.

use super::PcapReader;
use crate::capture::error::CaptureError;
use crate::capture::losses::have;
use crate::capture::stream::{RECORD_LIMIT, Stream};

/// Consecutive plausible records that are accepted: one header could also be part of a packet's payload.
const IN_A_ROW: usize = 4;
/// The same number where the records end exactly with the file.
const BEFORE_THE_END: usize = 2;
/// Largest distance of neighbouring packets of one capture, seconds.
const DAY: u32 = 86_400;

impl PcapReader {
    /// True if several consecutive plausible records begin at `at` in the buffer.
    pub(super) fn resumes(&self, stream: &mut Stream, mut at: usize) -> Result<bool, CaptureError> {
        let mut last = self.last_second;
        for count in 0..IN_A_ROW {
            if !have(stream, at + self.layout.record_header)? {
                return Ok(count >= BEFORE_THE_END && stream.buffered().len() == at);
            }
            let Some((second, length)) = self.plausible(stream.buffered().get(at..).unwrap_or_default(), last) else {
                return Ok(false);
            };
            last = Some(second);
            at += self.layout.record_header + length as usize;
        }
        Ok(true)
    }

    /// Second and captured length of a plausible record header; `last` is the second of the record before.
    fn plausible(&self, header: &[u8], last: Option<u32>) -> Option<(u32, u32)> {
        let [second, fraction, mut captured, mut wire] = self.layout.order.words(header)?;
        if self.old && captured > wire {
            (captured, wire) = (wire, captured);
        }
        let near = last.is_none_or(|last| second.abs_diff(last) <= DAY);
        let fraction_fits = i64::from(fraction) * self.layout.nanos < 1_000_000_000;
        let length_fits = (1..=self.limit.min(super::USUAL_SNAP_LENGTH)).contains(&captured);
        (near && fraction_fits && length_fits && (captured..=RECORD_LIMIT).contains(&wire))
            .then_some((second, captured))
    }
}
