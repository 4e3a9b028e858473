//! The one read loop: bytes from a file or a pipe, buffered so that a whole record is one slice.

use std::io::{Cursor, ErrorKind, Read};

use super::error::{CaptureError, cut};
use super::packed::Fault;
use crate::packet_no::PacketNo;

/// Size of a read, bytes: it hides the cost of the system call, and the bytes are still in the cache when they are
/// parsed.
const BUFFER: usize = 256 * 1024;

/// Size of the beginning, bytes: the headers and first packets of most captures, and enough to recognise text.
const LITTLE: usize = 16 * 1024;

/// Longest record or line that is buffered, bytes. The longest packets are of the order of 512 KiB (BIG TCP), so a
/// larger length is damage, and the limit keeps a damaged length from using up the machine's memory.
pub(super) const RECORD_LIMIT: u32 = 16 * 1024 * 1024;

/// Buffered input with its position in the file.
pub(super) struct Stream {
    source: Box<dyn Read + Send>,
    buffer: Vec<u8>,
    /// Size of the buffer once its source has filled it, bytes.
    most: usize,
    /// Index of the first unconsumed byte.
    start: usize,
    /// Index after the last byte read.
    end: usize,
    /// Offset in the input of `buffer[0]`.
    base: u64,
    /// The source is at its end, so that a terminal is not read again, or an error ended the reading.
    ended: bool,
    /// Reason why compressed input ended early.
    fault: Option<Fault>,
}

impl Stream {
    pub(super) fn new(source: Box<dyn Read + Send>) -> Stream {
        Stream::buffering(LITTLE, BUFFER, source)
    }

    /// A stream of about `size` bytes: no more memory is taken than these need, because an archive has many small files.
    pub(super) fn sized(size: u64, source: Box<dyn Read + Send>) -> Stream {
        let size = usize::try_from(size).map_or(BUFFER, |size| size.min(BUFFER));
        // One byte more: the end is found without a larger buffer.
        Stream::buffering((size + 1).next_multiple_of(LITTLE).min(BUFFER), BUFFER, source)
    }

    /// A stream for callers that need only the beginning: reads little at once.
    pub(super) fn sparing(source: Box<dyn Read + Send>) -> Stream {
        Stream::buffering(LITTLE, LITTLE, source)
    }

    /// A stream without a byte.
    pub(super) fn nothing() -> Stream {
        Stream::buffering(0, 0, Box::new(std::io::empty()))
    }

    fn buffering(first: usize, most: usize, source: Box<dyn Read + Send>) -> Stream {
        Stream { source, buffer: vec![0; first], most, start: 0, end: 0, base: 0, ended: false, fault: None }
    }

    /// All bytes that are not consumed yet, as a source.
    pub(super) fn into_source(self) -> Box<dyn Read + Send> {
        let mut buffer = self.buffer;
        buffer.truncate(self.end);
        let mut buffered = Cursor::new(buffer);
        buffered.set_position(self.start as u64);
        Box::new(buffered.chain(self.source))
    }

    /// Bytes consumed so far.
    #[inline]
    pub(super) fn offset(&self) -> u64 {
        self.base + self.start as u64
    }

    /// Buffers `n` bytes; false if the input ends before. `n` stays near [`RECORD_LIMIT`].
    #[inline]
    pub(super) fn need(&mut self, n: usize) -> Result<bool, CaptureError> {
        if self.end - self.start >= n { Ok(true) } else { self.fill(n) }
    }

    /// The buffered bytes that are not consumed.
    #[inline]
    pub(super) fn buffered(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }

    /// Consumes `n` buffered bytes, or as many as there are.
    #[inline]
    pub(super) fn take(&mut self, n: usize) -> &[u8] {
        let start = self.start;
        self.start = start.saturating_add(n).min(self.end);
        &self.buffer[start..self.start]
    }

    /// The `n` bytes consumed last, while nothing was read since.
    pub(super) fn consumed(&self, n: usize) -> Option<&[u8]> {
        self.buffer.get(self.start.checked_sub(n)?..self.start)
    }

    /// Consumes `n` bytes without keeping them; returns the number of bytes there were.
    pub(super) fn discard(&mut self, n: u64) -> Result<u64, CaptureError> {
        let mut left = n;
        while left > 0 {
            match self.need(1) {
                Ok(true) => {}
                Ok(false) => break,
                // Discarded bytes cannot be read again, so this wait goes on after a signal.
                Err(CaptureError::Interrupted) => continue,
                Err(error) => return Err(error),
            }
            let here = self.buffered().len().min(usize::try_from(left).unwrap_or(usize::MAX));
            self.take(here);
            left -= here as u64;
        }
        Ok(n - left)
    }

    /// Returns the end of the input, or the error at which compressed input broke off, before `packet`.
    #[cold]
    pub(super) fn end<T>(&mut self, packet: PacketNo) -> Result<Option<T>, CaptureError> {
        let offset = self.offset();
        self.fault.take().map_or(Ok(None), |fault| Err(broken(fault, offset, packet)))
    }

    /// The error of a record of `needed` bytes that the end of the input cuts; nothing more is read after it.
    #[cold]
    pub(super) fn ends_inside(&mut self, record: &str, needed: u64, packet: PacketNo) -> CaptureError {
        let (offset, had) = (self.offset(), self.buffered().len() as u64);
        let error = self.cut(record, packet, offset, needed, had);
        self.close();
        error
    }

