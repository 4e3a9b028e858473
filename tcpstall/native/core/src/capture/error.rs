//! Errors of opening and reading a capture, each in one line that says what, where and what to do.

use std::fmt;

use crate::packet_no::PacketNo;

/// A capture that gives no packets, or no more of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CaptureError {
    /// The file could not be opened.
    Open {
        /// The path as the caller gave it.
        path: String,
        /// Reason in words.
        reason: String,
    },
    /// The input is not a capture.
    NotACapture {
        /// Description of the input, and advice.
        what: String,
    },
    /// The capture breaks off or contradicts itself; the packets before this point are good.
    Damaged {
        /// Start of the unreadable record, bytes from the start of the (decompressed) input.
        offset: u64,
        /// Number of the first packet that could not be read (in text: of the line).
        packet: PacketNo,
        /// Needed and available data.
        what: String,
        /// True if the input simply ends inside a record, as after a killed capture or a full disk.
        truncated: bool,
    },
    /// A signal came during the wait for input; the read can be repeated.
    Interrupted,
    /// The operating system failed to read.
    Read {
        /// Bytes read before.
        offset: u64,
        /// The system's reason.
        reason: String,
    },
}

impl CaptureError {
    /// The same error, with the name of the input as given.
    pub fn about(self, name: String) -> CaptureError {
        match self {
            CaptureError::Open { reason, .. } => CaptureError::Open { path: name, reason },
            other => other,
        }
    }
}

impl fmt::Display for CaptureError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CaptureError::Open { path, reason } => write!(f, "cannot open {path}: {reason}"),
            CaptureError::NotACapture { what } => write!(f, "not a packet capture: this is {what}"),
            CaptureError::Damaged { offset, packet, what, truncated: true } => {
                write!(f, "capture ends early, in packet {} at byte {offset}: {what}", packet.0)
            }
            CaptureError::Damaged { offset, packet, what, truncated: false } => {
                write!(f, "capture is damaged at packet {}, byte {offset}: {what}", packet.0)
            }
            CaptureError::Interrupted => f.write_str("interrupted while reading"),
            CaptureError::Read { offset, reason } => {
                write!(f, "reading failed after byte {offset}: {reason}")
            }
        }
    }
}

impl std::error::Error for CaptureError {}

/// The error of a record of `needed` bytes that is cut by the end of the input after `had` bytes.
#[cold]
pub(super) fn cut(offset: u64, packet: PacketNo, record: &str, needed: u64, had: u64) -> CaptureError {
    let what = format!("{record} takes {needed} bytes and {had} are left");
    CaptureError::Damaged { offset, packet, what, truncated: true }
}
