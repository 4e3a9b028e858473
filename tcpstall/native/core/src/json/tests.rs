//! Compares the JSON text with the text that `serde_json` writes.

use super::{PAGE, Page, Print, Row, SMALL_PAGE, is_plain, text_of};

#[derive(Clone, Copy, Debug)]
enum Word {
    InTransit,
}

impl Word {
    fn name(self) -> &'static str {
        match self {
            Word::InTransit => "in-transit",
        }
    }
}

named!(Word);

row! {
    /// A row.
    #[derive(Clone, Debug)]
    struct Whole {
        /// A flag.
        yes: bool,
        /// A list of rows.
        rows: Vec<Part>,
        /// Left out.
        #[json(hidden)]
        seen: bool,
        /// Fields of another row.
        #[json(flat)]
        part: Part,
        /// Text.
        #[json(or_null)]
        detail: &'static str,
    }
}

row! {
    /// Fields that may all be absent.
    #[derive(Clone, Debug)]
    struct Part {
        /// A word.
        word: Word,
        /// Texts.
        #[json(if_any)]
        texts: Vec<&'static str>,
        /// A number.
        #[json(if_any)]
        some: Option<u64>,
        /// A number.
        number: Option<i64>,
        /// Fields that may all be absent.
        #[json(flat)]
        none: Absent,
    }
}

row! {
    /// Fields that may all be absent.
    #[derive(Clone, Debug, Default)]
    struct Absent {
        /// A number.
        #[json(if_any)]
        first: Option<u64>,
        /// A count.
        #[json(if_any)]
        count: u32,
    }
}

fn part(texts: Vec<&'static str>) -> Part {
    Part { word: Word::InTransit, texts, some: None, number: Some(-12), none: Absent::default() }
}

#[test]
fn a_row_has_the_fields_that_are_not_left_out_in_their_order() {
    let listed =
        Part { some: Some(7), number: None, none: Absent { first: Some(1), count: 2 }, ..part(vec!["a word"]) };
    let whole = Whole { yes: true, rows: vec![listed], seen: true, part: part(Vec::new()), detail: "" };
    assert!(whole.seen);
    let rows = r#"[{"word":"in-transit","texts":["a word"],"some":7,"number":null,"first":1,"count":2}]"#;
    assert_eq!(
        text_of(&whole),
        format!(r#"{{"yes":true,"rows":{rows},"word":"in-transit","number":-12,"detail":null}}"#)
    );
    let (mut page, mut line) = (Page::new(PAGE), Vec::new());
    page.append(&mut std::io::sink(), |text| part(Vec::new()).fields(text, b',')).unwrap();
    page.write_to(&mut line).unwrap();
    assert_eq!(line, br#","word":"in-transit","number":-12"#);
}

#[test]
fn words_of_every_length_are_those_of_serde_json() {
    const LETTERS: &str = "one two three four five six seven eight nine";
    (0..LETTERS.len()).map(|length| &LETTERS[..length]).for_each(as_serde_json);
    (0..LETTERS.len()).map(|length| &LETTERS[length..]).for_each(as_serde_json);
}

#[test]
fn a_text_is_plain_if_serde_json_escapes_nothing_in_it() {
    for byte in 0..=0x7f_u8 {
        for (before, after) in [(0, 0), (3, 0), (7, 0), (8, 5), (2, 15)] {
            let text = format!("{}{}{}", "é".repeat(before), char::from(byte), "\u{7f}".repeat(after));
            let printed = serde_json::to_string(&text).unwrap();
            assert_eq!(is_plain(text.as_bytes()), printed.len() == text.len() + 2, "{text:?}");
            assert_eq!(text_of(&text), printed);
        }
    }
}

fn as_serde_json<T: Print + serde::Serialize>(value: T) {
    assert_eq!(text_of(&value), serde_json::to_string(&value).unwrap());
}

#[test]
fn integers_are_those_of_serde_json() {
    (0..100_000_u64).for_each(as_serde_json);
    (0..10_000).for_each(|four| as_serde_json(12_340_000_u64 * 1_000_000_000 + four * 10_000 + (9_999 - four)));
    (0..20).map(|digits| 10_u64.pow(digits)).flat_map(|power| [power - 1, power, power + 1]).for_each(as_serde_json);
    [i64::MIN, -10, -1, 0, 1, 1_700_000_000_000_000_000, i64::MAX].into_iter().for_each(as_serde_json);
    (0..=u8::MAX).for_each(as_serde_json);
    as_serde_json(u64::MAX);
}

#[test]
fn reals_are_those_of_serde_json() {
    for part in 0..200_000 {
        as_serde_json(f64::from(part) / 1e5);
        as_serde_json((f64::from(part) / 1e5) as f32);
        as_serde_json(f64::from(part) + 0.25);
    }
    for hundredths in (0..20_000).chain(999_000..1_001_000) {
        as_serde_json(f64::from(hundredths) / 100.0);
        as_serde_json((f64::from(hundredths) / 100.0) as f32);
        as_serde_json(f64::from(hundredths) / 700.0);
        as_serde_json(hundredths as f32 / 700.0);
        as_serde_json((hundredths as f32 / 100.0).next_up());
    }
    for odd in [-0.0, -1.5, 1e-7, 1e15, 1e17, f64::NAN, f64::INFINITY, f64::MAX, f64::MIN_POSITIVE] {
        as_serde_json(odd);
        as_serde_json(odd as f32);
    }
}

#[test]
fn a_text_is_the_same_wherever_the_page_ends() {
    let mut row: Vec<Part> = (0..40).map(|_| part(vec!["a word", "another, longer than the others"])).collect();
    row.iter_mut().zip(1..).for_each(|(part, number)| part.some = Some(3_u64.pow(number)));
    let whole = text_of(&row);
    for room in 24..200 {
        let (mut page, mut out) = (Page::new(room), Vec::new());
        page.append(&mut out, |text| row.print(text)).unwrap();
        page.write_to(&mut out).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), whole);
    }
}

#[test]
fn a_row_that_is_long_is_written_in_pieces() {
    for length in [1_000, 2 * SMALL_PAGE, 2 * PAGE] {
        let rows = vec!["x".repeat(length); 1_000_000 / length];
        let (mut page, mut out) = (Page::new(PAGE), Vec::new());
        page.append(&mut out, |text| rows.print(text)).unwrap();
        assert!(out.len() > 400_000);
        page.write_to(&mut out).unwrap();
        assert_eq!(out, serde_json::to_vec(&rows).unwrap());
        assert_eq!(out, text_of(&rows).into_bytes());
    }
}

#[test]
fn an_error_of_the_output_is_told() {
    let rows = vec!["x".repeat(1_000); 1_000];
    let full = &mut [0_u8; 10][..];
    let mut out = full;
    assert!(Page::new(PAGE).append(&mut out, |text| rows.print(text)).is_err());
}
