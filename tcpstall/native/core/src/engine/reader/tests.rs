//! Tests of sets of captures: in order, overlapping, out of order where they meet, incomplete.

use std::collections::HashMap;
use std::io::Cursor;

use super::super::sets::in_order;
use super::super::{Filter, Opener, RunOptions, Sets};
use super::*;
use crate::capture::{Capture, Expansion};
use crate::causes::Limits;
use crate::results::Wanted;

/// A packet of a test: its time, and its mark.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Packet {
    Tcp(i64, u32),
    Udp(i64),
}
use Packet::{Tcp, Udp};

/// Ethernet, IPv4 and the transport header.
fn frame(packet: Packet) -> (i64, Vec<u8>) {
    let (us, seq, protocol) = match packet {
        Tcp(us, seq) => (us, seq, 6),
        Udp(us) => (us, 0, 17),
    };
    let mut bytes = vec![2; 12];
    bytes.extend([8, 0, 0x45, 0, 0, 40, 0, 0, 0, 0, 64, protocol, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
    bytes.extend([4, 0, 0, 80]);
    bytes.extend(seq.to_be_bytes());
    bytes.extend([0, 0, 0, 1, 0x50, 0x10, 1, 0, 0, 0, 0, 0]);
    (us, bytes)
}

/// A pcap file in microseconds.
fn pcap(packets: &[Packet]) -> Vec<u8> {
    let header = [0xa1b2_c3d4u32, 0x0004_0002, 0, 0, 65_535, 1];
    let mut file: Vec<u8> = header.into_iter().flat_map(u32::to_le_bytes).collect();
    for packet in packets {
        let (us, bytes) = frame(*packet);
        let length = bytes.len() as u32;
        let record = [(us / 1_000_000) as u32, (us % 1_000_000) as u32, length, length];
        file.extend(record.into_iter().flat_map(u32::to_le_bytes));
        file.extend(bytes);
    }
    file
}

/// Batches as the flows receive them.
#[derive(Debug, Default)]
struct Told {
    /// Number, sequence number and file of each segment.
    segments: Vec<(u64, u32, u32)>,
    /// Number of segments before each mark of left-out packets.
    marks: Vec<usize>,
    statuses: Vec<CaptureStatus>,
}

impl Told {
    fn seqs(&self) -> Vec<u32> {
        self.segments.iter().map(|segment| segment.1).collect()
    }

    fn packets(&self) -> Vec<u64> {
        self.segments.iter().map(|segment| segment.0).collect()
    }

    fn warnings(&self, file: usize) -> Vec<(&'static str, u64)> {
        self.statuses[file].warnings.iter().map(|warning| (warning.code, warning.count)).collect()
    }
}

/// Reads files as one set; a file that is `None` cannot be opened.
fn read(files: Vec<Option<Vec<u8>>>, missing_before: &[usize]) -> Told {
    read_beyond(files, missing_before, 0)
}

/// Reads files as one set, except the first `known_packets` of the first file.
fn read_beyond(files: Vec<Option<Vec<u8>>>, missing_before: &[usize], known_packets: u64) -> Told {
    let paths: Vec<String> = (0..files.len()).map(|file| file.to_string()).collect();
    let of = vec![0; files.len()];
    let files: HashMap<String, Option<Vec<u8>>> = paths.iter().cloned().zip(files).collect();
    let opener = Opener::new(move |name| match files.get(name) {
        Some(Some(bytes)) => Ok(Capture::from_reader(Box::new(Cursor::new(bytes.clone())))),
        _ => Err(CaptureError::Open { path: name.into(), reason: "no such file".into() }),
    });
    let options = RunOptions {
        filter: Filter::default(),
        limits: Limits::default(),
        wanted: Wanted { bursts: false, exchanges: false, least_stall: Nanos::ZERO },
        expansion: Expansion::default(),
        names: None,
        sets: Sets { of, missing_before: missing_before.to_vec(), known_packets, ..Sets::default() },
        opener,
        threads: None,
    };
    let mut told = Told { statuses: vec![CaptureStatus::default(); paths.len()], ..Told::default() };
    let set: Vec<usize> = (0..paths.len()).collect();
    let mut again = || std::ops::ControlFlow::Continue(());
    let coming = in_order(&set, &paths, &options, &mut told.statuses, &mut again);
    let coming = coming.continue_value().unwrap();
    let mut reader = Reader::new(coming, &paths, &options, &mut told.statuses);
    let mut batch = Batch::default();
    loop {
        let filled = reader.fill(&mut batch);
        let of = |segment: &crate::wire::Segment| {
            (segment.packet.0, segment.seq.0, batch.files.of(segment).unwrap_or(u32::MAX))
        };
        told.segments.extend(batch.segments().iter().map(of));
        told.marks.extend(batch.left_out.then_some(told.segments.len()));
        batch.clear();
        if filled == Filled::End {
            return told;
        }
    }
}

fn files(packets: &[&[Packet]]) -> Vec<Option<Vec<u8>>> {
    packets.iter().map(|packets| Some(pcap(packets))).collect()
}

/// One packet per millisecond, from one number to another.
fn steady(range: std::ops::Range<u32>) -> Vec<Packet> {
    range.map(|seq| Tcp(i64::from(seq) * 1_000, seq)).collect()
}

#[test]
fn files_are_read_in_the_order_of_their_first_packets() {
    let told = read(files(&[&steady(20..30), &steady(0..10), &steady(10..20)]), &[]);
    assert_eq!(told.seqs(), (0..30).collect::<Vec<_>>());
    assert_eq!(told.packets(), (1..=30).collect::<Vec<_>>());
    let begins: Vec<_> = told.statuses.iter().map(|status| status.first_packet).collect();
    assert_eq!(begins, [Some(21), Some(1), Some(11)]);
    let from: Vec<u32> = told.segments.iter().step_by(10).map(|segment| segment.2).collect();
    assert_eq!(from, [1, 2, 0]);
}

#[test]
fn numbers_count_what_is_no_tcp_too() {
    let told = read(files(&[&[Udp(0), Tcp(10, 1), Udp(20)], &[Udp(5_000), Udp(6_000), Tcp(7_000, 2)]]), &[]);
    assert_eq!((told.packets(), told.statuses[1].first_packet), (vec![2, 6], Some(4)));
    let told = read(files(&[&[Tcp(10, 1), Udp(20)], &[Udp(30)], &[Udp(40), Tcp(50, 2)]]), &[]);
    assert_eq!((told.packets(), told.statuses[2].first_packet), (vec![1, 5], Some(4)));
}

#[test]
fn packets_that_were_told_already_keep_their_numbers_and_reach_no_flow() {
    let first = [Tcp(0, 1), Udp(10), Tcp(20, 2), Tcp(20, 3), Tcp(30, 4)];
    let alone = read_beyond(files(&[&first]), &[], 3);
    assert_eq!((alone.packets(), alone.seqs()), (vec![4, 5], vec![3, 4]));
    assert_eq!(alone.statuses[0].packets, 5);
    let followed = read_beyond(files(&[&first, &[Tcp(1_000_000, 5)]]), &[], 3);
    assert_eq!((followed.packets(), followed.seqs()), (vec![4, 5, 6], vec![3, 4, 5]));
    let overlapping = read_beyond(files(&[&first, &[Tcp(5, 9), Tcp(40, 5)]]), &[], 3);
    assert_eq!(overlapping.seqs(), [9, 3, 4, 5]);
    assert!(read_beyond(files(&[&first]), &[], 9).seqs().is_empty());
}

#[test]
fn what_two_files_hold_counts_once() {
    let told = read(files(&[&steady(0..20), &steady(10..30)]), &[]);
    assert_eq!(told.seqs(), (0..30).collect::<Vec<_>>());
    assert_eq!(told.packets(), (1..=30).collect::<Vec<_>>());
    assert_eq!((told.warnings(0), told.warnings(1)), (vec![], vec![("overlap", 10)]));
    assert_eq!((told.statuses[1].packets, told.statuses[1].tcp_segments), (20, 20));
}

#[test]
fn the_end_of_one_repeated_at_the_start_of_the_next_counts_once() {
    let close: Vec<Packet> = (0..40).map(|seq| Tcp(i64::from(seq), seq)).collect();
    let told = read(files(&[&close[..30], &close[25..]]), &[]);
    assert_eq!((told.seqs(), told.warnings(1)), ((0..40).collect(), vec![("overlap", 5)]));
    assert_eq!(told.packets(), (1..=40).collect::<Vec<_>>());
}

#[test]
fn a_file_given_twice_or_thrice_counts_once() {
    let all = steady(0..3_000);
    let told = read(files(&[&all, &all, &all]), &[]);
    assert_eq!(told.packets(), (1..=3_000).collect::<Vec<_>>());
    assert_eq!((told.warnings(1), told.warnings(2)), (vec![("overlap", 3_000)], vec![("overlap", 3_000)]));
}

#[test]
fn three_files_that_overlap_are_merged() {
    let told = read(files(&[&steady(0..100), &steady(50..150), &steady(75..200)]), &[]);
    assert_eq!(told.seqs(), (0..200).collect::<Vec<_>>());
    assert_eq!((told.warnings(1), told.warnings(2)), (vec![("overlap", 50)], vec![("overlap", 75)]));
}

#[test]
fn two_directions_captured_apart_are_merged_by_time() {
    let both = steady(0..3_000);
    let (even, odd): (Vec<Packet>, Vec<Packet>) =
        both.iter().partition(|packet| matches!(packet, Tcp(_, seq) if seq % 2 == 0));
    let told = read(files(&[&odd, &even]), &[]);
    assert_eq!(told.seqs(), (0..3_000).collect::<Vec<_>>());
    assert_eq!(told.packets(), (1..=3_000).collect::<Vec<_>>());
    assert!(told.segments.iter().all(|(_, seq, file)| seq % 2 != *file));
    assert!(told.warnings(0).is_empty() && told.warnings(1).is_empty());
}

#[test]
fn copies_within_one_file_stay() {
    let told = read(files(&[&[Tcp(0, 1), Tcp(0, 1), Tcp(9, 2)], &[Tcp(0, 1), Tcp(0, 1), Tcp(9, 2)]]), &[]);
    assert_eq!((told.seqs(), told.warnings(1)), (vec![1, 1, 2], vec![("overlap", 3)]));
}

#[test]
fn packets_out_of_order_where_files_meet_are_no_overlap() {
    let packets = [Tcp(0, 1), Tcp(900, 2), Tcp(400, 3), Tcp(1_000, 4), Tcp(950, 5)];
    for cut in 1..packets.len() {
        let told = read(files(&[&packets[..cut], &packets[cut..]]), &[]);
        assert_eq!(told.seqs(), [1, 3, 2, 5, 4], "cut after {cut}");
        assert_eq!(told.packets(), [1, 3, 2, 5, 4], "cut after {cut}");
    }
    let single: Vec<&[Packet]> = packets.chunks(1).collect();
    assert_eq!(read(files(&single), &[]).packets(), [1, 3, 2, 5, 4]);
}

#[test]
fn a_cut_changes_nothing_where_packets_come_close() {
    // 700 ns apart on average, some out of order, some at the same time, some not TCP.
    let mut random = 1u64;
    let mut draw = move |below: u64| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) % below
    };
    let packets: Vec<Packet> = (0..4_000u32)
        .map(|seq| {
            let us = i64::from(seq) * 7 / 10 + draw(5) as i64;
            if draw(10) == 0 { Udp(us) } else { Tcp(us, seq) }
        })
        .collect();
    let whole = read(files(&[&packets]), &[]);
    for pieces in [2, 3, 7, 50, 400] {
        let parts: Vec<&[Packet]> = packets.chunks(packets.len().div_ceil(pieces)).collect();
        let told = read(files(&parts), &[]);
        let alike = |told: &Told| (told.packets(), told.seqs());
        assert_eq!(alike(&told), alike(&whole), "{pieces} files");
        assert!((0..parts.len()).all(|file| told.warnings(file).is_empty()), "{pieces} files");
    }
}

