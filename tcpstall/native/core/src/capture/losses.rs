//! Records damage in a capture that could be read on; reports it once, at the end.

use super::error::CaptureError;
use super::stream::Stream;
use crate::packet_no::PacketNo;

/// Limit of the search for readable data, bytes: beyond it the rest of the capture is lost.
pub(super) const REACH: u64 = 64 * 1024 * 1024;

/// Bytes searched before they are consumed; a multiple of what a candidate needs to be checked.
const STRIDE: usize = 256 * 1024;

/// The damaged places so far.
#[derive(Default)]
pub(super) struct Losses {
    first: Option<(u64, PacketNo, String)>,
    places: u64,
    bytes: u64,
}

impl Losses {
    /// Notes a place where the capture contradicts itself.
    #[cold]
    pub(super) fn note(&mut self, offset: u64, packet: PacketNo, what: String) {
        self.first.get_or_insert((offset, packet, what));
        self.places += 1;
    }

    /// Notes the bytes skipped until reading could go on.
    pub(super) fn skipped(&mut self, bytes: u64) {
        self.bytes += bytes;
    }

    /// Returns the end of the input, or the error that describes the losses before it.
    #[cold]
    pub(super) fn end<T>(&mut self, packet: PacketNo, stream: &mut Stream) -> Result<Option<T>, CaptureError> {
        match self.report() {
            Some(error) => {
                stream.close();
                Err(error)
            }
            None => stream.end(packet),
        }
    }

    /// The first damage and the size of all losses, if there are any.
    #[cold]
    pub(super) fn report(&mut self) -> Option<CaptureError> {
        let (offset, packet, what) = self.first.take()?;
        let what = match (self.bytes, self.places) {
            (0, _) => what,
            (bytes, 1) => format!("{what}; {bytes} bytes were skipped, what follows was read"),
            (bytes, places) => format!("{what}; {bytes} bytes in {places} places were skipped, the rest was read"),
        };
        Some(CaptureError::Damaged { offset, packet, what, truncated: false })
    }
}

/// Searches for the next offset that `fits`, a test of the stream and an offset in its buffer. Consumes the bytes
/// before it and returns their number; `None` where no offset within reach fits.
#[cold]
pub(super) fn seek(
    stream: &mut Stream,
    mut fits: impl FnMut(&mut Stream, usize) -> Result<bool, CaptureError>,
) -> Result<Option<u64>, CaptureError> {
    let (mut passed, mut at) = (0, 1);
    while passed + (at as u64) < REACH && have(stream, at + 1)? {
        if fits(stream, at)? {
            stream.take(at);
            return Ok(Some(passed + at as u64));
        }
        at += 1;
        if at == STRIDE {
            stream.take(at);
            passed += at as u64;
            at = 0;
        }
    }
    Ok(None)
}

/// Buffers `n` bytes; false at the end. Skipped bytes cannot be read again, so a signal has to wait.
pub(super) fn have(stream: &mut Stream, n: usize) -> Result<bool, CaptureError> {
    loop {
        match stream.need(n) {
            Err(CaptureError::Interrupted) => {}
            other => return other,
        }
    }
}
