//! TCP headers (RFC 9293 §3.1).

use super::options::{self, Options};
use super::segment::{Endpoint, Flags, Segment};
use super::{Envelope, Skip};
use crate::capture::Frame;
use crate::seq::SeqNo;

/// Length of the header without options, bytes.
const FIXED: usize = 20;

/// Reads the segment in `envelope`, which came in `frame`.
#[inline]
pub(super) fn read(frame: &Frame<'_>, envelope: &Envelope<'_>) -> Result<Segment, Skip> {
    let header: &[u8; FIXED] = envelope.segment.first_chunk().ok_or(Skip::CutShort)?;
    let header_length = usize::from(header[12] >> 4) * 4;
    let payload = match envelope.length.checked_sub(header_length as u32) {
        _ if header_length < FIXED || envelope.length < FIXED as u32 => return Err(Skip::CutShort),
        Some(payload) => payload,
        // The first fragment of a header that is itself fragmented.
        None if envelope.fragmented => 0,
        None => return Err(Skip::CutShort),
    };
    // A fragment's options end with it, and bytes behind it would be the link layer's padding.
    let header_end = header_length.min(envelope.length as usize);
    let kept = envelope.segment.get(..header_end).unwrap_or(envelope.segment);
    let options = &kept[FIXED..];
    let segment = |options: Options| Segment {
        packet: frame.packet,
        time: frame.time,
        source: Endpoint { address: envelope.source, port: u16::from_be_bytes([header[0], header[1]]) },
        destination: Endpoint { address: envelope.destination, port: u16::from_be_bytes([header[2], header[3]]) },
        seq: SeqNo(u32::from_be_bytes([header[4], header[5], header[6], header[7]])),
        ack: SeqNo(u32::from_be_bytes([header[8], header[9], header[10], header[11]])),
        flags: Flags(header[13]),
        window: u16::from_be_bytes([header[14], header[15]]),
        payload,
        ip_id: envelope.ip_id,
        ttl: Some(envelope.ttl),
        timestamps: options.timestamps,
        mss: options.mss,
        window_scale: options.window_scale,
        sack_permitted: options.sack_permitted,
        options_cut: kept.len() < header_length,
        sack_count: options.sack_count,
        sack: options.sack,
    };
    // Two exits, so that the usual segment is written once and where the caller wants it: a copy takes longer than
    // all the decoding.
    if let Some(timestamps) = options::only_timestamps(options) {
        return Ok(segment(Options { timestamps: Some(timestamps), ..Options::default() }));
    }
    Ok(segment(options::read(options, Flags(header[13]).has(Flags::SYN))))
}
