//! Compressed input unpacked where it is read: for many captures at once, whose threads would be in each other's way, and for
//! whoever wants the beginning only.

use std::io::{self, Read};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use super::compression::Compression;
use super::counted::Counted;
use super::limit::Expansion;
use super::{End, Judge, failed, fill};

/// Unpacks as it is read.
pub(in crate::capture) struct Here {
    judge: Judge,
    decoder: Decoder,
    total: u64,
    /// Why there is no more, once what came before it was handed out.
    fault: Option<io::Error>,
}

enum Decoder {
    /// Nothing was asked of it yet: making it reads from the source.
    Unmade(Counted),
    At(Box<dyn Read + Send>),
    /// There is no more.
    Ended,
}

impl Here {
    /// Counts in `read` how much of the source was used up.
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
            End::Open => self.decoder = Decoder::At(decoder),
            End::Clean => {}
            End::Broken(error) => self.fault = Some(self.judge.fault(&error)),
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