    /// The error of a cut record that was not kept: it began at `offset`, and `had` bytes of it came.
    #[cold]
    pub(super) fn cut(&mut self, record: &str, packet: PacketNo, offset: u64, needed: u64, had: u64) -> CaptureError {
        match self.fault.take() {
            Some(fault) => broken(fault, offset, packet),
            None => cut(offset, packet, record, needed, had),
        }
    }

    /// The error of a record that no writer writes; nothing more is read after it.
    #[cold]
    pub(super) fn damaged(&mut self, what: String, packet: PacketNo) -> CaptureError {
        let offset = self.offset();
        self.close();
        CaptureError::Damaged { offset, packet, what, truncated: false }
    }

    /// Ends the reading.
    pub(super) fn close(&mut self) {
        self.ended = true;
        self.start = self.end;
        self.fault = None;
    }

    #[cold]
    fn fill(&mut self, n: usize) -> Result<bool, CaptureError> {
        let filled = self.end == self.buffer.len();
        self.buffer.copy_within(self.start..self.end, 0);
        self.base += self.start as u64;
        self.end -= self.start;
        self.start = 0;
        if filled && self.buffer.len() < self.most {
            self.buffer.resize(self.most, 0);
        }
        if n > self.buffer.len() {
            self.buffer.resize(n.next_power_of_two(), 0);
        }
        while self.end < n && !self.ended {
            match self.source.read(&mut self.buffer[self.end..]) {
                Ok(0) => self.ended = true,
                Ok(count) => self.end += count,
                Err(error) if error.kind() == ErrorKind::Interrupted => return Err(CaptureError::Interrupted),
                Err(error) => {
                    // Data decompressed before the error is good and is used first.
                    if let Some(fault) = error.get_ref().and_then(|inner| inner.downcast_ref::<Fault>()) {
                        self.fault = Some(fault.clone());
                        self.ended = true;
                        break;
                    }
                    let offset = self.base + self.end as u64;
                    self.close();
                    return Err(CaptureError::Read { offset, reason: error.to_string() });
                }
            }
        }
        Ok(self.end >= n)
    }
}

#[cold]
fn broken(fault: Fault, offset: u64, packet: PacketNo) -> CaptureError {
    CaptureError::Damaged { offset, packet, what: fault.what, truncated: fault.truncated }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A source that gives one byte per read.
    struct Drip(u64);

    impl Read for Drip {
        fn read(&mut self, to: &mut [u8]) -> std::io::Result<usize> {
            if self.0 == 0 {
                return Ok(0);
            }
            self.0 -= 1;
            to[0] = self.0 as u8;
            Ok(1)
        }
    }

    #[test]
    fn a_source_that_drips_is_gathered() {
        let mut stream = Stream::new(Box::new(Drip(300)));
        assert_eq!(stream.need(300), Ok(true));
        assert_eq!(stream.take(299).len(), 299);
        assert_eq!(stream.buffered(), [0]);
        assert_eq!(stream.need(2), Ok(false));
        assert_eq!((stream.offset(), stream.buffered().len()), (299, 1));
    }

    #[test]
    fn the_buffer_grows_for_a_record_larger_than_itself() {
        let mut stream = Stream::new(Box::new(std::io::repeat(7).take(3 * BUFFER as u64)));
        assert_eq!(stream.need(10), Ok(true));
        stream.take(10);
        assert_eq!(stream.need(2 * BUFFER), Ok(true));
        assert_eq!(stream.take(2 * BUFFER), vec![7; 2 * BUFFER]);
        assert_eq!(stream.discard(2 * BUFFER as u64), Ok(BUFFER as u64 - 10));
        assert_eq!(stream.offset(), 3 * BUFFER as u64);
    }

    #[test]
    fn a_small_source_takes_little_memory_and_a_large_one_the_whole_buffer() {
        let of = |size: u64, mut stream: Stream| {
            assert_eq!(stream.discard(u64::MAX), Ok(size));
            stream.buffer.len()
        };
        let source = |size: u64| Box::new(std::io::repeat(7).take(size));
        for size in [0, 1, LITTLE as u64 - 1] {
            assert_eq!(of(size, Stream::new(source(size))), LITTLE);
        }
        for size in [LITTLE as u64 + 1, BUFFER as u64, 3 * BUFFER as u64] {
            assert_eq!(of(size, Stream::new(source(size))), BUFFER);
            assert_eq!(of(size, Stream::sparing(source(size))), LITTLE);
            // The file may have grown since its size was read.
            assert_eq!(of(size, Stream::sized(1, source(size))), BUFFER);
        }
        let (little, buffer) = (LITTLE as u64, BUFFER as u64);
        let sizes = [(0, LITTLE), (1, LITTLE), (little, 2 * LITTLE), (5 * little - 1, 5 * LITTLE), (buffer, BUFFER)];
        for (size, takes) in sizes {
            assert_eq!(of(size, Stream::sized(size, source(size))), takes);
        }
        assert_eq!(of(1, Stream::sized(u64::MAX, source(1))), BUFFER);
        assert!(Stream::nothing().buffer.is_empty());
    }

    #[test]
    fn a_failing_source_is_reported_with_its_offset() {
        struct Broken;
        impl Read for Broken {
            fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
                Err(std::io::Error::other("disk on fire"))
            }
        }
        let mut stream = Stream::new(Box::new((&[1u8, 2, 3][..]).chain(Broken)));
        let error = CaptureError::Read { offset: 3, reason: "disk on fire".into() };
        assert_eq!(stream.need(4), Err(error));
    }
}
