//! Tests of captures in every compression: cut, damaged and expanded.

use std::io::{Cursor, Read, Write};

use super::{Compression, Expansion};
use crate::capture::{Capture, CaptureError, Item};

const ALL: [Compression; 5] =
    [Compression::Gzip, Compression::Zstd, Compression::Lz4, Compression::Xz, Compression::Bzip2];

/// A pcap file of `records` records, each with another time and content.
fn pcap(records: u32) -> Vec<u8> {
    let header = [0xa1b2_c3d4u32, 0x0004_0002, 0, 0, 65_535, 1];
    let mut bytes: Vec<u8> = header.into_iter().flat_map(u32::to_le_bytes).collect();
    for number in 0..records {
        bytes.extend([number, 0, 40, 40].into_iter().flat_map(u32::to_le_bytes));
        bytes.extend((0..40u32).map(|at| (number.wrapping_mul(2_654_435_761) >> (at % 24)) as u8));
    }
    bytes
}

fn pack(compression: Compression, bytes: &[u8]) -> Vec<u8> {
    match compression {
        Compression::Gzip => {
            let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            encoder.write_all(bytes).unwrap();
            encoder.finish().unwrap()
        }
        Compression::Zstd => {
            let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), 1).unwrap();
            encoder.include_checksum(true).unwrap();
            encoder.write_all(bytes).unwrap();
            encoder.finish().unwrap()
        }
        Compression::Lz4 => {
            let mut info = lz4_flex::frame::FrameInfo::new();
            info.content_checksum = true;
            let mut encoder = lz4_flex::frame::FrameEncoder::with_frame_info(info, Vec::new());
            encoder.write_all(bytes).unwrap();
            encoder.finish().unwrap()
        }
        Compression::Xz => {
            let options = lzma_rust2::XzOptions::with_preset(1);
            let mut encoder = lzma_rust2::XzWriter::new(Vec::new(), options).unwrap();
            encoder.write_all(bytes).unwrap();
            encoder.finish().unwrap()
        }
        Compression::Bzip2 => {
            let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
            encoder.write_all(bytes).unwrap();
            encoder.finish().unwrap()
        }
    }
}

/// Number of frames, and the end of the capture.
fn read(mut capture: Capture) -> (u64, Option<CaptureError>) {
    let (mut frames, mut ordered) = (0, true);
    loop {
        match capture.next() {
            Ok(Some(Item::Frame(frame))) => {
                frames += 1;
                ordered &= frame.time.0 == (frames - 1) * 1_000_000_000;
            }
            // Damaged content that was read before the damage was detected.
            Ok(Some(Item::LeftOut)) => ordered = false,
            Ok(Some(other)) => panic!("no {other:?} was packed"),
            Ok(None) => {
                assert!(ordered, "every record comes once and in its place");
                return (frames as u64, None);
            }
            Err(CaptureError::Interrupted) => {}
            Err(error) => return (frames as u64, Some(error)),
        }
    }
}

fn open(bytes: Vec<u8>) -> Capture {
    Capture::from_reader(Box::new(Cursor::new(bytes)))
}

#[test]
fn each_compression_is_told_by_content_and_undone() {
    for compression in ALL {
        let packed = pack(compression, &pcap(20_000));
        let length = packed.len() as u64;
        let mut capture = open(packed.clone());
        while capture.compression().is_none() {
            assert!(matches!(capture.next(), Ok(Some(_)) | Err(CaptureError::Interrupted)));
        }
        assert_eq!(capture.compression(), Some(compression));
        while !matches!(capture.next(), Ok(None)) {}
        assert_eq!(capture.offset(), length, "progress runs to the length of the {} file", compression.name());
        assert_eq!(read(open(packed)), (20_000, None), "{}", compression.name());
    }
}

#[test]
fn members_and_frames_in_a_row_are_one_input() {
    for compression in ALL {
        let whole = pcap(3_000);
        let (first, second) = whole.split_at(whole.len() / 3);
        let packed = [pack(compression, first), pack(compression, second)].concat();
        assert_eq!(read(open(packed)), (3_000, None), "{}", compression.name());
    }
}

#[test]
fn input_cut_anywhere_gives_what_was_whole_and_says_that_it_ends_early() {
    for compression in ALL {
        let packed = pack(compression, &pcap(300));
        for length in (MAGIC_SEEN..packed.len()).step_by(37) {
            let (frames, end) = read(open(packed[..length].to_vec()));
            let Some(CaptureError::Damaged { truncated, what, packet, .. }) = end else {
                panic!("{} cut to {length}: {end:?} after {frames}", compression.name());
            };
            assert!(truncated && what.contains(compression.name()), "{} cut to {length}: {what}", compression.name());
            assert_eq!(packet.0, frames + 1);
        }
    }
}

/// Bytes that show the compression.
const MAGIC_SEEN: usize = 8;

#[test]
fn damage_inside_is_found_and_never_a_panic() {
    for compression in ALL {
        let packed = pack(compression, &pcap(300));
        let mut found = 0;
        for at in (MAGIC_SEEN..packed.len()).step_by(23) {
            let mut bytes = packed.clone();
            bytes[at] ^= 0x55;
            let (frames, end) = read(open(bytes));
            assert!(frames <= 300 || end.is_some());
            found += u32::from(end.is_some());
        }
        // gzip's header holds a time and a system without effect here.
        assert!(found + 2 >= (packed.len() - MAGIC_SEEN).div_ceil(23) as u32, "{}: {found}", compression.name());
    }
}

