//! Detects a sender that paces by the rate that it measures, as BBR does from its start.
//!
//! Such a sender sends its first flight at once. It spaces the next round trip's data evenly, at 2.77 to 2.89 times the
//! rate of the first flight: draft-ietf-ccwg-bbr §5.1.4 (BBR.StartupPacingGain), Linux tcp_bbr.c (bbr_high_gain). A
//! window that doubles and is paced besides sends at four times that rate (Linux sk_pacing_rate: twice the window). A
//! fixed pace (SO_MAX_PACING_RATE) stays the same later.

use super::limits::median;
use crate::flow::End;
use crate::replay::record::{Passing, PassingKind, Record};
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
/// Largest change of a fixed pace.
const SAME: f64 = 0.1;
/// Share of the frames that follow no acknowledgement and must be spaced by startup's pace.
const MOST: f64 = 0.8;

/// True if one end, at a round trip of `distance` from the tap, paces by the rate that it measures.
pub(super) fn paces_by_rate(record: &Record, end: End, distance: Nanos, rtt: Nanos) -> bool {
    let Some(flight) = record.first_flight[end].filter(|flight| *flight >= LEAST_FLIGHT * record.mss[end]) else {
        return false;
    };
    let own = record.passings.iter().filter(|own| own.sender == end && own.kind == PassingKind::New && own.bytes > 0);
    let (first, later): (Vec<Passing>, Vec<Passing>) = own.partition(|own| own.start <= flight);
    let ([begin, .., last], [next, ..]) = (&first[..], &later[..]) else { return false };
    let (round, rest) = later.split_at(later.partition_point(|own| own.time < next.time + rtt.scaled(ROUND)));
    let acks: Vec<Nanos> =
        record.passings.iter().filter(|peer| peer.sender != end).map(|peer| peer.time + distance).collect();
    let [rates, others] = [round, rest].map(|frames| spaced(frames, &acks, record.threshold));
    let gain = |rate: &f64| rate * rtt.0 as f64 / flight as f64;
    let paced = rates.iter().filter(|rate| STARTUP_GAIN.contains(&gain(rate))).count();
    let fixed = others.len() >= ENOUGH
        && median(rates.clone()).zip(median(others)).is_some_and(|(rate, other)| (other / rate - 1.0).abs() < SAME);
    last.time - begin.time < rtt.scaled(BURST) && paced >= ENOUGH && paced as f64 >= MOST * rates.len() as f64 && !fixed
}

/// Rates, bytes per nanosecond, of frames that no acknowledgement released, spaced by less than a stall: `acks` are the
/// times when acknowledgements reached the sender.
fn spaced(frames: &[Passing], acks: &[Nanos], stall: Nanos) -> Vec<f64> {
    let (mut clump, mut rates) = (0, Vec::new());
    for pair in frames.windows(2) {
        let pause = pair[1].time - pair[0].time;
        clump += pair[0].bytes;
        if pause > AT_ONCE {
            let heard = acks[..acks.partition_point(|ack| *ack <= pair[1].time)].last();
            if pause < stall && heard.is_none_or(|heard| pair[1].time - *heard > AT_ONCE) {
                rates.push(clump as f64 / pause.0 as f64);
            }
            clump = 0;
        }
    }
    rates
}
