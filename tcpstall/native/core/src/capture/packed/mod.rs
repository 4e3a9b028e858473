//! Decompresses input in a thread of its own, so that decompression and analysis overlap.

mod compression;
mod counted;
mod here;
mod limit;
mod lz4;

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;

pub use self::compression::Compression;
pub(super) use self::compression::MAGIC;
use self::counted::Counted;
pub(super) use self::here::Here;
pub use self::limit::Expansion;
use super::pipe::PATIENCE;

/// Size of a chunk, bytes: the read loop's own buffer, so that one hand-over serves one read.
const CHUNK: usize = 256 * 1024;

/// Chunks in use: enough that neither side waits while the other works, few enough to stay in the cache.
const CHUNKS: usize = 4;

/// Reason why decompression stopped before the end: carried inside an [`io::Error`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fault {
    /// The fault, and its position in the compressed input.
    pub(super) what: String,
    /// True if the input simply ends early.
    pub(super) truncated: bool,
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.what)
    }
}

impl std::error::Error for Fault {}

/// A chunk and the length of its filled part.
type Chunk = (Vec<u8>, usize);

/// The decompressed bytes from the thread.
pub(super) struct Unpacked {
    filled: Receiver<io::Result<Option<Chunk>>>,
    emptied: SyncSender<Vec<u8>>,
    chunk: Chunk,
    at: usize,
    ended: bool,
}

/// Starts to decompress `source`; counts its used bytes in `read`.
pub(super) fn unpack(
    compression: Compression,
    source: Box<dyn Read + Send>,
    expansion: Expansion,
    read: Arc<AtomicU64>,
) -> io::Result<Unpacked> {
    let (fill, filled) = sync_channel(CHUNKS);
    let (emptied, empty) = sync_channel(CHUNKS + 1);
    for _ in 0..CHUNKS {
        // There is room for all chunks.
        let _ = emptied.try_send(vec![0; CHUNK]);
    }
    let work = move || {
        let (judge, counted) = Judge::of(compression, source, expansion, read);
        Worker { judge, empty, fill }.work(counted);
    };
    thread::Builder::new().name("unpack".into()).spawn(work)?;
    Ok(Unpacked { filled, emptied, chunk: (Vec::new(), 0), at: 0, ended: false })
}

impl Read for Unpacked {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        while self.at == self.chunk.1 && !self.ended {
            let next = match self.filled.recv_timeout(PATIENCE) {
                Ok(next) => next?,
                Err(RecvTimeoutError::Timeout) => return Err(io::ErrorKind::Interrupted.into()),
                Err(RecvTimeoutError::Disconnected) => return Err(failed()),
            };
            let Some(next) = next else {
                self.ended = true;
                break;
            };
            let (used, _) = std::mem::replace(&mut self.chunk, next);
            self.at = 0;
            if !used.is_empty() {
                // The thread may have ended already.
                let _ = self.emptied.try_send(used);
            }
        }
        let ready = &self.chunk.0[self.at..self.chunk.1];
        let count = ready.len().min(to.len());
        to[..count].copy_from_slice(&ready[..count]);
        self.at += count;
        Ok(count)
    }
}

/// A decoder is third-party code: its panic counts as a fault of the input.
#[cold]
fn failed() -> io::Error {
    io::Error::other(Fault { what: "the decompressor failed on it".into(), truncated: false })
}

/// State of the decompressing thread.
struct Worker {
    judge: Judge,
    empty: Receiver<Vec<u8>>,
    fill: SyncSender<io::Result<Option<Chunk>>>,
}

impl Worker {
    /// Decompresses to the end, or until nobody receives the chunks any more.
    fn work(self, source: Counted) {
        let mut decoder = match self.judge.compression.decoder(source) {
            Ok(decoder) => decoder,
            Err(error) => {
                let _ = self.fill.send(Err(self.judge.fault(&error)));
                return;
            }
        };
        let mut total = 0;
        while let Ok(mut chunk) = self.empty.recv() {
            let (filled, end) = fill(&mut *decoder, &mut chunk);
            total += filled as u64;
            let too_much = self.judge.too_much(total);
            if self.fill.send(Ok(Some((chunk, filled)))).is_err() {
                return;
            }
            let last = match end {
                _ if too_much => Err(self.judge.bomb(total)),
                StreamEnd::NotYet => continue,
                StreamEnd::Clean => Ok(None),
                StreamEnd::Broken(error) => Err(self.judge.fault(&error)),
            };
            // The receiver of the end must find the source closed.
            drop(decoder);
            let _ = self.fill.send(last);
            return;
        }
    }
}

/// Checks a decoder's output: its size, and whether an error is the data's fault.
struct Judge {
    compression: Compression,
    expansion: Expansion,
    read: Arc<AtomicU64>,
    failed: Arc<AtomicBool>,
}

impl Judge {
    /// A judge, and the source as the decoder's input; `read` counts the used bytes.
    fn of(
        compression: Compression,
        source: Box<dyn Read + Send>,
        expansion: Expansion,
        read: Arc<AtomicU64>,
    ) -> (Judge, Counted) {
        let failed = Arc::new(AtomicBool::new(false));
        let counted = Counted::new(source, Arc::clone(&read), Arc::clone(&failed));
        (Judge { compression, expansion, read, failed }, counted)
    }

    fn too_much(&self, total: u64) -> bool {
        self.expansion.exceeded(total, self.read.load(Ordering::Relaxed))
    }

    fn fault(&self, error: &io::Error) -> io::Error {
        // An error of the system, or a file that changed, is no fault of the data.
        if self.failed.load(Ordering::Relaxed) {
            return io::Error::other(error.to_string());
        }
        let (name, at) = (self.compression.name(), self.read.load(Ordering::Relaxed));
        let truncated = error.kind() == io::ErrorKind::UnexpectedEof;
        let what = if truncated {
            format!("the {name} data ends early, after byte {at} of the file")
        } else {
            format!("the {name} data is damaged before byte {at} of the file: {error}")
        };
        io::Error::other(Fault { what, truncated })
    }

    fn bomb(&self, total: u64) -> io::Error {
        let (name, read) = (self.compression.name(), self.read.load(Ordering::Relaxed));
        let what = format!(
            "{read} bytes of {name} data grew to {total}, over {} times as many; if that is right, raise --max-expansion",
            self.expansion.most
        );
        io::Error::other(Fault { what, truncated: false })
    }
}

/// Result of filling a chunk.
enum StreamEnd {
    /// The chunk is full.
    NotYet,
    /// The data ends here.
    Clean,
    /// Decompression cannot continue.
    Broken(io::Error),
}

/// Fills the chunk as far as there is data.
fn fill(decoder: &mut dyn Read, chunk: &mut [u8]) -> (usize, StreamEnd) {
    let mut filled = 0;
    while filled < chunk.len() {
        match decoder.read(&mut chunk[filled..]) {
            Ok(0) => return (filled, StreamEnd::Clean),
            Ok(count) => filled += count,
            Err(error) => return (filled, StreamEnd::Broken(error)),
        }
    }
    (filled, StreamEnd::NotYet)
}

#[cfg(test)]
mod tests;
