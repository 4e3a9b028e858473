//! Tests of copied blocks and records.

use std::io::Cursor;
use std::ops::ControlFlow;

use super::{Choice, Copied, Failure, Form, Remarks, Wish, copy};
use crate::anonymise::Pseudonyms;
use crate::capture::{Capture, Item};

/// A block in little-endian order.
fn block(kind: u32, body: &[u8]) -> Vec<u8> {
    let mut body = body.to_vec();
    body.resize(body.len().next_multiple_of(4), 0);
    let length = (12 + body.len() as u32).to_le_bytes();
    [&kind.to_le_bytes(), &length, body.as_slice(), &length].concat()
}

fn section() -> Vec<u8> {
    block(0x0a0d_0d0a, &[&0x1a2b_3c4d_u32.to_le_bytes()[..], &[1, 0, 0, 0], &[0xff; 8]].concat())
}

fn interface(link: u8) -> Vec<u8> {
    block(1, &[link, 0, 0, 0, 0, 0, 0, 0])
}

/// An enhanced packet with these bytes and options.
fn packet(bytes: &[u8], options: &[u8]) -> Vec<u8> {
    let mut body = vec![0; 12];
    (0..2).for_each(|_| body.extend_from_slice(&(bytes.len() as u32).to_le_bytes()));
    body.extend_from_slice(bytes);
    body.resize(body.len().next_multiple_of(4), 0);
    body.extend_from_slice(options);
    block(6, &body)
}

fn copied(
    bytes: &[u8],
    form: Form,
    said: &[(u64, &str)],
    names: Option<Pseudonyms>,
) -> Result<(Vec<u8>, Copied), Failure> {
    let mut remarks = Remarks::default();
    said.iter().for_each(|(at, text)| remarks.at(*at, (*text).to_owned()));
    let wish = Wish { form, choice: Choice::Everything, remarks, about: String::new(), payload: true, names };
    let mut out = Vec::new();
    let capture = Capture::from_reader(Box::new(Cursor::new(bytes.to_vec())));
    let copied = copy(capture, wish, &mut out, &mut |_, _| ControlFlow::Continue(()))?;
    Ok((out, copied))
}

/// Number of packets that another reading finds.
fn packets(bytes: &[u8]) -> usize {
    let mut capture = Capture::from_reader(Box::new(Cursor::new(bytes.to_vec())));
    let mut packets = 0;
    while let Some(item) = capture.next().expect("what was written is whole") {
        packets += usize::from(matches!(item, Item::Frame(_)));
    }
    packets
}

#[test]
fn a_remark_stands_behind_the_options_that_were_there() {
    let before = [1, 0, 3, 0, b'o', b'l', b'd', 0, 0, 0, 0, 0];
    let source = [section(), interface(101), packet(&[0x45; 5], &before)].concat();
    let (out, copied) = copied(&source, Form::Pcapng, &[(1, "new")], None).unwrap();
    let after = [&before[..8], &[1, 0, 3, 0, b'n', b'e', b'w', 0, 0, 0, 0, 0]].concat();
    let expected = [section(), interface(101), packet(&[0x45; 5], &after)].concat();
    assert_eq!(out, expected);
    assert_eq!((copied.written, copied.remarks), (1, 1));
}

#[test]
fn options_that_do_not_fit_their_block_go_when_a_remark_comes() {
    let source = [section(), interface(101), packet(&[0x45; 4], &[1, 0, 200, 0, 1, 2, 3, 4])].concat();
    let (out, _) = copied(&source, Form::Pcapng, &[(1, "n")], None).unwrap();
    assert_eq!(out, [section(), interface(101), packet(&[0x45; 4], &[1, 0, 1, 0, b'n', 0, 0, 0, 0, 0, 0, 0])].concat());
}

#[test]
fn a_remark_that_is_too_long_ends_with_a_whole_character() {
    let long = format!("{}é", "x".repeat(65_534));
    let source = [section(), interface(101), packet(&[0x45; 4], &[])].concat();
    let (out, _) = copied(&source, Form::Pcapng, &[(1, &long)], None).unwrap();
    assert_eq!(packets(&out), 1);
    assert!(!out.contains(&0xc3));
}

#[test]
fn unknown_blocks_of_any_content_are_passed_on_and_not_shared() {
    let unknown = block(0x8000_0001, b"who?");
    let source = [section(), unknown.clone(), interface(101), packet(&[0x45; 4], &[]), unknown].concat();
    let (out, whole) = copied(&source, Form::Pcapng, &[], None).unwrap();
    assert_eq!((out, whole.left_out), (source.clone(), 0));
    let (out, shared) = copied(&source, Form::Pcapng, &[], Some(Pseudonyms::new(&[7; 32]))).unwrap();
    assert_eq!((packets(&out), shared.left_out), (1, 2));
    assert!(!out.windows(4).any(|four| four == b"who?"));
}

#[test]
fn a_block_whose_lengths_differ_is_left_out_where_it_means_nothing() {
    let mut broken = block(0x8000_0001, b"who?");
    *broken.last_mut().unwrap() = 1;
    let source = [section(), broken, interface(101), packet(&[0x45; 4], &[])].concat();
    let (out, copied) = copied(&source, Form::Pcapng, &[], None).unwrap();
    assert_eq!(out, [section(), interface(101), packet(&[0x45; 4], &[])].concat());
    assert_eq!(copied.error, None);
}

#[test]
fn a_capture_without_packets_is_a_file_without_packets() {
    let header = [0xa1b2_c3d4_u32, 0x0004_0002, 0, 0, 96, 1].map(u32::to_le_bytes).concat();
    for form in [Form::Pcap, Form::Pcapng] {
        let (out, copied) = copied(&header, form, &[], None).unwrap();
        assert_eq!((packets(&out), copied.written), (0, 0));
    }
}

#[test]
fn text_is_refused() {
    let text = b"10:45:49.051409 IP 192.0.2.1.1 > 192.0.2.2.2: Flags [S], seq 1, win 1, length 0\n";
    assert!(matches!(copied(text, Form::Pcapng, &[], None), Err(Failure::Form(what)) if what.contains("convert")));
}

#[test]
fn what_is_read_before_damage_is_written() {
    let whole = [section(), interface(101), packet(&[0x45; 40], &[]), packet(&[0x45; 40], &[])].concat();
    let (out, copied) = copied(&whole[..whole.len() - 3], Form::Pcapng, &[], None).unwrap();
    assert_eq!((packets(&out), copied.error.is_some()), (1, true));
}

#[test]
fn a_section_whose_header_is_damaged_gets_a_whole_one() {
    let mut broken = section();
    *broken.last_mut().unwrap() = 1;
    let rest = [interface(101), packet(&[0x45; 40], &[]), packet(&[0x45; 40], &[]), packet(&[0x45; 40], &[])].concat();
    let first = [section(), interface(1), packet(&[0x45; 40], &[])].concat();
    for source in [[broken.clone(), rest.clone()].concat(), [first, broken, rest].concat()] {
        let (out, copied) = copied(&source, Form::Pcapng, &[], None).unwrap();
        assert!(copied.error.is_some());
        assert_eq!(packets(&out) as u64, copied.packets);
        assert!(copied.packets >= 3);
    }
}

#[test]
fn a_block_of_the_reserved_type_is_left_out() {
    let source = [section(), block(0, b"nobody"), interface(101), packet(&[0x45; 4], &[])].concat();
    let (out, _) = copied(&source, Form::Pcapng, &[], None).unwrap();
    assert_eq!(out, [section(), interface(101), packet(&[0x45; 4], &[])].concat());
}
