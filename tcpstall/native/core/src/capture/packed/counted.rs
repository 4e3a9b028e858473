//! A source that tells how many of its bytes a decoder has used up.

use std::io::{self, BufRead, ErrorKind, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// How much a decoder is given at once, bytes.
const BUFFER: usize = 64 * 1024;

/// Buffered input of a decoder. Its buffer is always filled as far as the input goes: what decoders make of damaged
/// data depends on how much of it they see at once, and must not depend on how it arrived.
pub(super) struct Counted {
    source: Box<dyn Read + Send>,
    buffer: Vec<u8>,
    /// What of the buffer is not used up.
    left: std::ops::Range<usize>,
    /// The source is at its end, or failed.
    ended: bool,
    failure: Option<io::Error>,
    used: Arc<AtomicU64>,
    failed: Arc<AtomicBool>,
}

impl Counted {
    /// `used` counts what is used up, `failed` tells that the source itself failed.
    pub(super) fn new(source: Box<dyn Read + Send>, used: Arc<AtomicU64>, failed: Arc<AtomicBool>) -> Counted {
        Counted { source, buffer: vec![0; BUFFER], left: 0..0, ended: false, failure: None, used, failed }
    }

    /// No input at all.
    pub(super) fn empty() -> Counted {
        Counted { buffer: Vec::new(), ..Counted::new(Box::new(io::empty()), Arc::default(), Arc::default()) }
    }

    fn fill(&mut self) {
        self.left = 0..0;
        while self.left.end < self.buffer.len() && !self.ended {
            match self.source.read(&mut self.buffer[self.left.end..]) {
                Ok(0) => self.ended = true,
                Ok(count) => self.left.end += count,
                // A signal is not this thread's business, and not every decoder can be asked again.
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => {
                    self.failed.store(true, Ordering::Relaxed);
                    self.failure = Some(error);
                    self.ended = true;
                }
            }
        }
    }
}

impl BufRead for Counted {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.left.is_empty() && !self.ended {
            self.fill();
        }
        match self.failure.take_if(|_| self.left.is_empty()) {
            Some(failure) => Err(failure),
            None => Ok(&self.buffer[self.left.clone()]),
        }
    }

    fn consume(&mut self, count: usize) {
        self.used.fetch_add(count as u64, Ordering::Relaxed);
        self.left.start = (self.left.start + count).min(self.left.end);
    }
}

impl Read for Counted {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let count = self.fill_buf()?.read(to)?;
        self.consume(count);
        Ok(count)
    }
}
