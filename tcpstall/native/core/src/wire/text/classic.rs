//! Reads a TCP line of tcpdump 3 and OpenBSD's after `source > destination: `: `P 1:148(147) ack 1 win 502 <…>`.

use super::cursor::Cursor;
use super::fields::{Parts, Printed, flag};
use super::options;
use crate::wire::Flags;

/// True if tcpdump 3 starts a TCP segment this way: flag letters, then numbers or a keyword.
pub(super) fn is_tcp(text: &[u8]) -> bool {
    let mut cursor = Cursor::new(text);
    if !matches!(letters(&mut cursor).len(), 1..=8) || !matches!(cursor.rest.first(), Some(b' ' | b',')) {
        return false;
    }
    cursor.run(|byte| matches!(byte, b',' | b' '));
    let starts: [&[u8]; 5] = [b"ack ", b"win ", b"cksum ", b"[tcp sum", b"[bad tcp"];
    starts.iter().any(|start| cursor.rest.starts_with(start)) || is_range(cursor)
}

fn is_range(mut cursor: Cursor<'_>) -> bool {
    cursor.number().is_some() && cursor.take(b":") && cursor.number().is_some() && cursor.take(b"(")
}

fn letters<'a>(cursor: &mut Cursor<'a>) -> &'a [u8] {
    cursor.run(|byte| matches!(byte, b'S' | b'F' | b'R' | b'P' | b'U' | b'W' | b'E' | b'.'))
}

/// Reads a segment; `None` if the line lost a necessary part.
pub(super) fn read(text: &[u8]) -> Option<Printed> {
    let mut cursor = Cursor::new(text);
    let mut parts = Parts::default();
    // Here a dot means "none of S, F, R, P"; only its number shows the acknowledgement.
    for &letter in letters(&mut cursor).iter().filter(|&&letter| letter != b'.') {
        parts.flags = parts.flags.with(flag(letter)?);
    }
    loop {
        cursor.run(|byte| matches!(byte, b',' | b' '));
        if cursor.rest.is_empty() {
            break;
        }
        one(&mut cursor, &mut parts)?;
    }
    if parts.ack.is_some() {
        parts.flags = parts.flags.with(Flags::ACK);
    }
    parts.check()
}

fn one(cursor: &mut Cursor<'_>, parts: &mut Parts) -> Option<()> {
    if cursor.take(b"ack ") {
        parts.ack = Some(cursor.number()?);
    } else if cursor.take(b"win ") {
        parts.window = Some(cursor.number()?);
    } else if cursor.take(b"<") {
        parts.options = options::read(cursor, b'>');
    } else if cursor.take(b"[") {
        cursor.past(b']');
    } else if cursor.take(b"cksum ") || cursor.take(b"(") {
        cursor.past(b')');
    } else if is_range(*cursor) {
        parts.seq = cursor.number();
        cursor.take(b":");
        parts.seq_end = cursor.number();
        cursor.past(b')');
    } else {
        cursor.past(b' ');
    }
    Some(())
}
