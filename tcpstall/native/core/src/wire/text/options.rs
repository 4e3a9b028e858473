//! Reads tcpdump's list of TCP options, between brackets today and between angles before version 4.

use super::cursor::{Cursor, find};
use crate::wire::Timestamps;

/// A segment's options in the text; SACK blocks are still as printed.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PrintedOptions {
    pub(super) timestamps: Option<Timestamps>,
    pub(super) mss: Option<u16>,
    pub(super) window_scale: Option<u8>,
    pub(super) sack_permitted: bool,
    pub(super) multipath: bool,
    /// The list ended early: cut by the snap length or by the author of the paste, or given up by tcpdump at a bad
    /// option.
    pub(super) cut: bool,
    pub(super) sack_count: u8,
    pub(super) sack: [(u32, u32); 4],
}

/// Reads options up to the bracket that ends the list, and skips that.
pub(super) fn read(cursor: &mut Cursor<'_>, end: u8) -> PrintedOptions {
    let mut options = PrintedOptions::default();
    loop {
        cursor.run(|byte| matches!(byte, b',' | b' '));
        if cursor.take(&[end]) {
            return options;
        }
        if cursor.rest.is_empty() || cut_mark(cursor) || one(cursor, &mut options).is_none() {
            options.cut = true;
            leave(cursor, end);
            return options;
        }
    }
}

/// tcpdump's marks for an option list that it could not finish.
fn cut_mark(cursor: &Cursor<'_>) -> bool {
    cursor.rest.starts_with(b"[|tcp]") || cursor.rest.starts_with(b"[bad opt]")
}

/// Reads one option; `None` where it is unreadable or the line ends inside it.
fn one(cursor: &mut Cursor<'_>, options: &mut PrintedOptions) -> Option<()> {
    if cursor.take(b"nop") || cursor.take(b"eol") {
    } else if cursor.take(b"TS val ") {
        let value = cursor.number()?;
        let echo = cursor.take(b" ecr ").then(|| cursor.number())??;
        options.timestamps = Some(Timestamps { value, echo });
    } else if cursor.take(b"timestamp ") {
        let value = cursor.number()?;
        let echo = cursor.take(b" ").then(|| cursor.number())??;
        options.timestamps = Some(Timestamps { value, echo });
    } else if cursor.take(b"sackOK") {
        options.sack_permitted = true;
    } else if cursor.take(b"mss ") {
        options.mss = Some(u16::try_from(cursor.number()?).ok()?);
    } else if cursor.take(b"wscale ") {
        options.window_scale = Some(u8::try_from(cursor.number()?).ok()?);
    } else if cursor.take(b"sack ") {
        blocks(cursor, options)?;
    } else {
        options.multipath |= cursor.rest.starts_with(b"mptcp ");
        skip(cursor)?;
    }
    // A number at the line's very end may have lost digits.
    (!cursor.rest.is_empty()).then_some(())
}

/// Reads `1 {5473:10945}`; tcpdump 3 wrote `sack sack 1 {5473:10945} `.
fn blocks(cursor: &mut Cursor<'_>, options: &mut PrintedOptions) -> Option<()> {
    cursor.take(b"sack ");
    cursor.number()?;
    cursor.take(b" ");
    while cursor.take(b"{") {
        let left = cursor.number()?;
        let right = cursor.take(b":").then(|| cursor.number())??;
        if !cursor.take(b"}") {
            return None;
        }
        // Forty bytes of options hold four blocks (RFC 2018 §3); more blocks are forged.
        *options.sack.get_mut(usize::from(options.sack_count))? = (left, right);
        options.sack_count += 1;
    }
    Some(())
}

/// Skips an option that is not needed here: up to the next comma or end outside brackets.
fn skip(cursor: &mut Cursor<'_>) -> Option<()> {
    let mut depth = 0_u32;
    for (index, &byte) in cursor.rest.iter().enumerate() {
        match byte {
            b',' | b']' | b'>' | b'}' if depth == 0 => {
                let (option, rest) = cursor.rest.split_at(index);
                // `TS[|tcp]`: the snap length cut inside this option, so the list shows nothing about later ones.
                if option.is_empty() || find(option, b"[|").is_some() {
                    return None;
                }
                cursor.rest = rest;
                return Some(());
            }
            b'[' | b'{' => depth += 1,
            b']' | b'}' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// Skips the list's last bracket, after tcpdump's own mark in brackets, where there is one.
fn leave(cursor: &mut Cursor<'_>, end: u8) {
    cursor.past(b']');
    cursor.take(&[end]);
}
