//! Identifies an input from its beginning.

use std::ops::ControlFlow;

use super::opener::Opener;
use super::reader::lane::Lane;
use super::status::CaptureStatus;
use crate::capture::{CaptureError, Expansion, shown};
use crate::time::Nanos;

/// Bytes of the beginning that are returned: a block of a tar archive.
const HEAD: usize = 512;

/// Findings from the beginning of an input.
#[derive(Clone, Debug, Default)]
pub struct Peek {
    /// The first bytes, decompressed.
    pub head: Vec<u8>,
    /// Format, compression, link types, first packet and error, as far as they are known.
    pub status: CaptureStatus,
}

impl Peek {
    /// The time of its first packet, if that is near the beginning.
    pub fn first(&self) -> Option<Nanos> {
        self.status.first_ns
    }
}

/// Reads only as much of an input as is needed to identify it and its first time. Where the reading waits, `signalled`
/// decides whether to give up.
pub fn peek(path: &str, opener: &Opener, expansion: Expansion, mut signalled: impl FnMut() -> bool) -> Peek {
    let mut peek = Peek { status: CaptureStatus::new(&shown(path)), head: Vec::new() };
    let capture = match opener.open(path) {
        Ok(capture) => capture,
        Err(error) => {
            peek.status.fail(&error);
            return peek;
        }
    };
    let mut again = || if signalled() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
    let mut lane = Lane::new(0, capture.with_expansion(expansion).sparing());
    let error = loop {
        match lane.capture.head(HEAD) {
            Ok(head) => {
                peek.head = head;
                let ended = lane.begin(&mut peek.status, &mut again).is_break();
                break lane.error.take().or(ended.then_some(CaptureError::Interrupted));
            }
            Err(CaptureError::Interrupted) if again().is_continue() => {}
            Err(error) => break Some(error),
        }
    };
    if let Some(error) = error {
        peek.status.fail(&error);
    }
    peek.status.describe(&lane.capture);
    peek
}
