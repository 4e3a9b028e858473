//! Timers of TCP stacks.

use std::ops::RangeInclusive;

pub use crate::flow::tap::vantage::LONGEST_DELAYED_ACK;
use crate::time::Nanos;

/// Linux's floor for the variance part of the retransmission timer: TCP_RTO_MIN = HZ/5. RFC 6298 §2.4 says 1 s; the kernel differs.
pub const LINUX_RTO_MIN: Nanos = Nanos::from_millis(200);
/// Retransmission timeout before any RTT sample: RFC 6298 §2.1.
pub const INITIAL_RTO: Nanos = Nanos::from_millis(1_000);
/// Granularity of Linux's timers at HZ=250, two ticks late at worst.
pub const TICK: Nanos = Nanos::from_millis(8);

/// The retransmission timer of a sender that had sent nothing for `silence` would have fired, whatever its least time (RFC 6298
/// §2.4: a second), had anything been unacknowledged.
pub fn would_have_fired(silence: Nanos, srtt: Option<Nanos>) -> bool {
    silence > rto(srtt).max(INITIAL_RTO) + TICK
}

/// The retransmission timeout of a Linux sender with this smoothed RTT: SRTT + max(4·RTTVAR, 200 ms), on a steady path.
pub fn rto(srtt: Option<Nanos>) -> Nanos {
    srtt.map_or(INITIAL_RTO, |srtt| srtt + LINUX_RTO_MIN)
}

/// The shortest retransmission timeout of any stack with this smoothed RTT: some apply the floor of 200 ms to the whole timer, and
/// not to its variance part (RFC 6298 §2.4).
pub fn shortest_rto(srtt: Option<Nanos>) -> Nanos {
    srtt.map_or(INITIAL_RTO, |srtt| srtt.max(LINUX_RTO_MIN))
}

/// Time after which a copy that no report of a loss triggered came from a retransmission timer, whatever its floor: no timer is as
/// short as a round trip (RFC 6298 §2.3), in which an ACK or a window may have triggered the copy.
pub fn least_rto(srtt: Option<Nanos>) -> Nanos {
    srtt.map_or(LINUX_RTO_MIN, |srtt| srtt.scaled(OF_TIMERS).clamp(SHORTEST_FLOOR, LINUX_RTO_MIN))
}

/// Least ratio of a timeout to the round trip, on a steady path.
const OF_TIMERS: f64 = 1.5;

/// Shortest floor of common stacks: FreeBSD's `net.inet.tcp.rexmit_min`.
const SHORTEST_FLOOR: Nanos = Nanos::from_millis(30);

/// The probe timeout of RFC 8985 §7.2 as Linux sets it: 2·SRTT + 2 jiffies, plus one RTO floor where a single segment
/// is in flight.
pub fn probe_timeout(srtt: Option<Nanos>, segments_out: u32) -> Nanos {
    let Some(srtt) = srtt else { return INITIAL_RTO };
    let pto = srtt + srtt + SHORTEST_PROBE;
    if segments_out == 1 { (pto + LINUX_RTO_MIN).min(rto(Some(srtt)) + TICK) } else { pto }
}

/// Least time that Linux adds to two round trips: two jiffies (`TCP_TIMEOUT_MIN`), of which the first may be nearly over, at HZ=1000.
const SHORTEST_PROBE: Nanos = Nanos::from_millis(1);

/// Ratio of the longest real timeout to the computed one, which leaves out a variance above the floor and uses the
/// tap's smoothed round trip.
const SLACK: f64 = 1.1;

/// Part of a round number of seconds after which the tap may see a timer's segment: the path jitters.
const EARLIEST: f64 = 0.998;

/// Doublings that are tested: Linux gives up after 15 (tcp_retries2), but after 7 the intervals would touch.
const DOUBLINGS: u32 = 7;

/// Timer that ended a silence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expired {
    /// The probe timer.
    Probe,
    /// The retransmission timer, at its first expiry or after doubling.
    Timeout,
}

/// True if `timers` timers with the sum `sum`, each up to two ticks late, end after `waited`.
pub fn fires_at(sum: Nanos, timers: u32, waited: Nanos) -> bool {
    waited >= sum.scaled(0.98) && waited <= sum.scaled(SLACK) + late(timers)
}

/// Time by which so many timers may be late.
fn late(timers: u32) -> Nanos {
    Nanos(2 * TICK.0 * i64::from(timers))
}

