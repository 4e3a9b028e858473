//! Which bytes look like records of a pcap file.

use super::Pcap;
use crate::capture::error::CaptureError;
use crate::capture::losses::have;
use crate::capture::stream::{RECORD_LIMIT, Stream};

/// So many records in a row are believed. One header of a packet inside a packet's payload would do for one.
const IN_A_ROW: usize = 4;
/// The same where they end exactly with the file.
const BEFORE_THE_END: usize = 2;
/// Neighbouring packets of one capture are no further apart, seconds.
const DAY: u32 = 86_400;

impl Pcap {
    /// Several plausible records in a row begin at `at` in the buffer.
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

    /// Second and captured length of a record header that may follow one of the second `last`.
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
