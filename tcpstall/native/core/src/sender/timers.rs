//! The timers of a sending stack.

use crate::time::Nanos;

/// Linux's floor for the variance part of the retransmission timer: TCP_RTO_MIN = HZ/5. RFC 6298 §2.4 says 1 s; the kernel differs.
pub const LINUX_RTO_MIN: Nanos = Nanos::from_millis(200);
/// RFC 6298 §2.1: the timer before any RTT sample.
pub const INITIAL_RTO: Nanos = Nanos::from_millis(1_000);
/// Granularity of Linux's timers at HZ=250, two ticks late at worst.
pub const TICK: Nanos = Nanos::from_millis(8);

/// The retransmission timeout of a Linux sender with this smoothed RTT: SRTT + max(4·RTTVAR, 200 ms), on a steady path.
pub fn rto(srtt: Option<Nanos>) -> Nanos {
    srtt.map_or(INITIAL_RTO, |srtt| srtt + LINUX_RTO_MIN)
}

/// The probe timeout of RFC 8985 §7.2 as Linux sets it: 2·SRTT + 2 jiffies, and one RTO floor more where a single segment is out.
pub fn probe_timeout(srtt: Option<Nanos>, segments_out: u32) -> Nanos {
    let Some(srtt) = srtt else { return INITIAL_RTO };
    let pto = srtt + srtt;
    if segments_out == 1 { (pto + LINUX_RTO_MIN).min(rto(Some(srtt)) + TICK) } else { pto }
}
