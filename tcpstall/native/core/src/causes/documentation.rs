//! Compares every number in the causes' documentation with the constant that the rule uses.

use super::cause::Cause;
use super::limits::Limits;
use super::{
    bandwidth_limited, cwnd_growth, cwnd_limited, delayed_ack, nagle, pacing, retransmission, sndbuf_limited,
    zero_window,
};
use crate::pause::bottleneck::{QUEUE_PART, QUEUE_SURE, QUEUED_SPACINGS};
use crate::pause::context::{beat::PACE_SHARE, pace::HURRIED};
use crate::pause::reading::LAG_SHARE;
use crate::sender::MOST_PER_ACK;
use crate::sender::cwnd::INITIAL_WINDOW;
use crate::sender::timers;

const WORDS: [(u32, &str); 5] = [(2, "two"), (3, "three"), (4, "four"), (8, "eight"), (10, "ten")];
const PARTS: [(f64, &str); 4] = [(0.5, "half"), (1.0 / 3.0, "a third"), (0.25, "a quarter"), (0.125, "an eighth")];

fn word(number: u32) -> &'static str {
    WORDS.iter().find(|(known, _)| *known == number).map_or("a number without a word", |(_, word)| word)
}

fn part(share: f64) -> &'static str {
    PARTS.iter().find(|(known, _)| (known - share).abs() < 1e-9).map_or("a share without a word", |(_, word)| word)
}

fn percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

/// Phrases that the documentation of a cause must contain, with the values of the constants.
fn told(cause: Cause) -> Vec<String> {
    let limits = Limits::default();
    match cause {
        Cause::CwndLimited => vec![
            format!("reach {:.0} % of the modelled", limits.cwnd_share * 100.0),
            format!("({:.0} % also once losses", limits.cwnd_share_after_loss * 100.0),
            format!("initial window of {} segments", word(INITIAL_WINDOW)),
            format!("less than {} released", part(1.0 / 3.0)),
            format!("larger by more than {}", part(1.0 / f64::from(cwnd_growth::LARGER))),
            format!("ACKs of {} of the", part(1.0 / cwnd_limited::LET_PASS as f64)),
            format!("stand over {} rounds", limits.plateau_rounds),
            format!("less than {} of a round trip", part(cwnd_growth::CLUMPS)),
            format!("for {} segments at most", word(MOST_PER_ACK)),
            format!("had {} segments at most", word(cwnd_limited::RFC_5681)),
        ],
        Cause::RwndLimited => vec![
            // RFC 9293 §3.8.6.2.1.
            "at most half of the largest window".to_owned(),
            format!("below {} of a window", part(1.0 / 3.0)),
            format!("over {} of a round trip", part(LAG_SHARE)),
            // Tests of the ledger and of the sizes check these numbers.
            "for eight round trips".to_owned(),
            "1/2 to 3/4 of twice that".to_owned(),
        ],
        Cause::ZeroWindow => vec!["is 0, or".to_owned(), "(0 or 1)".to_owned(), "field is 0".to_owned()],
        Cause::SndbufLimited => vec![
            format!("plateau over {} rounds", limits.plateau_rounds),
            format!("{} segments at least", word(INITIAL_WINDOW)),
            format!("from {} segments on", word(sndbuf_limited::SMALLEST)),
            format!("at a time over {} rounds", word(sndbuf_limited::ONE_BY_ONE)),
        ],
        Cause::Retransmission => {
            vec!["three duplicate ACKs".to_owned(), format!("{} timeouts", word(retransmission::EXPIRED as u32))]
        }
        Cause::DelayedAck => vec![
            "one or two segments".to_owned(),
            format!("{} ms and", delayed_ack::SHORTEST.0 / 1_000_000),
            format!("{} of the round trip", part(delayed_ack::JITTER)),
            format!("at most {} ms", timers::LONGEST_DELAYED_ACK.0 / 1_000_000),
        ],
        Cause::Nagle => vec![format!("more than {} of the wait", part(1.0 / nagle::QUARTER as f64))],
        Cause::Pacing => vec![
            format!("± {}", percent(PACE_SHARE)),
            format!("over at least {} of the sender's pauses", limits.pace_agreement),
            format!("and {:.0} % of them", limits.pace_share * 100.0),
            format!("{} times as fast", word(HURRIED as u32)),
            format!(
                "more than {} segments, {} ms and more apart",
                word(pacing::MOST as u32),
                pacing::A_BURST.0 / 1_000_000
            ),
        ],
        Cause::BurstLimited => vec![format!("in {} exchanges in a row", limits.cut_turns)],
        Cause::IdleRestart => vec![
            format!("in {} exchanges in a row", limits.cut_turns),
            format!("level over {} rounds", limits.plateau_rounds),
        ],
        Cause::BandwidthLimited => vec![
            format!("{} of it", part(1.0 / QUEUE_PART as f64)),
            format!("(or {} ms)", QUEUE_SURE.0 / 1_000_000),
            format!("{} times the distance", word(QUEUED_SPACINGS as u32)),
            format!("one or {} ACKs", word(bandwidth_limited::MOST_ACKS)),
        ],
        _ => Vec::new(),
    }
}

