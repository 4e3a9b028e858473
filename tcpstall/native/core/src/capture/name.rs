//! Names of files as text: the system has bytes, which need not be UTF-8.

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::fmt::Write;
use std::os::unix::ffi::OsStringExt;

/// Marks the two digits of a byte that is not UTF-8: no file name contains it.
const ESCAPE: char = '\0';

/// The name as text from which [`file`] restores the same name.
pub fn as_text(name: OsString) -> String {
    match name.into_string() {
        Ok(text) if !text.contains(ESCAPE) => text,
        Ok(text) => escaped(text.as_bytes()),
        Err(name) => escaped(&name.into_vec()),
    }
}

#[cold]
fn escaped(name: &[u8]) -> String {
    let mut text = String::with_capacity(name.len());
    for chunk in name.utf8_chunks() {
        for part in chunk.valid().split_inclusive(ESCAPE) {
            text.push_str(part);
            if part.ends_with(ESCAPE) {
                text.push_str("00");
            }
        }
        for byte in chunk.invalid() {
            // Writing to a String does not fail.
            let _ = write!(text, "{ESCAPE}{byte:02x}");
        }
    }
    text
}

/// The name that the system knows.
pub fn file(text: &str) -> Cow<'_, OsStr> {
    let mut parts = text.split(ESCAPE);
    let first = parts.next().unwrap_or_default();
    if first.len() == text.len() {
        return Cow::Borrowed(OsStr::new(text));
    }
    let mut name = first.as_bytes().to_vec();
    for part in parts {
        let (digits, rest) = part.split_at_checked(2).unwrap_or((part, ""));
        name.push(u8::from_str_radix(digits, 16).unwrap_or_default());
        name.extend_from_slice(rest.as_bytes());
    }
    Cow::Owned(OsString::from_vec(name))
}

/// The name for output: `\xe9` for a byte that is not UTF-8.
pub fn shown(text: &str) -> String {
    text.replace(ESCAPE, "\\x")
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStrExt;

    use super::*;

    #[test]
    fn every_name_comes_back_as_it_was() {
        for name in
            [&b"plain.pcap"[..], b"caf\xe9.pcap", b"\xff\xfe", "caf\u{e9}".as_bytes(), b"", b"a\0b", b"\xe2\x82"]
        {
            let text = as_text(OsString::from_vec(name.to_vec()));
            assert_eq!(file(&text).as_bytes(), name);
        }
    }

    #[test]
    fn bytes_that_are_no_text_are_shown_as_numbers() {
        assert_eq!(shown(&as_text(OsString::from_vec(b"caf\xe9.pcap".to_vec()))), "caf\\xe9.pcap");
        assert_eq!(shown(&as_text("café.pcap".into())), "café.pcap");
    }
}
