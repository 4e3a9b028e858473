//! JSON forms of the values in rows, and of strangers' text.

use std::io::Write;

use serde::Serialize;

use crate::causes::Cause;
use crate::flow::End;
use crate::json::{Name, Print, Row, Text, named, row};
use crate::packet_no::PacketNo;
use crate::time::Nanos;
use crate::wire::tunnel::Tunnel;
use crate::wire::{Address, Endpoint};

named!(Cause, End);

/// Writes a value with strangers' text, such as file names. JSON permits characters that control a terminal (DEL, C1)
/// or change the writing direction, so they are escaped here.
pub(super) fn foreign(out: &mut impl Write, value: &(impl Serialize + ?Sized)) -> std::io::Result<()> {
    let steers = |char: char| {
        let turns =
            matches!(char, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        char.is_control() || turns
    };
    let text = serde_json::to_string(value)?;
    let mut rest = text.as_str();
    while let Some((start, char)) = rest.char_indices().find(|(_, char)| steers(*char)) {
        out.write_all(&rest.as_bytes()[..start])?;
        write!(out, "\\u{:04x}", u32::from(char))?;
        rest = &rest[start + char.len_utf8()..];
    }
    out.write_all(rest.as_bytes())
}

impl Print for Nanos {
    #[inline]
    fn print(&self, text: &mut Text<'_>) {
        self.0.print(text);
    }

    #[inline(always)]
    fn field(&self, text: &mut Text<'_>, name: Name) {
        self.0.field(text, name);
    }
}

impl Print for PacketNo {
    #[inline]
    fn print(&self, text: &mut Text<'_>) {
        self.0.print(text);
    }

    #[inline(always)]
    fn field(&self, text: &mut Text<'_>, name: Name) {
        self.0.field(text, name);
    }
}

impl Row for Endpoint {
    fn fields(&self, text: &mut Text<'_>, opening: u8) {
        row!(@first self.address, text, opening);
        row!(@field self.port, text);
    }
}

impl Print for Address {
    fn print(&self, text: &mut Text<'_>) {
        if !self.is_v4() {
            return text.string(&self.to_string());
        }
        text.dotted((self.0 as u32).to_be_bytes());
    }
}

impl Print for Tunnel {
    fn print(&self, text: &mut Text<'_>) {
        text.string(&self.to_string());
    }
}

#[cfg(test)]
mod tests;
