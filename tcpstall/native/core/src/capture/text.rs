//! Splits tcpdump's text into lines; `wire::text` reads them.

use std::io::BufRead;

use super::Item;
use super::error::CaptureError;
use super::stream::{RECORD_LIMIT, Stream};
use crate::packet_no::PacketNo;

/// Byte-order mark that editors on Windows write at the head of a file; tcpdump never does.
pub(super) const UTF8_BOM: &[u8] = b"\xef\xbb\xbf";

/// Reader of text input.
pub(super) struct Text {
    lines: u64,
}

impl Text {
    /// Starts at the first line, after a byte-order mark if there is one.
    pub(super) fn open(stream: &mut Stream) -> Text {
        if stream.buffered().starts_with(UTF8_BOM) {
            stream.take(UTF8_BOM.len());
        }
        Text { lines: 0 }
    }

    /// The next line without its line end.
    pub(super) fn next<'a>(&mut self, stream: &'a mut Stream) -> Result<Option<Item<'a>>, CaptureError> {
        let length = self.line_length(stream)?;
        if length == 0 {
            return stream.end(PacketNo(self.lines + 1));
        }
        self.lines += 1;
        let line = stream.take(length);
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        Ok(Some(Item::Line(line.strip_suffix(b"\r").unwrap_or(line))))
    }

    /// Length of the next line with its line end, 0 at the end of the input.
    fn line_length(&self, stream: &mut Stream) -> Result<usize, CaptureError> {
        let mut searched = 0;
        while stream.need(searched + 1)? {
            let mut rest = &stream.buffered()[searched..];
            let length = rest.len();
            // `skip_until` on a slice cannot fail; it is the standard library's way to its vectorised memchr.
            let skipped = rest.skip_until(b'\n').unwrap_or(length);
            let line_ends = stream.buffered().get(searched + skipped - 1) == Some(&b'\n');
            searched += skipped;
            if line_ends {
                return Ok(searched);
            }
            if searched > RECORD_LIMIT as usize {
                let what = format!("a line of more than {RECORD_LIMIT} bytes");
                return Err(stream.damaged(what, PacketNo(self.lines + 1)));
            }
        }
        Ok(searched)
    }
}