#[test]
fn what_was_packed_twice_or_is_no_capture_is_refused() {
    for compression in ALL {
        let refused = |bytes: &[u8]| match read(open(pack(compression, bytes))) {
            (0, Some(CaptureError::NotACapture { what })) => what,
            other => panic!("{}: {other:?}", compression.name()),
        };
        let twice = refused(&pack(Compression::Gzip, &pcap(1)));
        assert_eq!(twice, format!("a gzip file inside a {} file; unpack it first", compression.name()));
        assert!(refused(b"").starts_with("an empty file"));
        assert!(refused(b"\x89PNG\r\n\x1a\n").starts_with("a PNG image"));
    }
}

#[test]
fn a_bomb_stops_at_the_limit_and_the_limit_can_be_raised() {
    /// Size of the decompressed records, bytes.
    const ALL: usize = 100_000 * 56;
    // A header, and then one packet repeated: 5.6 MB in a few kilobytes.
    let mut bomb = Cursor::new(pcap(0)).chain(Repeat { record: pcap(1)[24..].to_vec(), at: 0, left: ALL });
    let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), 1).unwrap();
    std::io::copy(&mut bomb, &mut encoder).unwrap();
    let packed = encoder.finish().unwrap();
    let count = |expansion| {
        let mut capture = open(packed.clone()).with_expansion(expansion);
        let mut frames = 0;
        loop {
            match capture.next() {
                Ok(Some(_)) => frames += 1,
                Ok(None) => return (frames, None),
                Err(CaptureError::Interrupted) => {}
                Err(error) => return (frames, Some(error.to_string())),
            }
        }
    };
    let (frames, end) = count(Expansion { most: 20, always: 1_000_000 });
    assert!((1_000_000 / 56..2_000_000 / 56).contains(&frames), "{frames}");
    let end = end.unwrap_or_default();
    assert!(end.contains("over 20 times as many") && end.contains("--max-expansion"), "{end}");
    assert_eq!(count(Expansion { most: 100_000, always: 1_000_000 }), (100_000, None));
    assert_eq!(count(Expansion::times(1)), (100_000, None), "a gigabyte may come of anything");
}

/// A source that repeats the same bytes.
struct Repeat {
    record: Vec<u8>,
    at: usize,
    left: usize,
}

impl Read for Repeat {
    fn read(&mut self, to: &mut [u8]) -> std::io::Result<usize> {
        let count = to.len().min(self.record.len() - self.at).min(self.left);
        to[..count].copy_from_slice(&self.record[self.at..self.at + count]);
        self.at = (self.at + count) % self.record.len();
        self.left -= count;
        Ok(count)
    }
}

#[test]
fn a_source_that_fails_is_no_fault_of_the_data() {
    struct Broken;
    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
            Err(std::io::Error::other("disk on fire"))
        }
    }
    for compression in ALL {
        let packed = pack(compression, &pcap(5_000));
        let half = packed[..packed.len() / 2].to_vec();
        let (_, end) = read(Capture::from_reader(Box::new(Cursor::new(half).chain(Broken))));
        let Some(CaptureError::Read { reason, .. }) = end else {
            panic!("{}: {end:?}", compression.name());
        };
        assert!(reason.contains("disk on fire"), "{}: {reason}", compression.name());
    }
}

#[test]
fn what_damaged_data_gives_does_not_depend_on_how_it_arrives() {
    for compression in ALL {
        let packed = pack(compression, &pcap(2_000));
        for at in (MAGIC_SEEN..packed.len()).step_by(packed.len() / 20 + 1) {
            let mut bytes = packed.clone();
            bytes[at] ^= 0x55;
            let drip = Drip { bytes: Cursor::new(bytes.clone()), reads: 0 };
            assert_eq!(read(Capture::from_reader(Box::new(drip))), read(open(bytes)), "{}: {at}", compression.name());
        }
    }
}

/// A source that gives a few bytes per read, and sometimes a signal.
struct Drip {
    bytes: Cursor<Vec<u8>>,
    reads: usize,
}

impl Read for Drip {
    fn read(&mut self, to: &mut [u8]) -> std::io::Result<usize> {
        self.reads += 1;
        if self.reads.is_multiple_of(3) {
            return Err(std::io::ErrorKind::Interrupted.into());
        }
        let most = to.len().min(1 + self.reads % 60);
        self.bytes.read(&mut to[..most])
    }
}

#[test]
fn after_an_error_there_is_nothing_more_even_where_two_things_are_wrong() {
    for garbage in [&[0xee; 5_000][..], &[0xee; 7], &[]] {
        let mut whole = pcap(20);
        // An impossible length that is skipped, and garbage at the end that is not.
        whole[24 + 56 * 3 + 8..24 + 56 * 3 + 12].fill(0xff);
        whole.extend_from_slice(garbage);
        for compression in ALL {
            let mut packed = pack(compression, &whole);
            packed.truncate(packed.len() - 1);
            let mut capture = open(packed);
            let end = loop {
                match capture.next() {
                    Ok(Some(_)) | Err(CaptureError::Interrupted) => {}
                    other => break other.map(|_| ()),
                }
            };
            assert!(matches!(end, Err(CaptureError::Damaged { .. })), "{}: {end:?}", compression.name());
            assert!(matches!(capture.next(), Ok(None)), "{}", compression.name());
        }
    }
}