/// Paragraphs that define the rule, joined into one line. Sources, which quote other people's numbers, and look-alikes
/// are left out.
fn rule_of(cause: Cause) -> String {
    let documentation = cause.info().documentation(&Limits::default());
    let mut kept = String::new();
    let mut wanted = false;
    for line in documentation.lines() {
        if !line.starts_with(' ') {
            wanted = ["Rule", "Evidence", "Abstains"].iter().any(|heading| line.starts_with(heading));
        }
        if wanted {
            kept.push_str(line);
            kept.push(' ');
        }
    }
    kept.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn every_number_in_a_cause_s_documentation_is_the_one_that_holds() {
    for cause in Cause::ALL {
        let mut text = rule_of(cause);
        for told in told(cause) {
            assert!(text.contains(&told), "{}: {told:?} is not in: {text}", cause.name());
            text = text.replacen(&told, "…", 1);
        }
        let words = WORDS.map(|(_, word)| word).into_iter().chain(PARTS.map(|(_, word)| word));
        let unchecked = |word: &str| format!(" {text} ").contains(&format!(" {word} "));
        let found: Vec<&str> = words.filter(|word| unchecked(word)).collect();
        // Names such as tcp_retries2 and units of the protocol are not thresholds.
        let names = |token: &&str| token.starts_with(|char: char| char.is_ascii_digit());
        let digits: Vec<&str> = text.split([' ', '(', ')', ',']).filter(names).collect();
        assert!(found.is_empty() && digits.is_empty(), "{}: nobody checks {found:?} {digits:?}", cause.name());
    }
}

#[test]
fn other_thresholds_are_other_words() {
    let other = Limits {
        cwnd_share: 0.9,
        cwnd_share_after_loss: 0.7,
        plateau_rounds: 6,
        pace_agreement: 9,
        pace_share: 0.25,
        link_bytes_per_s: None,
        cut_turns: 8,
    };
    let told = |cause: Cause| cause.info().documentation(&other).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told(Cause::CwndLimited).contains("reach 90 % of the modelled congestion window (70 % also once"));
    assert!(told(Cause::SndbufLimited).contains("a plateau over 6 rounds"));
    assert!(told(Cause::Pacing).contains("over at least 9 of the sender's pauses and 25 % of them"));
    assert!(told(Cause::BurstLimited).contains("in 8 exchanges"));
    assert!(Cause::ALL.into_iter().all(|cause| !told(cause).contains(['{', '}'])));
}

#[test]
fn a_window_counts_as_shut_for_nearly_all_of_a_wait_from_nine_tenths_on() {
    assert!(zero_window::NEARLY_ALL >= 0.9 && rule_of(Cause::ZeroWindow).contains("nearly all of the pause"));
}
