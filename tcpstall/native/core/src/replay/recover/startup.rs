//! Detects a sender that paces by the rate that it measures, as BBR does from its start.
//!
//! Such a sender sends its first flight at once. It spaces the next round trip's data evenly, at 2.77 to 2.89 times the
//! rate of the first flight: draft-ietf-ccwg-bbr §5.1.4 (BBR.StartupPacingGain), Linux tcp_bbr.c (bbr_high_gain). A
//! window that doubles and is paced besides sends at four times that rate (Linux sk_pacing_rate: twice the window).

use crate::replay::record::{Kind, Passing, Record};
use crate::time::Nanos;

/// Longest time between an event and a frame that follows it at once.
const AT_ONCE: Nanos = Nanos::from_micros(150);
/// Pacing rate of startup, in multiples of the first flight's rate.
const STARTUP_GAIN: std::ops::RangeInclusive<f64> = 2.5..=3.15;
/// Smallest first flight whose rate is known well enough, segments.
const LEAST_FLIGHT: i64 = 4;
/// Longest first flight without pacing, as a share of the round trip: half of the time that startup's pace takes.
const BURST: f64 = 1.0 / 6.0;
/// Part of a round trip whose frames are one round's.
const ROUND: f64 = 0.95;
/// Spaced frames that prove a pace.
const ENOUGH: usize = 3;
/// Share of the frames that follow no acknowledgement and must be spaced by startup's pace.
const MOST: f64 = 0.8;

/// True if one end, at a round trip of `distance` from the tap, paces by the rate that it measures.
pub(super) fn paces_by_rate(record: &Record, end: usize, distance: Nanos, rtt: Nanos) -> bool {
    let Some(flight) = record.first_flight[end].filter(|flight| *flight >= LEAST_FLIGHT * record.mss[end]) else {
        return false;
    };
    let own = || record.passings.iter().filter(|own| own.sender as usize == end && own.kind == Kind::New);
    let first = || own().take_while(|own| own.start <= flight).map(|own| own.time);
    let span = first().last().zip(first().next()).map_or(rtt, |(last, first)| last - first);
    let round = round(record, end, flight, rtt);
    let acks = record.passings.iter().filter(|peer| peer.sender as usize != end).map(|peer| peer.time + distance);
    let gains: Vec<f64> = spaced(&round, acks).into_iter().map(|rate| rate * rtt.0 as f64 / flight as f64).collect();
    let paced = gains.iter().filter(|gain| STARTUP_GAIN.contains(gain)).count();
    span < rtt.scaled(BURST) && paced >= ENOUGH && paced as f64 >= MOST * gains.len() as f64
}

/// Frames of the round trip after the first flight.
fn round(record: &Record, end: usize, flight: i64, rtt: Nanos) -> Vec<Passing> {
    let own = record.passings.iter().filter(|own| own.sender as usize == end && own.kind == Kind::New);
    let mut later = own.filter(|own| own.start > flight).copied().peekable();
    let until = later.peek().map_or(Nanos::ZERO, |first| first.time + rtt.scaled(ROUND));
    later.take_while(|own| own.time < until).collect()
}

/// Rates, bytes per nanosecond, of frames that no acknowledgement released: `acks` are the times when these reached the
/// sender.
fn spaced(frames: &[Passing], acks: impl Iterator<Item = Nanos>) -> Vec<f64> {
    let mut acks = acks.peekable();
    let (mut heard, mut clump, mut rates) = (None, 0, Vec::new());
    for pair in frames.windows(2) {
        let pause = pair[1].time - pair[0].time;
        clump += pair[0].bytes;
        while let Some(ack) = acks.next_if(|ack| *ack <= pair[1].time) {
            heard = Some(ack);
        }
        if pause > AT_ONCE {
            if heard.is_none_or(|heard| pair[1].time - heard > AT_ONCE) {
                rates.push(clump as f64 / pause.0 as f64);
            }
            clump = 0;
        }
    }
    rates
}
