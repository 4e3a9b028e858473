//! A source that tells how many of its bytes a decoder has used up.

use std::io::{self, BufRead, BufReader, ErrorKind, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Buffered input of a decoder.
pub(super) struct Counted {
    inner: BufReader<Box<dyn Read + Send>>,
    used: Arc<AtomicU64>,
    failed: Arc<AtomicBool>,
}

impl Counted {
    /// `used` counts what is used up, `failed` tells that the source itself failed.
    pub(super) fn new(
        source: Box<dyn Read + Send>,
        buffer: usize,
        used: Arc<AtomicU64>,
        failed: Arc<AtomicBool>,
    ) -> Counted {
        Counted { inner: BufReader::with_capacity(buffer, source), used, failed }
    }

    /// No input at all.
    pub(super) fn empty() -> Counted {
        Counted::new(Box::new(io::empty()), 0, Arc::default(), Arc::default())
    }
}

impl BufRead for Counted {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        // A signal is not this thread's business, and not every decoder can be asked again.
        while let Err(error) = self.inner.fill_buf() {
            if error.kind() != ErrorKind::Interrupted {
                self.failed.store(true, Ordering::Relaxed);
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
