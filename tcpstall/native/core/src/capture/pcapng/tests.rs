//! Tests of pcapng files, built block by block, each in both byte orders.

use std::io::Cursor;

use crate::capture::tests::items;
use crate::capture::{Capture, CaptureError, Frame, Item, Takes};
use crate::time::Nanos;

/// Writes blocks in one byte order.
#[derive(Clone)]
struct Writer {
    big: bool,
    bytes: Vec<u8>,
}

impl Writer {
    fn u16(&self, value: u16) -> [u8; 2] {
        if self.big { value.to_be_bytes() } else { value.to_le_bytes() }
    }

    fn u32(&self, value: u32) -> [u8; 4] {
        if self.big { value.to_be_bytes() } else { value.to_le_bytes() }
    }

    fn u64(&self, value: u64) -> [u8; 8] {
        if self.big { value.to_be_bytes() } else { value.to_le_bytes() }
    }

    fn option(&self, code: u16, value: &[u8]) -> Vec<u8> {
        let mut option = [self.u16(code), self.u16(value.len() as u16)].concat();
        option.extend_from_slice(value);
        option.resize(option.len().next_multiple_of(4), 0);
        option
    }

    fn block(mut self, kind: u32, words: &[u32], rest: &[u8]) -> Writer {
        let length = (12 + 4 * words.len() + rest.len().next_multiple_of(4)) as u32;
        let head: Vec<u8> = [kind, length].iter().chain(words).flat_map(|word| self.u32(*word)).collect();
        self.bytes.extend(head);
        self.bytes.extend_from_slice(rest);
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
        self.bytes.extend(self.u32(length));
        self
    }

    fn section(self) -> Writer {
        let fields = [self.u16(1), self.u16(0)].concat();
        let mut body = self.u32(0x1a2b_3c4d).to_vec();
        body.extend(fields);
        body.extend([0xff; 8]);
        self.block(0x0a0d_0d0a, &[], &body)
    }

    fn interface(self, link: u16, snap_length: u32, options: &[u8]) -> Writer {
        let mut body = [self.u16(link), self.u16(0)].concat();
        body.extend(self.u32(snap_length));
        body.extend_from_slice(options);
        self.block(1, &[], &body)
    }

    fn packet(self, interface: u32, ticks: u64, data: &[u8]) -> Writer {
        let words = [interface, (ticks >> 32) as u32, ticks as u32, data.len() as u32, 99];
        self.block(6, &words, data)
    }
}

fn both(build: impl Fn(Writer) -> Writer, check: impl Fn(Vec<u8>)) {
    for big in [false, true] {
        check(build(Writer { big, bytes: Vec::new() }).bytes);
    }
}

fn read(bytes: &[u8]) -> Vec<String> {
    items(bytes, |error| match error {
        CaptureError::Damaged { offset, packet, truncated, .. } => {
            format!("damaged at {offset}, #{}, truncated: {truncated}", packet.0)
        }
        other => other.to_string(),
    })
}

#[test]
fn each_interface_has_its_own_clock() {
    let build = |w: Writer| {
        let (nanos, binary) = (w.option(9, &[9]), w.option(9, &[0x80 | 10]));
        let shifted = [w.option(14, &w.u64(-2i64 as u64)), w.option(0, &[])].concat();
        w.section()
            .interface(1, 0, &[])
            .interface(113, 0, &nanos)
            .interface(276, 0, &binary)
            .interface(1, 0, &shifted)
            .packet(0, 5_000_000_001, &[1])
            .packet(1, 5_000_000_001, &[2, 3])
            .packet(2, 1536, &[])
            .packet(3, 3_000_000, &[4, 5, 6, 7])
    };
    both(build, |bytes| {
        let expected = [
            "#1 5000000001000 EN10MB [1]/99",
            "#2 5000000001 LINUX_SLL [2, 3]/99",
            "#3 1500000000 LINUX_SLL2 []/99",
            "#4 1000000000 EN10MB [4, 5, 6, 7]/99",
        ];
        assert_eq!(read(&bytes), expected);
    });
}

