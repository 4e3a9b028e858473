//! Reads lines without a packet that describe the packets.

use super::cursor::Cursor;

/// Meaning of a line without a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Remark {
    /// The author of the paste left lines out here.
    LeftOut,
    /// tcpdump's closing count of packets for which the kernel had no room.
    DroppedByKernel(u64),
    /// Prompt, blank line, remark, another count.
    Other,
}

/// Words for left-out lines; they count only alone or between marks (`[snip]`), so that prose may use them.
const LEFT_OUT: [&[u8]; 8] =
    [b"snip", b"cut", b"omitted", b"elided", b"truncated", b"left out", b"skipped", b"removed"];

/// Longest mark of left-out lines, bytes; a longer line is prose.
const LONGEST_MARK: usize = 60;

/// Reads a line that holds no packet.
pub(super) fn read(line: &[u8]) -> Remark {
    let text = line.trim_ascii();
    if let Some(dropped) = dropped_by_kernel(text) {
        return Remark::DroppedByKernel(dropped);
    }
    if is_left_out(text) { Remark::LeftOut } else { Remark::Other }
}

fn is_left_out(text: &[u8]) -> bool {
    if text.is_empty() || text.len() > LONGEST_MARK || text[0] == b'#' {
        return false;
    }
    let dress = |byte: &u8| b".-=*~_+[](){}<>:/\\ ".contains(byte);
    let start = text.iter().position(|byte| !dress(byte)).unwrap_or(text.len());
    let end = text.iter().rposition(|byte| !dress(byte)).map_or(start, |at| at + 1);
    let words = text[start..end].to_ascii_lowercase();
    if words.is_empty() {
        let dots = text.iter().filter(|&&byte| byte == b'.').count();
        return dots >= 3;
    }
    let dressed = start > 0 && end < text.len();
    LEFT_OUT.iter().any(|&mark| words == mark || dressed && words.windows(mark.len()).any(|part| part == mark))
}

/// Reads `12 packets dropped by kernel`, also after the `^C` that ended the capture.
fn dropped_by_kernel(text: &[u8]) -> Option<u64> {
    let mut cursor = Cursor::new(text);
    cursor.take(b"^C");
    let dropped = cursor.number()?;
    let is_count = cursor.take(b" packets dropped by kernel") || cursor.take(b" packet dropped by kernel");
    is_count.then_some(u64::from(dropped))
}
