//! Decodes LZ4 frames, one after the other, and distinguishes their end from a cut.

use std::io::{self, BufRead, ErrorKind, Read};

use lz4_flex::frame::FrameDecoder;

use super::counted::Counted;

/// Magic number of legacy frames. They have no end mark: they end with the input.
const LEGACY: &[u8] = b"\x02\x21\x4c\x18";

/// Decoder of LZ4.
pub(super) struct Lz4 {
    frames: FrameDecoder<Pieces>,
    legacy: bool,
}

impl Lz4 {
    pub(super) fn new(mut input: Counted) -> io::Result<Lz4> {
        let legacy = input.fill_buf()?.starts_with(LEGACY);
        Ok(Lz4 { frames: FrameDecoder::new(Pieces::of(input)), legacy })
    }
}

impl Read for Lz4 {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        loop {
            let count = self.frames.read(to)?;
            if count > 0 {
                return Ok(count);
            }
            let pieces = self.frames.get_mut();
            let (over, more) = (pieces.is_over() || self.legacy, !pieces.input.fill_buf()?.is_empty());
            match (over, more) {
                (true, false) => return Ok(0),
                (false, _) => return Err(ErrorKind::UnexpectedEof.into()),
                (true, true) => {
                    let input = std::mem::replace(pieces, Pieces::of(Counted::empty())).input;
                    self.frames = FrameDecoder::new(Pieces::of(input));
                }
            }
        }
    }
}

/// The input and its last two pieces. The decoder reports the same for a frame that is over and for one that is cut
/// between its blocks. It reads each field of the format separately, so its last fields show the difference.
struct Pieces {
    input: Counted,
    last: [Option<[u8; 4]>; 2],
}

impl Pieces {
    fn of(input: Counted) -> Pieces {
        Pieces { input, last: [None; 2] }
    }

    /// The last field was the end mark, or a checksum after it.
    fn is_over(&self) -> bool {
        const END_MARK: Option<[u8; 4]> = Some([0; 4]);
        matches!(self.last, [_, END_MARK] | [END_MARK, Some(_)])
    }
}

impl Read for Pieces {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let mut filled = 0;
        while filled < to.len() {
            match self.input.read(&mut to[filled..])? {
                0 => break,
                count => filled += count,
            }
        }
        if filled > 0 {
            self.last = [self.last[1], to[..filled].try_into().ok()];
        }
        Ok(filled)
    }
}