#[test]
fn a_section_brings_its_byte_order_and_its_interfaces() {
    let build = |w: Writer| {
        let first = w.section().interface(1, 0, &[]).packet(0, 1, &[1]);
        let second = Writer { big: !first.big, ..first }.section().interface(101, 0, &[]).packet(0, 2, &[2]);
        second.section().packet(0, 3, &[3])
    };
    both(build, |bytes| {
        let last = bytes.len() - 36;
        let expected = [
            "#1 1000 EN10MB [1]/99".into(),
            "#2 2000 RAW [2]/99".into(),
            "left out".into(),
            format!("damaged at {last}, #3, truncated: false"),
        ];
        assert_eq!(read(&bytes), expected, "the third section describes no interface");
    });
}

#[test]
fn old_and_simple_packet_blocks_are_packets_too() {
    let build = |w: Writer| {
        let one_and_seven = if w.big { 0x0001_0007 } else { 0x0007_0001 };
        w.section()
            .interface(1, 2, &[])
            .interface(12, 0, &[])
            .block(2, &[one_and_seven, 0, 8, 3, 60], &[1, 2, 3])
            .block(3, &[77], &[4, 5])
            .block(3, &[1], &[6])
    };
    both(build, |bytes| {
        let expected = ["#1 8000 RAW [1, 2, 3]/60", "#2 8000 EN10MB [4, 5]/77", "#3 8000 EN10MB [6]/1"];
        assert_eq!(read(&bytes), expected);
        let mut capture = Capture::from_reader(Box::new(std::io::Cursor::new(bytes)));
        while matches!(capture.next(), Ok(Some(_))) {}
        assert_eq!(capture.untimed(), 2);
    });
}

#[test]
fn statistics_count_from_the_start_and_are_handed_out_as_increases() {
    let statistics = |w: Writer, by_interface: u64, by_system: u64| {
        let options = [w.option(5, &w.u64(by_interface)), w.option(7, &w.u64(by_system))].concat();
        w.block(5, &[0, 0, 0], &options)
    };
    let build = |w: Writer| {
        let w = w.section().interface(1, 0, &[]);
        let w = statistics(statistics(statistics(w, 0, 0), 3, 4), 3, 4);
        statistics(w, 10, 4).packet(0, 1, &[1])
    };
    both(build, |bytes| {
        assert_eq!(read(&bytes), ["dropped 0", "dropped 7", "dropped 0", "dropped 7", "#1 1000 EN10MB [1]/99"]);
    });
}

#[test]
fn other_blocks_are_skipped_however_long() {
    let build = |w: Writer| w.section().interface(1, 0, &[]).block(0xbad, &[], &vec![0; 20 << 20]).packet(0, 1, &[1]);
    both(build, |bytes| {
        assert_eq!(read(&bytes), ["#1 1000 EN10MB [1]/99"]);
        let expected = "damaged at 48, #1, truncated: true";
        assert_eq!(read(&bytes[..bytes.len() / 2]), [expected]);
    });
}

#[test]
fn a_file_cut_anywhere_gives_its_whole_packets() {
    let build = |w: Writer| w.section().interface(1, 0, &[]).packet(0, 1, &[1]).packet(0, 2, &[2]);
    both(build, |bytes| {
        let boundaries = [28, 48, 84, 120];
        for length in 4..=bytes.len() {
            let lines = read(&bytes[..length]);
            let complete = boundaries.iter().filter(|end| **end <= length).count().saturating_sub(2);
            let start = boundaries.iter().rev().find(|start| **start <= length).unwrap_or(&0);
            if boundaries.contains(&length) {
                assert_eq!(lines.len(), complete);
            } else {
                let end = format!("damaged at {start}, #{}, truncated: true", complete + 1);
                assert_eq!((lines.len(), lines.last()), (complete + 1, Some(&end)));
            }
        }
    });
}

