//! A model of the sender's congestion window in segments, fed with what the sender sent and learned.

use crate::time::Nanos;

/// RFC 6928 §2: the initial window of current stacks, segments.
pub const INITIAL_WINDOW: u32 = 10;
/// CUBIC's multiplicative decrease, 717/1024 in Linux (RFC 9438 §4.6 says 0.7).
const CUBIC_BETA: f64 = 717.0 / 1024.0;
/// CUBIC's scaling constant, segments per cubic second (RFC 9438 §5).
const CUBIC_C: f64 = 0.4;
/// A burst larger than this much of the lowered window shows that an idle did not lower it.
const NO_RESTART: f64 = 1.4;

/// Why the model stands where it stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Phase {
    /// Nothing acknowledged yet.
    #[default]
    Initial,
    /// Doubling each round trip.
    SlowStart,
    /// Past ssthresh.
    CongestionAvoidance,
    /// Repairing a loss.
    Recovery,
}

/// The model.
#[derive(Clone, Debug)]
pub struct Cwnd {
    window: f64,
    ssthresh: f64,
    most_out: u32,
    round_end: i64,
    limited: bool,
    recover: Option<i64>,
    /// After a timeout: everything up to here may have to be sent again (Linux's Loss state).
    lost_until: Option<i64>,
    losses: u32,
    before_idle: Option<f64>,
    unconfirmed: Option<(f64, f64)>,
    grown: bool,
    certain: bool,
    certain_before_idle: bool,
    epoch: Option<(Nanos, f64)>,
}

impl Default for Cwnd {
    fn default() -> Self {
        Cwnd {
            window: f64::from(INITIAL_WINDOW),
            ssthresh: f64::INFINITY,
            most_out: 0,
            round_end: 0,
            limited: false,
            recover: None,
            lost_until: None,
            losses: 0,
            before_idle: None,
            unconfirmed: None,
            grown: false,
            certain: false,
            certain_before_idle: false,
            epoch: None,
        }
    }
}

impl Cwnd {
    /// The window, segments.
    pub fn segments(&self) -> u32 {
        self.window as u32
    }

    /// Where the sender is in its life.
    pub fn phase(&self) -> Phase {
        match (self.recover.or(self.lost_until), self.window < self.ssthresh, self.grown) {
            (Some(_), _, _) => Phase::Recovery,
            (None, true, false) => Phase::Initial,
            (None, true, true) => Phase::SlowStart,
            (None, false, _) => Phase::CongestionAvoidance,
        }
    }

    /// The connection begins here, with the initial window.
    pub fn begins(&mut self) {
        self.certain = true;
    }

    /// Packets are missing: the window may be anything until an idle brings it back to the initial one.
    pub fn lose_track(&mut self) {
        self.certain = false;
    }

    /// True while every step of the window's life was seen.
    pub fn certain(&self) -> bool {
        self.certain
    }

    /// Losses so far; after one the model is an estimate with a wide margin.
    pub fn losses(&self) -> u32 {
        self.losses
    }

    /// The window before an idle period lowered it, until it is back there.
    pub fn before_idle(&self) -> Option<u32> {
        self.before_idle.map(|window| window as u32)
    }

    /// What that idle lowered it to.
    pub fn after_idle(&self) -> Option<u32> {
        self.before_idle.and(self.unconfirmed).map(|(_, lowered)| lowered as u32)
    }

    /// The sender has sent: `out` segments are in flight, up to offset `snd_nxt`.
    #[inline]
    pub fn on_send(&mut self, out: u32, snd_una: i64, snd_nxt: i64) {
        let flight = f64::from(out);
        if let Some((before, lowered)) = self.unconfirmed
            && flight > NO_RESTART * lowered
            && !self.grown_since_idle(lowered)
        {
            self.window = before;
            self.certain = self.certain_before_idle;
            self.before_idle = None;
            self.unconfirmed = None;
        }
        let limited = flight >= self.window;
        // Linux tcp_cwnd_validate: the most out in a round decides whether the next round may grow.
        if snd_una >= self.round_end || limited || (!self.limited && out > self.most_out) {
            self.limited = limited;
            self.most_out = out;
            self.round_end = snd_nxt;
        }
    }

    fn grown_since_idle(&self, lowered: f64) -> bool {
        self.window > lowered
    }