#[test]
fn a_file_that_cannot_be_opened_leaves_a_gap_where_it_stands() {
    let mut given = files(&[&steady(0..10), &[], &steady(20..30)]);
    given[1] = None;
    let told = read(given, &[]);
    assert_eq!((told.segments.len(), &told.marks), (20, &vec![10]));
    assert_eq!(told.statuses.iter().map(|status| status.exit_code).collect::<Vec<_>>(), [0, 3, 0]);
    assert_eq!((told.statuses[1].first_packet, told.statuses[2].first_packet), (None, Some(11)));
}

#[test]
fn a_file_that_is_no_capture_leaves_a_gap_where_it_stands() {
    let mut given = files(&[&steady(0..10), &[], &steady(20..30)]);
    given[1] = Some(b"\x7fELF, and so on".to_vec());
    let told = read(given, &[]);
    assert_eq!((told.segments.len(), &told.marks, told.statuses[1].exit_code), (20, &vec![10], 4));
}

#[test]
fn a_file_that_is_cut_in_mid_set_leaves_a_gap_behind_what_was_read() {
    let mut given = files(&[&steady(0..10), &steady(10..20), &steady(20..30)]);
    let cut = given[1].as_mut().unwrap();
    cut.truncate(cut.len() - 5);
    let told = read(given, &[]);
    assert_eq!((told.segments.len(), &told.marks, told.statuses[1].exit_code), (29, &vec![19], 5));
    assert_eq!(told.statuses[2].first_packet, Some(20));
}

