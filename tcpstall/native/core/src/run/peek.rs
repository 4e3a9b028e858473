//! What an input is, from its beginning.

use std::ops::ControlFlow;

use super::lane::Lane;
use super::opener::Opener;
use super::status::CaptureStatus;
use crate::capture::{CaptureError, Expansion, shown};
use crate::time::Nanos;

/// How much of the beginning is given, bytes: a block of a tar archive.
const HEAD: usize = 512;

/// What the beginning of an input shows.
#[derive(Clone, Debug, Default)]
pub struct Peek {
    /// The first bytes, unpacked.
    pub head: Vec<u8>,
    /// As far as it could be told: format, compression, link types, first packet, error.
    pub status: CaptureStatus,
}

impl Peek {
    /// The time of its first packet, if that stands near the beginning.
    pub fn first(&self) -> Option<Nanos> {
        self.status.first_ns
    }
}

/// Reads no more of an input than it takes to know what it is and when it begins. Where the reading waits, `signalled` says
/// whether to give up.
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
