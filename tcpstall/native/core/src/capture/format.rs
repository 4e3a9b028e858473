//! Detects the format of a capture from its first bytes.

use super::error::CaptureError;
use super::foreign;
use super::pcap::Layout;
use super::snoop;
use super::stream::Stream;
use super::text::UTF8_BOM;
use crate::packet_no::PacketNo;
use crate::words::words;

words! {
    /// A supported capture format.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Format {
        /// The classic file format of libpcap, in microseconds or nanoseconds.
        Pcap = "pcap",
        /// The block-structured file format of Wireshark.
        Pcapng = "pcapng",
        /// The file format of Solaris.
        Snoop = "snoop",
        /// The text output of tcpdump.
        Text = "tcpdump-text",
    }
}

/// A format with the parameters from its first bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DetectedFormat {
    Pcap(Layout),
    Pcapng,
    Snoop,
    Text,
}

/// Size of the beginning that is tested, bytes; always this much, so that slow pipes are tested as files are.
const SAMPLE: usize = 4096;

/// Detects the format by content, never by name.
pub(super) fn detect(stream: &mut Stream) -> Result<DetectedFormat, CaptureError> {
    stream.need(4)?;
    if let Some(magic) = stream.buffered().first_chunk() {
        if let Some(layout) = Layout::of(*magic) {
            return Ok(DetectedFormat::Pcap(layout));
        }
        if *magic == [0x0a, 0x0d, 0x0d, 0x0a] {
            return Ok(DetectedFormat::Pcapng);
        }
    }
    let whole = !stream.need(SAMPLE)?;
    if stream.buffered().starts_with(snoop::MAGIC) {
        return Ok(DetectedFormat::Snoop);
    }
    if stream.buffered().is_empty() {
        // Compressed input may break off before its first byte.
        stream.end::<()>(PacketNo(1))?;
    }
    let sample = stream.buffered();
    let sample = &sample[..sample.len().min(SAMPLE)];
    match foreign::name(sample) {
        None if is_text(sample, whole) => Ok(DetectedFormat::Text),
        known => {
            let what = known.map_or_else(|| foreign::unknown(sample), str::to_owned);
            Err(CaptureError::NotACapture { what })
        }
    }
}

/// Recognises text: UTF-8 without the control characters of binary data; a character cut by the sample's end is
/// allowed.
fn is_text(sample: &[u8], whole: bool) -> bool {
    let sample = sample.strip_prefix(UTF8_BOM).unwrap_or(sample);
    let utf8 = match std::str::from_utf8(sample) {
        Ok(_) => true,
        Err(error) => error.error_len().is_none() && !whole,
    };
    // Escape characters remain in text that a pager or `script` saved.
    utf8 && sample.iter().all(|byte| !byte.is_ascii_control() || matches!(byte, b'\t' | b'\n' | b'\r' | 0x0c | 0x1b))
}