#[test]
fn the_last_file_cut_is_no_gap() {
    let mut given = files(&[&steady(0..10), &steady(10..20)]);
    let cut = given[1].as_mut().unwrap();
    cut.truncate(cut.len() - 5);
    let told = read(given, &[]);
    assert_eq!((told.segments.len(), told.marks.len(), told.statuses[1].exit_code), (19, 0, 5));
}

#[test]
fn a_missing_file_is_a_gap_and_said_of_the_one_after_it() {
    let told = read(files(&[&steady(0..10), &steady(20..30)]), &[1]);
    assert_eq!((&told.marks, told.warnings(1)), (&vec![10], vec![("missing-file", 1)]));
    let first = read(files(&[&steady(0..10), &steady(20..30)]), &[0]);
    assert_eq!((first.marks.len(), first.warnings(0)), (0, vec![("missing-file", 1)]));
}

#[test]
fn a_gap_between_files_that_follow_closely_lies_between_them() {
    let close: Vec<Packet> = (0..40).map(|seq| Tcp(i64::from(seq), seq)).collect();
    let told = read(files(&[&close[..20], &close[20..]]), &[1]);
    assert_eq!((told.seqs(), &told.marks), ((0..40).collect(), &vec![20]));
}

#[test]
fn files_without_packets_and_without_tcp_change_nothing() {
    let told = read(files(&[&[], &steady(0..10), &[], &[Udp(9_500), Udp(9_600)], &steady(10..20)]), &[]);
    assert_eq!(told.seqs(), (0..20).collect::<Vec<_>>());
    assert!(told.marks.is_empty());
    assert_eq!(told.packets()[10], 13);
}

