//! Memory for text on its way to the output.

use std::io::{self, Write};

use super::Text;
use super::numbers::Leading;

/// Room of a page of text, bytes: enough that a write costs little beside the work on what it writes.
pub(crate) const PAGE: usize = 264 * 1024;

/// Memory for text that is still to be written.
pub(crate) struct Page {
    bytes: Box<[u8]>,
    at: u32,
    leading: Leading,
}

impl Page {
    /// An empty page with room for that many bytes.
    pub(crate) fn new(room: usize) -> Page {
        Page { bytes: vec![0; room].into_boxed_slice(), at: 0, leading: Leading::default() }
    }

    /// Appends what `print` writes; full pages go to `out`.
    pub(crate) fn append(&mut self, out: &mut dyn Write, print: impl FnOnce(&mut Text<'_>)) -> io::Result<()> {
        let mut text = Text { page: &mut self.bytes, at: self.at, leading: self.leading, out, written: Ok(()) };
        print(&mut text);
        (self.at, self.leading) = (text.at, text.leading);
        text.written
    }

    /// Writes the text to `out` and empties the page.
    pub(crate) fn write_to(&mut self, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(&self.bytes[..std::mem::take(&mut self.at) as usize])
    }
}
