//! TCP headers (RFC 9293 §3.1).

use super::segment::{Endpoint, Flags, Segment};
use super::{Envelope, Skip, options};
use crate::capture::Frame;
use crate::seq::SeqNo;

/// Length of the header without options, bytes.
const FIXED: usize = 20;

/// Length that a header states for itself, bytes.
pub(super) fn header_length(header: &[u8]) -> u32 {
    header.get(12).map_or(0, |offset| u32::from(offset >> 4) * 4)
}

/// Reads the segment in `envelope`, which came in `frame`, into `segment`, and returns the captured part of its
/// payload. Inlined at each call, because one of two calls has to be cheap.
#[inline(always)]
pub(super) fn read<'a>(frame: &Frame<'_>, envelope: &Envelope<'a>, segment: &mut Segment) -> Result<&'a [u8], Skip> {
    let header: &[u8; FIXED] = envelope.segment.first_chunk().ok_or(Skip::CutShort)?;
    let header_length = usize::from(header[12] >> 4) * 4;
    let payload = match envelope.length.checked_sub(header_length as u32) {
        _ if header_length < FIXED || envelope.length < FIXED as u32 => return Err(Skip::CutShort),
        Some(payload) => payload,
        // The first fragment of a header that is itself fragmented.
        None if envelope.fragmented => 0,
        None => return Err(Skip::CutShort),
    };
    // A fragment's options end with it; bytes after it would be the link layer's padding.
    let header_end = header_length.min(envelope.length as usize);
    let kept = envelope.segment.get(..header_end).unwrap_or(envelope.segment);
    let [s0, s1, d0, d1, q0, q1, q2, q3, a0, a1, a2, a3, _, flags, w0, w1, ..] = *header;
    segment.packet = frame.packet;
    segment.time = frame.time;
    segment.source = Endpoint { address: envelope.source, port: u16::from_be_bytes([s0, s1]) };
    segment.destination = Endpoint { address: envelope.destination, port: u16::from_be_bytes([d0, d1]) };
    segment.seq = SeqNo(u32::from_be_bytes([q0, q1, q2, q3]));
    segment.ack = SeqNo(u32::from_be_bytes([a0, a1, a2, a3]));
    segment.flags = Flags(flags);
    segment.window = u16::from_be_bytes([w0, w1]);
    // RFC 9293 §3.5.3: the text of a RST names its cause, and is no data of the connection.
    segment.payload = if flags & Flags::RST.0 == 0 { payload } else { 0 };
    segment.ip_id = envelope.ip_id;
    segment.ttl = Some(envelope.ttl);
    segment.tunnelled = false;
    segment.fragmented = envelope.fragmented;
    segment.goes_on = false;
    segment.options_cut = kept.len() < header_length;
    options::read(kept.get(FIXED..).unwrap_or_default(), segment);
    let payload_end = envelope.segment.len().min(envelope.length as usize);
    Ok(envelope.segment.get(header_length..payload_end).unwrap_or_default())
}