/// Chains of timeouts that double (RFC 6298 §5.5): the number of timers, and their sum.
fn chains(rto: Nanos) -> impl Iterator<Item = (u32, Nanos)> {
    (1..=DOUBLINGS).map(move |timers| (timers, rto.times((1 << timers) - 1)))
}

/// Number of timers that may have sent a packet when `lost` packets are missing before a segment: each timer sends one,
/// besides the lost flight. A `short` segment was most likely all of it (RFC 896: a short segment is sent when nothing
/// is outstanding).
pub fn fired(lost: u32, short: bool) -> RangeInclusive<u32> {
    if short { lost.saturating_sub(1).max(1)..=lost } else { 1..=lost }
}

/// The timer that ended a silence of `waited` in which `fired` timers may have expired, if one fits: a probe, a timeout,
/// or a chain of timeouts that double (RFC 6298 §5.5), with or without a probe before it.
pub fn expired(srtt: Option<Nanos>, segments_out: u32, waited: Nanos, fired: &RangeInclusive<u32>) -> Option<Expired> {
    let (probe, rto) = (probe_timeout(srtt, segments_out), rto(srtt));
    if fires_at(probe, 1, waited) && waited < rto {
        return fired.contains(&1).then_some(Expired::Probe);
    }
    let ends = |timers, sum| fired.contains(&timers) && fires_at(sum, timers, waited);
    let any = chains(rto).any(|(timers, sum)| ends(timers, sum) || ends(timers + 1, probe + sum));
    any.then_some(Expired::Timeout)
}

/// True if a silence of `waited` after the last ACK ends at a timeout that was rounded up to a second (RFC 6298 §2.4), or
/// at a chain of such that double, in which `fired` timers may have expired. An application that writes once a second
/// counts from its last write instead.
pub fn fires_after_a_second(waited: Nanos, fired: &RangeInclusive<u32>) -> bool {
    let ends = |timers, sum: Nanos| waited >= sum.scaled(EARLIEST) && waited <= sum + late(timers);
    chains(INITIAL_RTO).any(|(timers, sum)| fired.contains(&timers) && ends(timers, sum))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SRTT: Option<Nanos> = Some(Nanos::from_millis(20));

    fn after(ms: i64) -> Option<Expired> {
        expired(SRTT, 10, Nanos::from_millis(ms), &(1..=3))
    }

    #[test]
    fn a_silence_is_told_by_the_timer_that_ends_it() {
        assert_eq!((after(44), after(226)), (Some(Expired::Probe), Some(Expired::Timeout)));
        assert_eq!(after(44 + 228), Some(Expired::Timeout), "a lost probe and then the timer");
        assert_eq!(after(44 + 228 + 456), Some(Expired::Timeout), "and the timer doubled");
        assert_eq!((after(20), after(100), after(400)), (None, None, None), "no timer runs that long");
    }

    #[test]
    fn the_least_timeout_is_half_as_long_again_as_the_round_trip_between_30_and_200_ms() {
        let least = |ms| least_rto(Some(Nanos::from_millis(ms))).0 / 1_000_000;
        assert_eq!((least(1), least(40), least(300)), (30, 60, 200));
        assert_eq!(least_rto(None), LINUX_RTO_MIN, "without a round trip");
    }

    #[test]
    fn each_timer_sends_a_packet() {
        let thrice = |fired| expired(SRTT, 10, Nanos::from_millis(7 * 220), &fired);
        assert_eq!((thrice(1..=2), thrice(3..=3), thrice(5..=9)), (None, Some(Expired::Timeout), None));
    }

    #[test]
    fn with_one_segment_out_the_probe_waits_as_long_as_the_timer() {
        assert_eq!(expired(SRTT, 1, Nanos::from_millis(60), &(1..=1)), None);
        assert_eq!(expired(SRTT, 1, Nanos::from_millis(226), &(1..=1)), Some(Expired::Timeout));
    }

    #[test]
    fn a_timeout_that_is_rounded_up_to_a_second_counts_from_the_last_ack() {
        assert!(fires_after_a_second(Nanos::from_millis(1_001), &(1..=1)));
        assert!(fires_after_a_second(Nanos::from_millis(3_010), &(1..=2)));
        assert!(
            !fires_after_a_second(Nanos::from_millis(3_010), &(1..=1)),
            "one packet is missing, and two timers fired"
        );
        assert!(
            !fires_after_a_second(Nanos::from_millis(980), &(1..=1)),
            "a second after the data that the ACK was for"
        );
    }
}
