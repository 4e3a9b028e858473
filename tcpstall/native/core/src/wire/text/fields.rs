//! Reads a TCP line of tcpdump 4 after `source > destination: `: `Flags [P.], seq 1:148, ack 1, win 502, …`.

use super::cursor::Cursor;
use super::options::{self, PrintedOptions};
use crate::wire::Flags;

/// The longest accepted payload, bytes: a GRO frame stays below 512 KiB (Linux `GRO_MAX_SIZE`, BIG TCP).
const MAX_PAYLOAD: u32 = 1 << 20;

/// A segment as printed: sequence numbers may be relative.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Printed {
    pub(super) flags: Flags,
    /// Sequence number, absent on a pure acknowledgement: tcpdump prints it only with payload, SYN, FIN or RST, or with
    /// `-vv`.
    pub(super) seq: Option<u32>,
    pub(super) ack: Option<u32>,
    pub(super) window: u16,
    pub(super) payload: u32,
    pub(super) options: PrintedOptions,
}

/// The parts of a line while they are being read.
#[derive(Default)]
pub(super) struct Parts {
    pub(super) flags: Flags,
    pub(super) seq: Option<u32>,
    pub(super) seq_end: Option<u32>,
    pub(super) ack: Option<u32>,
    pub(super) window: Option<u32>,
    pub(super) length: Option<u32>,
    pub(super) options: PrintedOptions,
}

/// True if tcpdump 4 starts a TCP segment this way.
pub(super) fn is_tcp(text: &[u8]) -> bool {
    text.starts_with(b"Flags [")
}

/// Reads a segment; `None` if the line lost a necessary part or contradicts itself.
pub(super) fn read(text: &[u8]) -> Option<Printed> {
    let mut cursor = Cursor::new(text.strip_prefix(b"Flags [")?);
    let mut parts = Parts { flags: flags(&mut cursor)?, ..Parts::default() };
    let mut complete = false;
    while !complete {
        cursor.run(|byte| matches!(byte, b',' | b' '));
        if cursor.rest.is_empty() {
            break;
        }
        complete = one(&mut cursor, &mut parts)?;
    }
    parts.options.cut |= !complete;
    parts.check()
}

/// Reads one field; true if it was the last.
fn one(cursor: &mut Cursor<'_>, parts: &mut Parts) -> Option<bool> {
    if cursor.take(b"seq ") {
        parts.seq = Some(cursor.number()?);
        parts.seq_end = if cursor.take(b":") { Some(cursor.number()?) } else { None };
    } else if cursor.take(b"ack ") {
        parts.ack = Some(cursor.number()?);
    } else if cursor.take(b"win ") {
        parts.window = Some(cursor.number()?);
        // More text always follows the window; at the line's end its number may have lost digits.
        if cursor.rest.is_empty() {
            return None;
        }
    } else if cursor.take(b"urg ") {
        cursor.number()?;
    } else if cursor.take(b"options [") {
        parts.options = options::read(cursor, b']');
    } else if cursor.take(b"length ") {
        parts.length = Some(cursor.number()?);
        return Some(true);
    } else if cursor.take(b"cksum ") {
        cursor.past(b')');
    } else if cursor.take(b"[|tcp]") {
        parts.options.cut = true;
    } else if cursor.take(b"[") {
        cursor.past(b']');
    } else {
        cursor.past(b',');
    }
    Some(false)
}

/// Skips the brackets and returns the flags between them.
fn flags(cursor: &mut Cursor<'_>) -> Option<Flags> {
    let letters = cursor.run(|byte| byte != b']');
    if !cursor.take(b"]") {
        return None;
    }
    if letters == b"none" {
        return Some(Flags(0));
    }
    letters.iter().try_fold(Flags(0), |flags, &letter| Some(flags.with(flag(letter)?)))
}

/// The control bit that tcpdump prints as this letter (`.` is ACK only since version 4).
pub(super) fn flag(letter: u8) -> Option<Flags> {
    Some(match letter {
        b'F' => Flags::FIN,
        b'S' => Flags::SYN,
        b'R' => Flags::RST,
        b'P' => Flags::PSH,
        b'.' => Flags::ACK,
        b'U' => Flags(0x20),
        b'E' => Flags(0x40),
        b'W' => Flags(0x80),
        // AE (RFC 9768), printed by tcpdump 5, is the header's bit 7: the eight flags have no place for it, and it is
        // not needed here.
        b'e' => Flags(0),
        _ => return None,
    })
}

impl Parts {
    /// The segment, if no necessary part is missing.
    pub(super) fn check(self) -> Option<Printed> {
        let seq_needed = self.flags.has(Flags::SYN);
        if self.flags.has(Flags::ACK) != self.ack.is_some() || seq_needed && self.seq.is_none() {
            return None;
        }
        // The range takes precedence over the length: the length comes last, where a cut removes digits unnoticed.
        let payload = match (self.seq, self.seq_end) {
            (Some(first), Some(end)) => end.wrapping_sub(first),
            _ => self.length.unwrap_or(0),
        };
        let window = u16::try_from(self.window?).ok()?;
        (payload <= MAX_PAYLOAD).then_some(Printed {
            flags: self.flags,
            seq: self.seq,
            ack: self.ack,
            window,
            payload,
            options: self.options,
        })
    }
}
