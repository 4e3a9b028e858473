//! Tests of format detection, and of text line by line.

use std::io::{Cursor, Read};

use super::*;

fn open(bytes: &[u8]) -> Result<Capture, CaptureError> {
    let mut capture = Capture::from_reader(Box::new(Cursor::new(bytes.to_vec())));
    capture.next()?;
    Ok(capture)
}

/// Items of the capture, one per line, and its end.
pub(super) fn items(bytes: &[u8], ends: impl Fn(CaptureError) -> String) -> Vec<String> {
    let mut capture = Capture::from_reader(Box::new(Cursor::new(bytes.to_vec())));
    let mut lines = Vec::new();
    loop {
        lines.push(match capture.next() {
            Ok(Some(Item::Frame(f))) => {
                format!("#{} {} {} {:?}/{}", f.packet.0, f.time.0, f.link.name(), f.bytes, f.wire_length)
            }
            Ok(Some(Item::Dropped(count))) => format!("dropped {count}"),
            Ok(Some(Item::Line(_))) => "line".into(),
            Ok(Some(Item::LeftOut)) => "left out".into(),
            Ok(Some(Item::Block)) => "a block".into(),
            Ok(None) => return lines,
            Err(error) => ends(error),
        });
    }
}

/// A source that gives at most three bytes per read.
struct Drip(Cursor<Vec<u8>>);

impl Read for Drip {
    fn read(&mut self, to: &mut [u8]) -> std::io::Result<usize> {
        let some = to.len().min(3);
        self.0.read(&mut to[..some])
    }
}

fn lines(source: Box<dyn Read + Send>) -> Result<Vec<String>, CaptureError> {
    let mut capture = Capture::from_reader(source);
    let mut lines = Vec::new();
    while let Some(item) = capture.next()? {
        match item {
            Item::Line(line) => lines.push(String::from_utf8_lossy(line).into_owned()),
            other => panic!("text has no {other:?}"),
        }
    }
    assert_eq!(capture.format().map(Format::name), Some("tcpdump-text"));
    Ok(lines)
}

#[test]
fn text_is_handed_out_by_lines_however_it_arrives() {
    let long = "x".repeat(600_000);
    let text = format!("\u{feff}one\r\ntwo\n\n{long}\nlast \u{e9}");
    let expected = vec!["one".to_owned(), "two".into(), String::new(), long, "last \u{e9}".into()];
    let bytes = text.into_bytes();
    assert_eq!(lines(Box::new(Cursor::new(bytes.clone()))), Ok(expected.clone()));
    assert_eq!(lines(Box::new(Drip(Cursor::new(bytes)))), Ok(expected));
}

#[test]
fn text_may_be_shorter_than_a_magic_number() {
    assert_eq!(lines(Box::new(Cursor::new(b"\n".to_vec()))), Ok(vec![String::new()]));
    assert_eq!(lines(Box::new(Cursor::new(b"ab".to_vec()))), Ok(vec!["ab".into()]));
}

#[test]
fn a_character_cut_by_the_end_of_the_sample_is_text() {
    let text = format!("{}\u{20ac}", "x".repeat(4095));
    assert_eq!(lines(Box::new(Cursor::new(text.clone().into_bytes()))), Ok(vec![text]));
    let cut = format!("{}\u{20ac}", "x".repeat(10));
    assert!(open(&cut.as_bytes()[..11]).is_err(), "the end of the file cuts no character");
}

#[test]
fn an_endless_line_is_damage() {
    let end = lines(Box::new(std::io::repeat(b'x').take(40 << 20)));
    let expected = "capture is damaged at packet 1, byte 0: a line of more than 16777216 bytes";
    assert_eq!(end.map_err(|error| error.to_string()), Err(expected.into()));
}

#[test]
fn what_is_no_capture_is_named() {
    let erf = {
        let record = [0, 0, 0, 0, 0, 0, 0, 0, 2, 4, 0, 20, 0, 0, 0, 2, 9, 9, 9, 9];
        [record, record].concat()
    };
    let cases: [(&[u8], &str); 6] = [
        (b"", "an empty file"),
        (b"GMBU\0\0\0\0", "a Network Monitor capture; convert it first: editcap -F pcap"),
        (b"\xff\xd8\xff\xe0\0\x10JFIF", "a JPEG image"),
        (b"\xff\xfe1\x002\0", "text in UTF-16"),
        (&erf, "an ERF capture"),
        (b"\0\x01\x02\x03\x04", "data of an unknown kind (first bytes 00 01 02 03)"),
    ];
    for (bytes, start) in cases {
        match open(bytes).err() {
            Some(CaptureError::NotACapture { what }) => assert!(what.starts_with(start), "{what}"),
            other => panic!("{start}: {other:?}"),
        }
    }
}

#[test]
fn a_control_character_makes_it_data() {
    assert!(open(b"12:00:00 IP a > b: Flags [S]\x01").is_err());
    assert!(open(b"\x1b[1m12:00:00\x1b[0m IP a > b: Flags [S]\n").is_ok());
}

#[test]
fn what_cannot_be_opened_says_why() {
    let said = |path: &str| Capture::open(path).err().map(|error| error.to_string());
    assert_eq!(said("/no/such").as_deref(), Some("cannot open /no/such: no such file"));
    let directory = "cannot open /: it is a directory; name the capture files in it";
    assert_eq!(said("/").as_deref(), Some(directory));
}

#[test]
fn progress_runs_to_the_size_of_the_file() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::temp_dir().join(format!("tcpstall-capture-{}", std::process::id()));
    std::fs::write(&path, "one\ntwo\n")?;
    let mut capture = Capture::open(&path.to_string_lossy())?;
    std::fs::remove_file(&path)?;
    assert_eq!((capture.offset(), capture.size()), (0, Some(8)));
    capture.next()?;
    assert_eq!(capture.offset(), 4);
    while capture.next()?.is_some() {}
    assert_eq!(Some(capture.offset()), capture.size());
    Ok(())
}
