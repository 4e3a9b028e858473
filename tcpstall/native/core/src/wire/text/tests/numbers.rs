//! Tests of relative numbers made absolute.

use super::{numbers, segments};
use crate::seq::SeqNo;
use crate::wire::SackBlock;

const SYN: &str =
    "10:00:00.0 IP 10.0.0.1.4000 > 10.0.0.2.80: Flags [S], seq 1000000000, win 9, options [mss 1460], length 0";
const SYN_ACK: &str = "10:00:00.1 IP 10.0.0.2.80 > 10.0.0.1.4000: Flags [S.], seq 4294967290, ack 1000000001, win 9, options [mss 1460], length 0";

fn client(rest: &str) -> String {
    format!("10:00:01.0 IP 10.0.0.1.4000 > 10.0.0.2.80: Flags {rest}, win 9, length 0")
}

fn server(rest: &str) -> String {
    format!("10:00:01.0 IP 10.0.0.2.80 > 10.0.0.1.4000: Flags {rest}, win 9, length 0")
}

fn dialogue(lines: &[String]) -> Vec<(u32, u32)> {
    numbers(&lines.iter().map(String::as_str).collect::<Vec<_>>())
}

#[test]
fn numbers_after_a_handshake_are_relative_to_it_and_wrap() {
    let lines =
        [SYN.into(), SYN_ACK.into(), client("[.], ack 1"), server("[P.], seq 1:101, ack 1"), client("[.], ack 101")];
    let server_start = 4_294_967_291;
    assert_eq!(
        dialogue(&lines)[2..],
        [(1_000_000_001, server_start), (server_start, 1_000_000_001), (1_000_000_001, 95)]
    );
}

#[test]
fn absolute_numbers_stay_as_they_are() {
    let lines = [
        SYN.into(),
        SYN_ACK.into(),
        client("[.], ack 4294967291"),
        server("[P.], seq 4294967291:95, ack 1000000001"),
        client("[F.], seq 1000000001, ack 95"),
    ];
    assert_eq!(
        dialogue(&lines)[2..],
        [(1_000_000_001, 4_294_967_291), (4_294_967_291, 1_000_000_001), (1_000_000_001, 95)]
    );
}

#[test]
fn every_connection_is_decided_for_itself() {
    let lines = [SYN.into(), SYN_ACK.into(), client("[.], ack 1"), server("[P.], seq 900000:900100, ack 1")];
    let other: Vec<String> = [SYN.into(), SYN_ACK.into(), client("[.], ack 4294967291")]
        .iter()
        .map(|line: &String| line.replace(".4000", ".4001"))
        .collect();
    let numbers = dialogue(&[&lines[..], &other[..]].concat());
    assert_eq!(numbers[3], (899_994, 1_000_000_001));
    assert_eq!(numbers[6], (1_000_000_001, 4_294_967_291));
}

#[test]
fn a_capture_begun_in_mid_connection_is_relative_to_its_first_segment() {
    let lines = [
        server("[P.], seq 3880953916:3880955264, ack 1389009151"),
        server("[P.], seq 1348:2696, ack 1"),
        client("[.], ack 2696"),
        client("[P.], seq 1:11, ack 2696"),
    ];
    assert_eq!(
        dialogue(&lines),
        [
            (3_880_953_916, 1_389_009_151),
            (3_880_955_264, 1_389_009_151),
            (1_389_009_151, 3_880_956_612),
            (1_389_009_151, 3_880_956_612),
        ]
    );
}

#[test]
fn a_base_that_was_never_printed_leaves_its_direction_relative() {
    let lines = [
        server("[.], ack 47026586"),
        server("[P.], seq 0:68, ack 1"),
        client("[.], ack 68"),
        server("[R], seq 3000000000"),
    ];
    assert_eq!(dialogue(&lines), [(0, 47_026_586), (0, 47_026_586), (47_026_586, 68), (68, 0)]);
}

#[test]
fn a_paste_without_its_head_stays_relative() {
    let lines = [
        client("[.], ack 14481"),
        server("[.], seq 14481:21721, ack 148"),
        client("[.], ack 21721"),
        client("[P.], seq 148:248, ack 21721"),
    ];
    assert_eq!(dialogue(&lines), [(0, 14_481), (14_481, 148), (148, 21_721), (148, 21_721)]);
}

#[test]
fn left_out_lines_do_not_move_the_bases() {
    let lines = [SYN.into(), SYN_ACK.into(), "......".into(), client("[.], ack 460465")];
    assert_eq!(dialogue(&lines)[2], (1_000_000_001, 460_459));
    let without_syn_ack = [SYN.into(), "......".into(), client("[.], ack 1"), client("[P.], seq 1:148, ack 1")];
    assert_eq!(dialogue(&without_syn_ack)[1..], [(1_000_000_001, 1), (1_000_000_001, 1)]);
}

#[test]
fn a_challenge_ack_speaks_of_the_old_connection() {
    let lines = [
        SYN.into(),
        SYN_ACK.into(),
        client("[.], ack 1"),
        client("[F.], seq 1, ack 1"),
        server("[.], ack 2"),
        client("[S], seq 2581219050"),
        server("[.], ack 2"),
        client("[R], seq 1000000002"),
        client("[S], seq 2581219050"),
        server("[S.], seq 2148244829, ack 2581219051"),
        client("[.], ack 1"),
    ];
    assert_eq!(
        dialogue(&lines)[6..],
        [
            (4_294_967_291, 1_000_000_002),
            (1_000_000_002, 0),
            (2_581_219_050, 0),
            (2_148_244_829, 2_581_219_051),
            (2_581_219_051, 2_148_244_830),
        ]
    );
}

#[test]
fn a_refused_syn_is_read_both_times() {
    let refusal = |ack: u32| server(&format!("[R.], seq 0, ack {ack}"));
    let lines = [SYN.into(), refusal(1_000_000_001), client("[S], seq 1000500000"), refusal(500_001)];
    assert_eq!(dialogue(&lines)[1..], [(0, 1_000_000_001), (1_000_500_000, 0), (0, 1_000_500_001)]);
    let absolute = [SYN.into(), refusal(1_000_000_001), client("[S], seq 1000500000"), refusal(1_000_500_001)];
    assert_eq!(dialogue(&absolute)[3], (0, 1_000_500_001));
}

#[test]
fn sack_blocks_are_relative_to_the_peer_even_on_the_first_line() {
    let sack = |ack: u32, blocks: &str| {
        format!(
            "10:00:00.0 IP 10.0.0.1.4000 > 10.0.0.2.80: Flags [.], ack {ack}, win 9, options [nop,nop,sack 1 {blocks}], length 0"
        )
    };
    let lines = [sack(1_310_973_186, "{5473:10945}"), sack(1, "{5473:12313}")];
    let blocks: Vec<_> = segments(&[&lines[0], &lines[1]]).iter().map(|segment| segment.sack[0]).collect();
    let left = SeqNo(1_310_978_658);
    assert_eq!(
        blocks,
        [SackBlock { left, right: SeqNo(1_310_984_130) }, SackBlock { left, right: SeqNo(1_310_985_498) }]
    );
    let absolute = segments(&[&sack(1_310_973_186, "{1310978658:1310984130}")]);
    assert_eq!(absolute[0].sack[0], SackBlock { left, right: SeqNo(1_310_984_130) });
}