    /// `segments` were acknowledged up to offset `snd_una`, at `now`.
    #[inline]
    pub fn on_ack(&mut self, segments: u32, snd_una: i64, now: Nanos, srtt: Option<Nanos>) {
        self.lost_until = self.lost_until.filter(|until| snd_una < *until);
        if let Some(recover) = self.recover {
            if snd_una < recover {
                return;
            }
            self.recover = None;
            self.window = self.ssthresh;
            self.epoch = None;
        }
        if segments == 0 {
            return;
        }
        self.grown = true;
        if self.window < self.ssthresh {
            // Linux tcp_is_cwnd_limited: in slow start the window may reach twice the most packets out.
            if self.limited || self.window < 2.0 * f64::from(self.most_out) {
                self.window = (self.window + f64::from(segments)).min(self.ssthresh);
            }
        } else if self.limited {
            self.avoid_congestion(segments, now, srtt);
        }
        if self.before_idle.is_some_and(|before| self.window >= before) {
            self.before_idle = None;
            self.unconfirmed = None;
        }
    }

    /// CUBIC's concave and convex growth (RFC 9438 §4.2), never slower than Reno's.
    fn avoid_congestion(&mut self, segments: u32, now: Nanos, srtt: Option<Nanos>) {
        let (start, peak) = *self.epoch.get_or_insert((now, (self.window / CUBIC_BETA).max(self.window)));
        let rtt = srtt.unwrap_or_default().0 as f64 / 1e9;
        let age = (now - start).0 as f64 / 1e9 + rtt;
        let plateau_age = (peak * (1.0 - CUBIC_BETA) / CUBIC_C).cbrt();
        let target = CUBIC_C * (age - plateau_age).powi(3) + peak;
        let acked = f64::from(segments);
        let cubic = ((target - self.window) / self.window * acked).clamp(0.0, acked / 2.0);
        self.window += cubic.max(acked / self.window);
    }

    /// A fast retransmission: the window shrinks once per flight of data.
    pub fn on_loss(&mut self, out: u32, snd_nxt: i64, snd_una: i64) {
        if self.recover.is_some_and(|recover| snd_una < recover) {
            return;
        }
        self.losses += 1;
        let before =
            if self.window.is_finite() { self.window.min(f64::from(out.max(1)) * 1.25) } else { f64::from(out) };
        self.ssthresh = (before * CUBIC_BETA).max(2.0);
        self.window = self.ssthresh;
        self.recover = Some(snd_nxt);
        self.before_idle = None;
        self.unconfirmed = None;
        self.epoch = None;
    }

    /// A retransmission timeout: slow start again from one segment (RFC 5681 §3.1).
    pub fn on_timeout(&mut self, out: u32, snd_nxt: i64) {
        if self.recover.is_none() {
            let before = self.window.min(f64::from(out.max(1)) * 1.25);
            self.ssthresh = (before * CUBIC_BETA).max(2.0);
        }
        self.losses += 1;
        self.window = 1.0;
        self.recover = None;
        self.lost_until = Some(snd_nxt);
        self.grown = true;
        self.round_end = snd_nxt;
        self.limited = true;
        self.most_out = 1;
        self.before_idle = None;
        self.unconfirmed = None;
        self.epoch = None;
    }

    /// The application writes after `idle` with nothing in flight: Linux halves the window once per timeout passed,
    /// down to the initial window (tcp_cwnd_restart; RFC 2861). Whether it did shows in what is sent next.
    pub fn on_idle(&mut self, idle: Nanos, rto: Nanos) {
        if idle <= rto || rto <= Nanos::ZERO {
            return;
        }
        let before = self.window;
        let floor = f64::from(INITIAL_WINDOW).min(before);
        let timeouts = ((idle.0 - 1) / rto.0).min(32);
        let lowered = (before as u64 >> timeouts) as f64;
        let lowered = lowered.max(floor);
        if lowered < before {
            // tcp_current_ssthresh: three quarters of the old window stay the threshold.
            if self.ssthresh.is_finite() {
                self.ssthresh = self.ssthresh.max(0.75 * before);
            }
            // However the window had grown, a long enough idle brings it to a known value.
            self.certain_before_idle = self.certain;
            self.certain |= lowered <= floor;
            self.before_idle = Some(self.before_idle.unwrap_or(0.0).max(before));
            self.unconfirmed = Some((before, lowered));
            self.window = lowered;
            self.limited = false;
            self.most_out = 0;
            self.epoch = None;
        }
    }

