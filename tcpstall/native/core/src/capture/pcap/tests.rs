//! Tests of classic pcap files, built byte by byte.

use crate::capture::{Capture, CaptureError, Format, Item};
use crate::packet_no::PacketNo;

/// One record: seconds, fraction, captured bytes, length on the wire.
type Record<'a> = (u32, u32, &'a [u8], u32);

/// A file in the byte order of `word`.
fn file(word: fn(u32) -> [u8; 4], magic: u32, link: u32, records: &[Record<'_>]) -> Vec<u8> {
    let version = if word(1)[0] == 1 { 0x0004_0002 } else { 0x0002_0004 };
    let mut bytes: Vec<u8> = [magic, version, 0, 0, 65_535, link].into_iter().flat_map(word).collect();
    for (seconds, fraction, data, wire) in records {
        bytes.extend([*seconds, *fraction, data.len() as u32, *wire].into_iter().flat_map(word));
        if magic == 0xa1b2_cd34 {
            bytes.extend([0; 8]);
        }
        bytes.extend_from_slice(data);
    }
    bytes
}

/// Packet number, time, bytes, length on the wire.
type Got = (u64, i64, Vec<u8>, u32);

/// All packets of the capture, and its end.
fn read(bytes: &[u8]) -> (Vec<Got>, Option<CaptureError>) {
    let mut capture = Capture::from_reader(Box::new(std::io::Cursor::new(bytes.to_vec())));
    let mut frames = Vec::new();
    loop {
        match capture.next() {
            Ok(Some(Item::Frame(f))) => frames.push((f.packet.0, f.time.0, f.bytes.to_vec(), f.wire_length)),
            // Packet 0 marks an unreadable place.
            Ok(Some(Item::LeftOut)) => frames.push((0, 0, vec![], 0)),
            Ok(Some(other)) => panic!("pcap has no {other:?}"),
            Ok(None) => {
                assert_eq!(capture.format(), Some(Format::Pcap));
                return (frames, None);
            }
            Err(error) => {
                assert!(matches!(capture.next(), Ok(None)), "an error is the end");
                return (frames, Some(error));
            }
        }
    }
}

const TWO: [Record<'static>; 2] = [(1, 500, &[1, 2, 3], 60), (2, 999_999, &[], 0)];

#[test]
fn both_byte_orders_and_all_three_layouts_read_alike() {
    for word in [u32::to_le_bytes, u32::to_be_bytes] {
        for (magic, unit) in [(0xa1b2_c3d4, 1_000), (0xa1b2_3c4d, 1), (0xa1b2_cd34, 1_000)] {
            let (frames, end) = read(&file(word, magic, 1, &TWO));
            let first = (1, 1_000_000_000 + 500 * unit, vec![1, 2, 3], 60);
            let second = (2, 2_000_000_000 + 999_999 * unit, vec![], 0);
            assert_eq!((frames, end), (vec![first, second], None), "magic {magic:x}");
        }
    }
}

#[test]
fn a_fraction_of_more_than_a_second_adds_up() {
    let records = [(u32::MAX, u32::MAX, &[0u8][..], 1)];
    let (frames, _) = read(&file(u32::to_le_bytes, 0xa1b2_c3d4, 1, &records));
    assert_eq!(frames[0].1, 4_294_967_295_000_000_000 + 4_294_967_295_000);
}

#[test]
fn the_upper_half_of_the_link_type_is_not_the_link_type() {
    let bytes = file(u32::to_be_bytes, 0xa1b2_c3d4, 0x4400_0071, &[]);
    let mut capture = Capture::from_reader(Box::new(std::io::Cursor::new(bytes)));
    assert!(matches!(capture.next(), Ok(None)));
    let names: Vec<_> = capture.link_types().iter().map(|link| link.name()).collect();
    assert_eq!(names, ["LINUX_SLL"]);
}

#[test]
fn before_version_2_4_the_smaller_length_is_the_captured_one() {
    let mut bytes = file(u32::to_be_bytes, 0xa1b2_c3d4, 1, &[(1, 0, &[7; 4], 82)]);
    bytes[7] = 2;
    bytes[32..40].copy_from_slice(&[0, 0, 0, 82, 0, 0, 0, 4]);
    assert_eq!(read(&bytes), (vec![(1, 1_000_000_000, vec![7; 4], 82)], None));
}

#[test]
fn a_file_cut_anywhere_gives_its_whole_records_and_says_where_it_ends() {
    let whole = file(u32::to_le_bytes, 0xa1b2_c3d4, 1, &[(1, 0, &[1; 50], 50), (2, 0, &[2; 50], 50)]);
    let boundaries = [24, 90, 156];
    for length in 4..=whole.len() {
        let (frames, end) = read(&whole[..length]);
        let complete = boundaries.iter().filter(|end| **end <= length).count().saturating_sub(1);
        assert_eq!(frames.len(), complete, "cut to {length} bytes");
        match end {
            None => assert!(boundaries.contains(&length)),
            Some(CaptureError::Damaged { offset, packet, truncated, .. }) => {
                let start = boundaries.iter().rev().find(|start| **start <= length).unwrap_or(&0);
                assert_eq!((offset, packet), (*start as u64, PacketNo(complete as u64 + 1)));
                assert!(truncated && !boundaries.contains(&length));
            }
            Some(other) => panic!("{other}"),
        }
    }
}

#[test]
fn an_impossible_length_is_damage_and_not_a_cut() {
    let mut bytes = file(u32::to_le_bytes, 0xa1b2_c3d4, 1, &[(1, 0, &[1; 50], 50), (2, 0, &[2; 50], 50)]);
    bytes[98..102].copy_from_slice(&u32::MAX.to_le_bytes());
    let (frames, end) = read(&bytes);
    assert_eq!(frames.len(), 1);
    let line = end.map(|error| error.to_string());
    let expected = "capture is damaged at packet 2, byte 90: \
                    the record header claims 4294967295 captured bytes, at most 262144 are possible";
    assert_eq!(line.as_deref(), Some(expected));
}

/// Records one second apart, filled with their number.
fn numbered(word: fn(u32) -> [u8; 4], magic: u32) -> Vec<u8> {
    let data: Vec<[u8; 60]> = (1..=8).map(|number| [number; 60]).collect();
    let records: Vec<Record<'_>> = data.iter().map(|data| (1_000 + u32::from(data[0]), 7, &data[..], 60)).collect();
    file(word, magic, 1, &records)
}

#[test]
fn reading_goes_on_behind_an_impossible_length_and_the_end_says_what_was_lost() {
    for word in [u32::to_le_bytes, u32::to_be_bytes] {
        for (magic, header) in [(0xa1b2_c3d4, 16), (0xa1b2_3c4d, 16), (0xa1b2_cd34, 24)] {
            let (whole, record) = (numbered(word, magic), header + 60);
            let all = read(&whole).0;
            let third = 24 + 2 * record;
            let mut bytes = whole.clone();
            bytes[third + 8..third + 12].fill(0xff);
            let (frames, end) = read(&bytes);
            let numbers: Vec<u8> = frames.iter().map(|frame| frame.2.first().copied().unwrap_or(0)).collect();
            assert_eq!(numbers, [1, 2, 0, 4, 5, 6, 7, 8], "magic {magic:x}");
            assert_eq!(frames[3].1, all[3].1);
            let line = end.map(|error| error.to_string()).unwrap_or_default();
            let start = format!("capture is damaged at packet 3, byte {third}: the record header claims 4294967295");
            assert!(line.starts_with(&start), "{line}");
            assert!(line.ends_with(&format!("; {record} bytes were skipped, what follows was read")), "{line}");
        }
    }
}

#[test]
fn garbage_and_lost_blocks_between_records_are_passed_over() {
    let whole = numbered(u32::to_le_bytes, 0xa1b2_c3d4);
    for garbage in [vec![0xee; 1_001], vec![0; 4_096], vec![0; 300_000]] {
        let mut bytes = whole.clone();
        bytes.splice(24 + 76..24 + 76, garbage.iter().copied());
        let (frames, end) = read(&bytes);
        let numbers: Vec<u8> = frames.iter().map(|frame| frame.2.first().copied().unwrap_or(0)).collect();
        assert_eq!(numbers, [1, 0, 2, 3, 4, 5, 6, 7, 8], "{} bytes of {}", garbage.len(), garbage[0]);
        let line = end.map(|error| error.to_string()).unwrap_or_default();
        assert!(line.contains(&format!("; {} bytes were skipped", garbage.len())), "{line}");
    }
}

#[test]
fn what_only_looks_like_a_record_is_not_believed() {
    // One valid header in the payload, and after it nothing that follows from it.
    let mut bytes = numbered(u32::to_le_bytes, 0xa1b2_c3d4);
    bytes.truncate(24 + 2 * 76);
    bytes[24 + 76 + 8..24 + 76 + 12].fill(0xff);
    let decoy: Vec<u8> = [1_003u32, 7, 60, 60].into_iter().flat_map(u32::to_le_bytes).collect();
    bytes[24 + 76 + 20..24 + 76 + 36].copy_from_slice(&decoy);
    let (frames, end) = read(&bytes);
    assert_eq!(frames.len(), 1);
    let line = end.map(|error| error.to_string()).unwrap_or_default();
    assert!(line.ends_with("at most 262144 are possible"), "{line}");
}

#[test]
fn files_appended_to_each_other_are_one_capture() {
    let [micro, nano] = [0xa1b2_c3d4, 0xa1b2_3c4d];
    let mut bytes = numbered(u32::to_le_bytes, micro);
    bytes.extend(file(u32::to_le_bytes, micro, 1, &[]));
    bytes.extend(file(u32::to_be_bytes, nano, 113, &[(2_000, 5, &[9; 4], 4)]));
    let (frames, end) = read(&bytes);
    assert_eq!((frames.len(), end), (9, None));
    assert_eq!(frames[8], (9, 2_000_000_000_005, vec![9; 4], 4));
    let mut capture = Capture::from_reader(Box::new(std::io::Cursor::new(bytes)));
    while !matches!(capture.next(), Ok(None)) {}
    let links: Vec<_> = capture.link_types().iter().map(|link| link.name()).collect();
    assert_eq!(links, ["EN10MB", "LINUX_SLL"]);
}

#[test]
fn records_without_bytes_are_records() {
    let records: [Record<'_>; 3] = [(0, 0, &[], 60), (5, 0, &[], 0), (6, 0, &[1], 1)];
    let (frames, end) = read(&file(u32::to_le_bytes, 0xa1b2_c3d4, 1, &records));
    assert_eq!((frames.len(), end), (3, None));
}
