//! Counts the bytes that a decoder has used up of its source.

use std::io::{self, BufRead, ErrorKind, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Size of the decoder's input buffer, bytes.
const BUFFER: usize = 64 * 1024;

/// Buffered input of a decoder. The buffer is always filled as far as the input goes: a decoder's reaction to damaged
/// data depends on the amount it sees at once, and must not depend on the input's pace.
pub(super) struct Counted {
    source: Box<dyn Read + Send>,
    buffer: Vec<u8>,
    /// The part of the buffer that is not used up.
    left: std::ops::Range<usize>,
    /// The source is at its end, or failed.
    ended: bool,
    failure: Option<io::Error>,
    used: Arc<AtomicU64>,
    failed: Arc<AtomicBool>,
}

impl Counted {
    /// Counts used bytes in `used`; sets `failed` if the source itself fails.
    pub(super) fn new(source: Box<dyn Read + Send>, used: Arc<AtomicU64>, failed: Arc<AtomicBool>) -> Counted {
        Counted { source, buffer: vec![0; BUFFER], left: 0..0, ended: false, failure: None, used, failed }
    }

    /// An empty input.
    pub(super) fn empty() -> Counted {
        Counted { buffer: Vec::new(), ..Counted::new(Box::new(io::empty()), Arc::default(), Arc::default()) }
    }

    fn fill(&mut self) {
        self.left = 0..0;
        while self.left.end < self.buffer.len() && !self.ended {
            match self.source.read(&mut self.buffer[self.left.end..]) {
                Ok(0) => self.ended = true,
                Ok(count) => self.left.end += count,
                // A signal does not concern this thread, and not every decoder can repeat a read.
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