    /// So many segments stayed out through a wait: the window is no smaller.
    pub fn at_least(&mut self, out: u32) {
        self.window = self.window.max(f64::from(out));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTT: Option<Nanos> = Some(Nanos::from_millis(20));
    const RTO: Nanos = Nanos::from_millis(220);

    /// Sends up to `out` segments, then has them all acknowledged.
    fn round(model: &mut Cwnd, sent: &mut i64, out: u32) {
        let una = *sent;
        *sent += i64::from(out);
        model.on_send(out, una, *sent);
        model.on_ack(out, *sent, Nanos(*sent), RTT);
    }

    #[test]
    fn full_rounds_double_the_window() {
        let (mut model, mut sent) = (Cwnd::default(), 0);
        for expected in [20, 40, 80] {
            let out = model.segments();
            round(&mut model, &mut sent, out);
            assert_eq!(model.segments(), expected);
        }
        assert_eq!(model.phase(), Phase::SlowStart);
    }

    #[test]
    fn a_round_cut_short_grows_by_what_was_acknowledged_and_no_further_than_twice_what_was_out() {
        let (mut model, mut sent) = (Cwnd::default(), 0);
        [10, 20].into_iter().for_each(|out| round(&mut model, &mut sent, out));
        round(&mut model, &mut sent, 32);
        assert_eq!(model.segments(), 72);
        round(&mut model, &mut sent, 20);
        assert_eq!(model.segments(), 72, "72 is more than twice the 20 that were out");
    }

    #[test]
    fn an_idle_halves_the_window_once_a_timeout_until_a_small_burst_confirms_it() {
        let (mut model, mut sent) = (Cwnd::default(), 0);
        [10, 20, 40, 80].into_iter().for_each(|out| round(&mut model, &mut sent, out));
        model.on_idle(Nanos(RTO.0 * 2 + 1), RTO);
        assert_eq!((model.segments(), model.before_idle()), (40, Some(160)));
        model.on_send(40, sent, sent + 40);
        assert_eq!(model.segments(), 40);
    }

    #[test]
    fn a_large_burst_after_an_idle_shows_that_nothing_was_lowered() {
        let (mut model, mut sent) = (Cwnd::default(), 0);
        [10, 20, 40, 80].into_iter().for_each(|out| round(&mut model, &mut sent, out));
        model.on_idle(Nanos::from_millis(10_000), RTO);
        assert_eq!(model.segments(), INITIAL_WINDOW);
        model.on_send(100, sent, sent + 100);
        assert_eq!((model.segments(), model.before_idle()), (160, None));
    }

    #[test]
    fn an_idle_shorter_than_the_timeout_changes_nothing() {
        let (mut model, mut sent) = (Cwnd::default(), 0);
        [10, 20].into_iter().for_each(|out| round(&mut model, &mut sent, out));
        model.on_idle(RTO, RTO);
        assert_eq!((model.segments(), model.before_idle()), (40, None));
    }

    #[test]
    fn a_loss_lowers_the_window_once_a_flight() {
        let (mut model, mut sent) = (Cwnd::default(), 0);
        [10, 20, 40].into_iter().for_each(|out| round(&mut model, &mut sent, out));
        model.on_loss(80, sent + 80, sent);
        let lowered = model.segments();
        assert_eq!(lowered, 56, "717/1024 of 80");
        model.on_loss(70, sent + 80, sent + 10);
        assert_eq!((model.segments(), model.losses(), model.phase()), (lowered, 1, Phase::Recovery));
    }

    #[test]
    fn a_long_idle_brings_back_a_window_that_was_lost_track_of() {
        let (mut model, mut sent) = (Cwnd::default(), 0);
        model.begins();
        model.lose_track();
        [10, 20].into_iter().for_each(|out| round(&mut model, &mut sent, out));
        assert!(!model.certain());
        model.on_idle(Nanos::from_millis(10_000), RTO);
        assert!(model.certain());
        model.on_send(39, sent, sent + 39);
        assert!(!model.certain(), "a burst that large was no restart");
    }
}
