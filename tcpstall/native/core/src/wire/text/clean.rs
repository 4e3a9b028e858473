//! Restores a line as it was before terminals, mail and web pages changed it.

/// Escapes and look-alikes that pasting leaves behind, and their original text.
const STAND_INS: [(&[u8], &[u8]); 9] = [
    (b"\t", b" "),
    (b"\r", b""),
    (b"\xc2\xa0", b" "),       // U+00A0 no-break space
    (b"\xe2\x80\xaf", b" "),   // U+202F narrow no-break space
    (b"\xe2\x80\x8b", b""),    // U+200B zero width space
    (b"\xef\xbb\xbf", b""),    // U+FEFF byte order mark
    (b"\xe2\x80\xa6", b"..."), // U+2026 ellipsis
    (b"&gt;", b">"),
    (b"&lt;", b"<"),
];

/// The line with plain blanks, without quote marks, indentation and trailing blanks.
///
/// One leading blank is kept, if there was any: tcpdump's `-ttt` and `-ttttt` write one before the time.
pub(super) fn plain<'a>(line: &'a [u8], scratch: &'a mut Vec<u8>) -> &'a [u8] {
    let clean = if line.iter().any(|&byte| byte >= 0x80 || matches!(byte, b'\t' | b'\r' | b'&' | 0x1b)) {
        rewrite(line, scratch);
        scratch.as_slice()
    } else {
        line
    };
    unquoted(clean.trim_ascii_end())
}

fn rewrite(line: &[u8], out: &mut Vec<u8>) {
    out.clear();
    let mut rest = line;
    while let Some((&byte, after)) = rest.split_first() {
        if byte == 0x1b {
            rest = past_colour(after);
        } else if let Some((text, plain)) = STAND_INS.iter().find(|(text, _)| rest.starts_with(text)) {
            out.extend_from_slice(plain);
            rest = &rest[text.len()..];
        } else {
            out.push(byte);
            rest = after;
        }
    }
}

/// Skips a terminal's colour code, `ESC [ … letter` (ECMA-48 §5.4).
fn past_colour(after_escape: &[u8]) -> &[u8] {
    match after_escape.strip_prefix(b"[") {
        Some(code) => {
            let end = code.iter().position(u8::is_ascii_alphabetic).map_or(code.len(), |at| at + 1);
            &code[end..]
        }
        None => after_escape,
    }
}

fn unquoted(mut line: &[u8]) -> &[u8] {
    loop {
        let text = line.trim_ascii_start();
        match text.first() {
            Some(b'>' | b'|') => line = &text[1..],
            Some(_) if text.len() < line.len() => return &line[line.len() - text.len() - 1..],
            _ => return text,
        }
    }
}