#[test]
fn times_at_the_end_of_all_time_end() {
    let far = i64::from(u32::MAX) * 1_000_000;
    let told = read(files(&[&[Tcp(far, 1), Tcp(0, 2)], &[Tcp(far, 3)], &[Tcp(0, 4)]]), &[]);
    assert_eq!(told.segments.len(), 4);
}

#[test]
fn whatever_the_times_each_segment_is_handed_on_or_counted_as_an_overlap() {
    let mut random = 7u64;
    let mut draw = move |below: u64| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) % below
    };
    for _ in 0..300 {
        let pool: Vec<Packet> = (0..60)
            .map(|seq| {
                let us = [draw(40), draw(3_000), draw(5_000_000)][draw(3) as usize] as i64;
                if draw(8) == 0 { Udp(us) } else { Tcp(us, seq % 20) }
            })
            .collect();
        let mut parts: Vec<Vec<Packet>> = Vec::new();
        for _ in 0..=draw(6) {
            let (from, count) = (draw(60) as usize, draw(40) as usize);
            let mut part: Vec<Packet> = pool.iter().skip(from).take(count).copied().collect();
            if draw(3) > 0 {
                part.sort_by_key(|packet| match packet {
                    Tcp(us, _) | Udp(us) => *us,
                });
            }
            parts.push(part);
        }
        let mut given = files(&parts.iter().map(Vec::as_slice).collect::<Vec<_>>());
        if draw(4) == 0 {
            let broken = draw(given.len() as u64) as usize;
            given[broken] = None;
            parts[broken].clear();
        }
        let told = read(given, &[draw(9) as usize]);
        let all = parts.iter().flatten().filter(|packet| matches!(packet, Tcp(..))).count();
        let overlaps: u64 = (0..parts.len())
            .flat_map(|file| told.warnings(file))
            .filter_map(|(code, count)| (code == "overlap").then_some(count))
            .sum();
        assert_eq!(told.segments.len() + overlaps as usize, all, "{parts:?}");
        let mut numbers = told.packets();
        numbers.sort_unstable();
        assert!(numbers.windows(2).all(|pair| pair[0] < pair[1]), "{parts:?}");
        assert!(told.segments.iter().all(|(_, _, file)| parts.len() == 1 || (*file as usize) < parts.len()));
    }
}

#[test]
fn an_overlap_is_found_where_a_file_begins_out_of_order() {
    let first = [Tcp(0, 1), Tcp(5_000, 2), Tcp(5_300, 3), Tcp(9_000, 4)];
    let told = read(files(&[&first, &[Tcp(5_300, 3), Tcp(5_000, 2), Tcp(9_000, 4)]]), &[]);
    assert_eq!((told.seqs(), told.warnings(1)), (vec![1, 2, 3, 4], vec![("overlap", 3)]));
}
