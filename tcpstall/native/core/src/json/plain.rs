//! Detects text that JSON holds as it is.

/// True if the text needs no escape.
#[inline]
pub(super) fn is_plain(text: &[u8]) -> bool {
    let (words, rest) = text.as_chunks::<8>();
    let mut last = [b' '; 8];
    last[..rest.len()].copy_from_slice(rest);
    words.iter().chain([&last]).all(|word| !has_special(u64::from_le_bytes(*word)))
}

/// True if one of eight bytes is a control character, a quotation mark or a backslash: subtraction borrows from the
/// high bit of a byte that is too small, and only there as long as no lower byte was.
#[inline]
fn has_special(bytes: u64) -> bool {
    let each = |byte: u8| u64::from_le_bytes([byte; 8]);
    let zero = |bytes: u64| bytes.wrapping_sub(each(1)) & !bytes;
    let control = bytes.wrapping_sub(each(b' ')) & !bytes;
    (control | zero(bytes ^ each(b'"')) | zero(bytes ^ each(b'\\'))) & each(0x80) != 0
}
