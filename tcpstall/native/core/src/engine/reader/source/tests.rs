//! Tests of incomplete fragments, impossible times, and counts that overflow.

use std::io::Cursor;

use super::*;

/// A fragment of an IPv4 packet of one sender: time (ms), IP-ID, first byte, number of bytes, whether more fragments
/// follow.
#[derive(Clone, Copy)]
struct Part(u32, u16, u16, u16, bool);

/// A packet of 32 bytes of payload in two fragments of 24 bytes of payload and 8.
const fn pair(ms: u32, id: u16) -> [Part; 2] {
    [Part(ms, id, 0, 44, true), Part(ms, id, 48, 8, false)]
}

/// A raw IP capture. TCP's header is in each first fragment; its sequence number is the packet's number.
fn pcap(parts: &[Part]) -> Vec<u8> {
    let header = [0xa1b2_c3d4_u32, 0x0004_0002, 0, 0, 65_535, 101];
    let mut file: Vec<u8> = header.into_iter().flat_map(u32::to_le_bytes).collect();
    for &Part(ms, id, offset, length, more) in parts {
        let length = if offset == 0 { 48.min(length + 4) } else { length };
        let mut packet = vec![0x45, 0];
        packet.extend((20 + length).to_be_bytes());
        packet.extend(id.to_be_bytes());
        packet.extend(((u16::from(more) << 13) | (offset / 8)).to_be_bytes());
        packet.extend([64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
        if offset == 0 {
            packet.extend([
                4,
                0,
                0,
                80,
                0,
                0,
                id.to_be_bytes()[0],
                id.to_be_bytes()[1],
                0,
                0,
                0,
                1,
                0x50,
                0x18,
                1,
                0,
                0,
                0,
                0,
                0,
            ]);
        }
        packet.resize(20 + usize::from(length), 0);
        let record = [ms / 1_000, ms % 1_000 * 1_000, packet.len() as u32, packet.len() as u32];
        file.extend(record.into_iter().flat_map(u32::to_le_bytes));
        file.extend(packet);
    }
    file
}

/// Every segment of consecutive captures, as packet, payload and time (ms), and the number of segments by the captures'
/// statuses.
fn read(captures: &[Vec<u8>]) -> (Vec<(u32, u32, i64)>, u64) {
    let (mut found, mut told, mut before) = (Vec::new(), 0, None);
    for (number, bytes) in captures.iter().enumerate() {
        let mut capture = Capture::from_reader(Box::new(Cursor::new(bytes.clone())));
        let (mut source, mut status) = (Source::default(), CaptureStatus::new("-"));
        source.goes_on = number + 1 < captures.len();
        if let Some(mut before) = before.take() {
            source.continues(&mut before);
        }
        let mut place = Segment::default();
        while let Ok(Some(item)) = source.next(&mut capture, &mut status, &mut place) {
            if matches!(item, SourceItem::Segment | SourceItem::Start) {
                found.push((place.seq.0, place.payload, place.time.0 / 1_000_000));
            }
        }
        told += status.tcp_segments;
        before = Some(source);
    }
    (found, told)
}

fn alone(parts: &[Part]) -> (Vec<(u32, u32, i64)>, u64) {
    read(&[pcap(parts)])
}

#[test]
fn a_part_of_a_segment_that_was_handed_on_counts_with_its_beginning() {
    let (found, told) = alone(&pair(0, 1));
    assert_eq!((found, told), (vec![(1, 28, 0), (29, 8, 0)], 1));
}

#[test]
fn a_segment_that_lacks_a_fragment_comes_once_as_far_as_it_goes() {
    // The first packet shows that later fragments pass; the second fragment of packet 2 is missing.
    let parts = [&pair(0, 1)[..], &pair(10, 2)[..1], &pair(20, 3), &pair(30, 4)].concat();
    let (found, told) = alone(&parts);
    assert_eq!(found[2..], [(2, 28, 20), (3, 36, 20), (4, 36, 30)]);
    assert_eq!(told, 4);
}

#[test]
fn a_fragment_that_comes_a_little_late_still_makes_its_segment_whole() {
    let [first, second] = pair(10, 2);
    let parts = [&pair(0, 1)[..], &[first], &pair(12, 3), &[Part(13, second.1, second.2, second.3, second.4)]].concat();
    let (found, told) = alone(&parts);
    assert_eq!(found[2..], [(3, 36, 12), (2, 36, 13)]);
    assert_eq!(told, 3);
}

#[test]
fn what_is_held_at_the_end_of_the_last_capture_comes_there() {
    let held = [&pair(0, 1)[..], &pair(10, 2)[..1]].concat();
    let (found, told) = alone(&held);
    assert_eq!((&found[2..], told), (&[(2, 28, 10)][..], 2));
    let (found, told) = read(&[pcap(&held), pcap(&pair(10, 2)[1..])]);
    assert_eq!((&found[2..], told), (&[(2, 36, 10)][..], 2), "the next one has the rest");
    let (found, told) = read(&[pcap(&held), pcap(&pair(12, 3))]);
    assert_eq!((&found[2..], told), (&[(3, 36, 12), (2, 28, 12)][..], 3), "the next one lacks it too");
}

#[test]
fn more_segments_without_their_rest_than_are_followed_each_come_once() {
    let lost = |number: u16| pair(u32::from(number), number)[0];
    let parts = [&pair(0, 1)[..], &(2..302).map(lost).collect::<Vec<_>>()].concat();
    let (found, told) = alone(&parts);
    assert_eq!((found.len(), told), (302, 301));
    let mut begun: Vec<u32> = found[2..].iter().filter(|segment| segment.1 == 28).map(|segment| segment.0).collect();
    begun.sort_unstable();
    assert!(begun.into_iter().eq(2..302));
}

#[test]
fn a_time_that_no_capture_can_have_stands_at_the_nearest_and_is_counted() {
    // A pcapng interface whose offset is 300 years, and one of -300 years.
    for (offset, stands) in [(9_467_280_000_i64, Nanos::LATEST), (-9_467_280_000, Nanos::ZERO)] {
        let mut file: Vec<u8> = [0x0a0d_0d0a_u32, 28, 0x1a2b_3c4d, 1, u32::MAX, u32::MAX, 28]
            .into_iter()
            .flat_map(u32::to_le_bytes)
            .collect();
        file.extend([1_u32, 36, 101, 0].into_iter().flat_map(u32::to_le_bytes));
        file.extend([14, 0, 8, 0]);
        file.extend(offset.to_le_bytes());
        file.extend([0_u32, 36].into_iter().flat_map(u32::to_le_bytes));
        let packet = &pcap(&pair(0, 1)[..1])[40..];
        for ticks in [0_u32, 7] {
            let length = packet.len() as u32;
            file.extend([6, 32 + length, 0, 0, ticks, length, length].into_iter().flat_map(u32::to_le_bytes));
            file.extend(packet);
            file.extend((32 + length).to_le_bytes());
        }
        let mut capture = Capture::from_reader(Box::new(Cursor::new(file)));
        let (mut source, mut status, mut place) = (Source::default(), CaptureStatus::new("-"), Segment::default());
        while let Ok(Some(_)) = source.next(&mut capture, &mut status, &mut place) {
            assert_eq!(place.time, stands);
        }
        status.describe(&capture);
        assert_eq!((status.packets, status.first_ns, status.last_ns), (2, Some(stands), Some(stands)));
        assert_eq!(
            status.warnings.iter().map(|warning| (warning.code, warning.count)).collect::<Vec<_>>(),
            [("impossible-times", 2)]
        );
    }
}

#[test]
fn counts_of_drops_that_run_over_stay_at_their_end() {
    let mut file: Vec<u8> = Vec::new();
    for _ in 0..2 {
        file.extend(
            [0x0a0d_0d0a_u32, 28, 0x1a2b_3c4d, 1, u32::MAX, u32::MAX, 28].into_iter().flat_map(u32::to_le_bytes),
        );
        file.extend([1_u32, 20, 101, 0, 20].into_iter().flat_map(u32::to_le_bytes));
        file.extend([5_u32, 36, 0, 0, 0, 5 | 8 << 16, u32::MAX, u32::MAX, 36].into_iter().flat_map(u32::to_le_bytes));
    }
    let mut capture = Capture::from_reader(Box::new(Cursor::new(file)));
    let (mut source, mut status, mut place) = (Source::default(), CaptureStatus::new("-"), Segment::default());
    while let Ok(Some(_)) = source.next(&mut capture, &mut status, &mut place) {}
    source.close(&mut status);
    assert_eq!(status.trust.dropped_packets, Some(u64::MAX));
}
