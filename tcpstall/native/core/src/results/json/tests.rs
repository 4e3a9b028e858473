//! Compares the JSON text with the text that `serde_json` writes.

use std::collections::BTreeMap;

use serde::Serialize;

use super::append;

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
enum Word {
    InTransit,
}

#[derive(Serialize)]
struct Shown(#[serde(serialize_with = "as_text")] &'static str);

fn as_text<S: serde::Serializer>(text: &str, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(text)
}

#[derive(Serialize)]
struct Whole {
    yes: bool,
    number: i64,
    share: f64,
    row: Vec<Inner>,
    none: Inner,
}

#[derive(Serialize)]
struct Inner {
    word: Word,
    texts: Vec<&'static str>,
    nothing: Option<f32>,
    something: Option<f32>,
    plain: Shown,
    escaped: Shown,
    #[serde(flatten)]
    more: BTreeMap<&'static str, i64>,
}

fn inner() -> Inner {
    Inner {
        word: Word::InTransit,
        texts: vec!["a\"b\\c\n", "é"],
        nothing: None,
        something: Some(0.8),
        plain: Shown("10.0.0.1"),
        escaped: Shown("\"\t"),
        more: [("x", 1), ("y", -2)].into(),
    }
}

#[test]
fn what_steers_a_terminal_is_escaped_and_means_the_same() {
    let names = ["a\u{9b}31m\u{7f}", "\u{202e}fdp.exe", "\u{1b}]0;x\u{7}", "größe→"];
    let mut text = Vec::new();
    super::foreign(&mut text, &names).unwrap();
    let text = String::from_utf8(text).unwrap();
    assert_eq!(text, r#"["a\u009b31m\u007f","\u202efdp.exe","\u001b]0;x\u0007","größe→"]"#);
    assert_eq!(serde_json::from_str::<Vec<String>>(&text).unwrap(), names);
}

#[test]
fn a_text_is_plain_if_serde_json_escapes_nothing_in_it() {
    for byte in 0..=0x7f_u8 {
        for (before, after) in [(0, 0), (3, 0), (7, 0), (8, 5), (2, 15)] {
            let text = format!("{}{}{}", "é".repeat(before), char::from(byte), "\u{7f}".repeat(after));
            let escaped = serde_json::to_string(&text).unwrap().len() != text.len() + 2;
            assert_eq!(super::is_plain(text.as_bytes()), !escaped, "{text:?}");
        }
    }
}

#[test]
fn it_writes_what_serde_json_writes() {
    let whole = Whole { yes: true, number: i64::MIN, share: f64::NAN, row: vec![inner(), inner()], none: inner() };
    let mut text = Vec::new();
    append(&mut text, &mut std::io::sink(), &whole).unwrap();
    assert_eq!(String::from_utf8(text).unwrap(), serde_json::to_string(&whole).unwrap());
}

#[test]
fn a_row_that_is_long_is_written_in_pieces() {
    let rows = vec!["x".repeat(1_000); 1_000];
    let (mut text, mut out) = (Vec::new(), Vec::new());
    append(&mut text, &mut out, &rows).unwrap();
    assert!(out.len() > 700_000 && text.len() < 300_000);
    out.extend(text);
    assert_eq!(out, serde_json::to_vec(&rows).unwrap());
}