#[test]
fn lengths_that_contradict_each_other_are_damage() {
    let build = |w: Writer| w.section().interface(1, 0, &[]).packet(0, 1, &[1, 2, 3, 4]);
    let damage = "damaged at 48, #1, truncated: false";
    both(build, |whole| {
        let big = whole[31] == 1;
        for (at, value) in [(52, 8u32), (52, 38), (52, u32::MAX - 3), (52, 20 << 20), (80, 40), (68, 5), (68, u32::MAX)]
        {
            let mut bytes = whole.clone();
            bytes[at..at + 4].copy_from_slice(&if big { value.to_be_bytes() } else { value.to_le_bytes() });
            assert_eq!(read(&bytes).last().map(String::as_str), Some(damage), "{value} at byte {at}");
        }
        let mut bytes = whole;
        bytes[8] = 0;
        assert_eq!(read(&bytes), ["damaged at 0, #1, truncated: false"]);
    });
}

#[test]
fn an_option_that_runs_out_of_its_block_is_ignored() {
    let build = |w: Writer| {
        let mut options = w.option(9, &[9]);
        options.extend([w.u16(14), w.u16(500)].concat());
        w.section().interface(1, 0, &options).packet(0, 7, &[1])
    };
    both(build, |bytes| assert_eq!(read(&bytes), ["#1 7 EN10MB [1]/99"]));
}

#[test]
fn reading_goes_on_behind_a_damaged_block_and_the_end_says_what_was_lost() {
    let build = |w: Writer| {
        let w = w.section().interface(1, 0, &[]);
        (1..=6).fold(w, |w, at| w.packet(0, at, &[at as u8; 40]))
    };
    both(build, |whole| {
        let all = read(&whole);
        assert_eq!(all.len(), 6);
        // In the second packet's block: the length before its body, the length after it, the captured length.
        for at in [48 + 72 + 4, 48 + 72 + 68, 48 + 72 + 20] {
            let mut bytes = whole.clone();
            bytes[at..at + 4].fill(0x7f);
            let got = read(&bytes);
            let times: Vec<&str> = got.iter().filter_map(|line| line.split(' ').nth(1)).collect();
            assert_eq!(got.len(), 7, "{got:?}");
            assert_eq!((&got[0], got[1].as_str()), (&all[0], "left out"));
            assert_eq!(times[..6], ["1000", "out", "3000", "4000", "5000", "6000"]);
            assert_eq!(got[6], "damaged at 120, #2, truncated: false");
        }
        // Bytes outside any block, of a length that moves every later block.
        let mut bytes = whole.clone();
        bytes.splice(48..48, [0x55; 1_001]);
        let got = read(&bytes);
        assert_eq!((got[0].as_str(), &got[1..7], got.len()), ("left out", &all[..], 8));
    });
}

#[test]
fn without_two_blocks_in_a_row_nothing_is_believed() {
    let build = |w: Writer| w.section().interface(1, 0, &[]).packet(0, 1, &[1; 40]).packet(0, 2, &[2; 40]);
    both(build, |mut bytes| {
        bytes[52..56].fill(0x7f);
        bytes.extend([0xee; 100]);
        assert_eq!(read(&bytes), ["damaged at 48, #1, truncated: false"]);
    });
}

#[test]
fn interfaces_without_end_are_damage() {
    let described = |count: u32| {
        let start = Writer { big: false, bytes: Vec::new() }.section();
        let writer = (0..count).fold(start, |writer, number| writer.interface(number as u16, 0, &[]));
        writer.packet(count - 1, 1, &[1]).bytes
    };
    const MOST: u32 = 1 << 16;
    assert_eq!(read(&described(MOST)), ["#1 1000 LINKTYPE_65535 [1]/99"]);
    assert_eq!(read(&described(MOST + 1)), [format!("damaged at {}, #1, truncated: false", 28 + 20 * MOST)]);
}

