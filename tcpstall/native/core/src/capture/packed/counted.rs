//! A source that tells how many of its bytes a decoder has used up.

use std::io::{self, BufRead, BufReader, ErrorKind, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Buffered input of a decoder.
pub(super) struct Counted {
    inner: BufReader<Box<dyn Read + Send>>,
    used: Arc<AtomicU64>,
}

impl Counted {
    pub(super) fn new(source: Box<dyn Read + Send>, buffer: usize, used: Arc<AtomicU64>) -> Counted {
        Counted { inner: BufReader::with_capacity(buffer, source), used }
    }

    /// No input at all.
    pub(super) fn empty() -> Counted {
        Counted::new(Box::new(io::empty()), 0, Arc::default())
    }
}

impl BufRead for Counted {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        // A signal is not this thread's business, and not every decoder can be asked again.
        while let Err(error) = self.inner.fill_buf() {
            if error.kind() != ErrorKind::Interrupted {
                return Err(error);
            }
        }
        Ok(self.inner.buffer())
    }

    fn consume(&mut self, count: usize) {
        self.used.fetch_add(count as u64, Ordering::Relaxed);
        self.inner.consume(count);
    }
}

impl Read for Counted {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let count = self.fill_buf()?.read(to)?;
        self.consume(count);
        Ok(count)
    }
}
