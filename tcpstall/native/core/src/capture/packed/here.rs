//! Decompresses in the reading thread: for many captures at once, whose threads would compete, and for callers that
//! need only the beginning.

use std::io::{self, Read};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use super::compression::Compression;
use super::counted::Counted;
use super::limit::Expansion;
use super::{Judge, StreamEnd, failed, fill};

/// A decoder in the reading thread.
pub(in crate::capture) struct Here {
    judge: Judge,
    decoder: Decoder,
    total: u64,
    /// Reason why there is no more data, reported after the data before it.
    fault: Option<io::Error>,
}

enum Decoder {
    /// Not used yet: making the decoder reads from the source.
    Unmade(Counted),
    At(Box<dyn Read + Send>),
    /// The end was reached.
    Ended,
}

impl Here {
    /// Counts the used bytes of the source in `read`.
    pub(in crate::capture) fn new(
        compression: Compression,
        source: Box<dyn Read + Send>,
        expansion: Expansion,
        read: Arc<AtomicU64>,
    ) -> Here {
        let (judge, counted) = Judge::of(compression, source, expansion, read);
        Here { judge, decoder: Decoder::Unmade(counted), total: 0, fault: None }
    }

    fn unpack(&mut self, to: &mut [u8]) -> usize {
        let decoder = match std::mem::replace(&mut self.decoder, Decoder::Ended) {
            Decoder::Unmade(counted) => self.judge.compression.decoder(counted),
            Decoder::At(decoder) => Ok(decoder),
            Decoder::Ended => return 0,
        };
        let mut decoder = match decoder {
            Ok(decoder) => decoder,
            Err(error) => {
                self.fault = Some(self.judge.fault(&error));
                return 0;
            }
        };
        let (filled, end) = fill(&mut *decoder, to);
        self.total += filled as u64;
        match end {
            _ if self.judge.too_much(self.total) => self.fault = Some(self.judge.bomb(self.total)),
            StreamEnd::NotYet => self.decoder = Decoder::At(decoder),
            StreamEnd::Clean => {}
            StreamEnd::Broken(error) => self.fault = Some(self.judge.fault(&error)),
        }
        filled
    }
}

impl Read for Here {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        if to.is_empty() {
            return Ok(0);
        }
        match catch_unwind(AssertUnwindSafe(|| self.unpack(to))) {
            Ok(0) => self.fault.take().map_or(Ok(0), Err),
            Ok(count) => Ok(count),
            Err(_) => Err(failed()),
        }
    }
}
