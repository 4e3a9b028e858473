//! Tests of dialogues of lines and their readings.

mod forms;
mod numbers;
mod pastes;
mod times;

use super::{Paste, TextLine};
use crate::wire::{Address, Endpoint, Segment};

/// Reads all lines and returns the segments.
fn segments(lines: &[&str]) -> Vec<Segment> {
    let mut paste = Paste::new();
    lines.iter().filter_map(|line| as_segment(paste.line(line.as_bytes()))).collect()
}

/// Reads one line that must be a segment.
fn segment(line: &str) -> Segment {
    as_segment(Paste::new().line(line.as_bytes())).unwrap_or_else(|| panic!("no segment: {line}"))
}

/// Reads one line that must not be a segment.
fn reading(line: &str) -> TextLine {
    Paste::new().line(line.as_bytes())
}

fn as_segment(reading: TextLine) -> Option<Segment> {
    match reading {
        TextLine::Segment(segment) => Some(segment),
        _ => None,
    }
}

fn v4(a: u8, b: u8, c: u8, d: u8, port: u16) -> Endpoint {
    Endpoint { address: Address::v4([a, b, c, d]), port }
}

/// Sequence and acknowledgement number of every segment.
fn numbers(lines: &[&str]) -> Vec<(u32, u32)> {
    segments(lines).iter().map(|segment| (segment.seq.0, segment.ack.0)).collect()
}