#[test]
fn after_an_error_there_is_nothing_more_even_where_two_things_are_wrong() {
    let build = |w: Writer| {
        let w = w.section().interface(1, 0, &[]).packet(7, 1, &[1; 40]).packet(0, 2, &[2; 40]);
        // A section without a byte order.
        w.block(0x0a0d_0d0a, &[0, 0, 0, 0], &[])
    };
    both(build, |bytes| {
        for length in 48..=bytes.len() {
            let mut capture = Capture::from_reader(Box::new(std::io::Cursor::new(bytes[..length].to_vec())));
            while matches!(capture.next(), Ok(Some(_))) {}
            assert!(matches!(capture.next(), Ok(None)), "cut to {length}");
        }
        let got = read(&bytes);
        assert_eq!(got.last().map(String::as_str), Some("damaged at 48, #1, truncated: false"), "{got:?}");
    });
}

/// Frames but for those of one zero byte, as text, with their times.
struct AsText;

impl Takes for AsText {
    type Place = (String, Nanos);

    fn takes(f: &Frame<'_>, place: &mut (String, Nanos)) -> bool {
        let text = format!("#{} {} {} {:?}/{}", f.packet.0, f.time.0, f.link.name(), f.bytes, f.wire_length);
        *place = (text, f.time);
        f.bytes != [0]
    }
}

/// The frames of the capture, as many as possible taken by the short way, and the number of those.
fn in_rows(bytes: &[u8]) -> (Vec<String>, usize) {
    let mut capture = Capture::from_reader(Box::new(Cursor::new(bytes.to_vec())));
    let (mut lines, mut taken, mut last) = (Vec::new(), 0, Nanos::ZERO);
    loop {
        let mut room = <[(String, Nanos); 3]>::default();
        let count = capture.buffered::<AsText>(&mut room, last);
        taken += count;
        for (line, time) in room.into_iter().take(count) {
            last = time;
            lines.push(line);
        }
        match capture.next() {
            Ok(Some(Item::Frame(frame))) => {
                let mut place = Default::default();
                AsText::takes(&frame, &mut place);
                last = last.max(place.1);
                lines.push(place.0);
            }
            Ok(Some(_)) => lines.push("other".into()),
            Ok(None) => return (lines, taken),
            Err(_) => lines.push("error".into()),
        }
    }
}

#[test]
fn packets_in_a_row_are_what_they_are_one_by_one() {
    let build = |writer: Writer| {
        let with = |mut writer: Writer, ticks: std::ops::Range<u64>| {
            for tick in ticks {
                writer = writer.packet(0, tick, &[7; 5]);
            }
            writer
        };
        let name = writer.option(2, b"eth0");
        let nanos = writer.option(9, &[9]);
        let writer = with(writer.section().interface(1, 0, &name).interface(113, 0, &nanos), 1..9);
        let writer = writer.packet(1, 9_500, &[1]).packet(1, 9_600, &[2]).packet(0, 10, &[0]).packet(0, 11, &[]);
        let writer = with(writer.packet(0, 5, &[3]), 12..15);
        let writer = with(writer.block(6, &[0, 0, 20, 50, 50], &[9; 8]), 20..25).packet(7, 26, &[1]);
        with(with(writer.section().interface(113, 0, &[]), 30..36), 36..40).packet(0, u64::MAX, &[4])
    };
    both(build, |bytes| {
        for cut in [bytes.len(), bytes.len() - 1, bytes.len() - 30] {
            let (lines, taken) = in_rows(&bytes[..cut]);
            let frames =
                |lines: &[String]| lines.iter().filter(|line| line.starts_with('#')).cloned().collect::<Vec<_>>();
            assert_eq!(frames(&lines), frames(&read(&bytes[..cut])), "{cut} bytes");
            assert!(taken > 15, "{taken} of {}", lines.len());
        }
    });
}
