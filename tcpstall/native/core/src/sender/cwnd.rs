//! A model of the sender's congestion window in segments, fed with what the sender sent and learned.

use super::cubic::Cubic;
use super::hystart::HyStart;
use super::path::Path;
use crate::time::Nanos;

/// RFC 6928 §2: the initial window of current stacks, segments.
pub const INITIAL_WINDOW: u32 = 10;
/// CUBIC's multiplicative decrease, 717/1024 in Linux (RFC 9438 §4.6 says 0.7).
pub(super) const CUBIC_BETA: f64 = 717.0 / 1024.0;
/// Reno's multiplicative decrease (RFC 5681 §3.1).
const RENO_BETA: f64 = 0.5;
/// What it may look like in whole segments, with some growth since.
const RENO_SHARE: std::ops::RangeInclusive<f64> = 0.46..=0.56;
/// A window that so much was out of was full.
const FULL_AT_LOSS: f64 = 0.9;
/// A burst larger than this much of the lowered window shows that an idle did not lower it.
const NO_RESTART: f64 = 1.4;
/// A flight this much above the window of congestion avoidance shows that slow start went on.
const DID_NOT_LEAVE: f64 = 1.2;

/// Why the model stands where it stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
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
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
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
    /// An idle lowered a window that was not known: where the climb back ends is not known either.
    from_unknown: bool,
    /// The window at the last loss, if it had been full until the sender has shown what it made of it.
    full_at_loss: Option<f64>,
    /// What a loss leaves of the window.
    decrease: f64,
    /// The window at the start, segments, and the least that an idle leaves.
    initial: u32,
    /// It grows by a segment a round trip (RFC 5681 §3.1), not as CUBIC does.
    reno: bool,
    cubic: Cubic,
    hystart: HyStart,
    /// HyStart ended slow start here, unless more is sent than that allows: then the sender does not run it.
    left_slow_start: bool,
    /// Window and ssthresh before the last loss, should it turn out to be none.
    before_loss: Option<(f64, f64)>,
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
            from_unknown: false,
            full_at_loss: None,
            decrease: CUBIC_BETA,
            initial: INITIAL_WINDOW,
            reno: false,
            cubic: Cubic::default(),
            hystart: HyStart::default(),
            left_slow_start: false,
            before_loss: None,
        }
    }
}

impl Cwnd {
    /// The window of a connection that begins, where all of its life is known.
    pub fn starting(initial: u32, reno: bool) -> Cwnd {
        let mut cwnd = Cwnd { initial, reno, window: f64::from(initial), certain: true, ..Cwnd::default() };
        if reno {
            cwnd.decrease = RENO_BETA;
            cwnd.hystart.is_absent();
        }
        cwnd
    }

    /// The same window for data that is counted from `offset` again.
    pub fn from_offset(self, offset: i64) -> Cwnd {
        let mut hystart = self.hystart;
        hystart.restart();
        let cubic = Cubic::default();
        Cwnd { round_end: offset, recover: None, lost_until: None, most_out: 0, limited: false, hystart, cubic, ..self }
    }

    /// A loss leaves what RFC 5681 says of it, so far as that was seen.
    pub fn is_reno(&self) -> bool {
        self.decrease <= RENO_BETA
    }

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

    /// The handshake is over after `lost` timeouts of this end's SYN or SYN-ACK: after more than one of them Linux starts
    /// from a single segment (tcp_init_transfer; RFC 6298 §5.7 would do so after the first).
    pub fn is_established(&mut self, lost: u32) {
        if lost > 1 {
            self.window = 1.0;
        }
    }

    /// Packets are missing: the window may be anything until an idle brings it back to the initial one.
    pub fn lose_track(&mut self) {
        self.certain = false;
    }

    /// True while every step of the window's life was seen.
    pub fn certain(&self) -> bool {
        self.certain
    }

    /// False while the window climbs back to one that was not known.
    pub fn old_window_known(&self) -> bool {
        !self.from_unknown
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
            self.from_unknown = false;
            self.before_idle = None;
            self.unconfirmed = None;
        }
        if self.left_slow_start && self.losses == 0 && flight > DID_NOT_LEAVE * self.window {
            self.ssthresh = f64::INFINITY;
            self.window = flight;
            self.left_slow_start = false;
            self.hystart.is_absent();
        }
        let limited = out >= self.segments();
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
    pub fn on_ack(&mut self, segments: u32, path: &Path) {
        let Path { snd_una, .. } = *path;
        self.lost_until = self.lost_until.filter(|until| snd_una < *until);
        if let Some(recover) = self.recover {
            if snd_una < recover {
                return;
            }
            self.recover = None;
            self.window = self.ssthresh;
            self.cubic.restart();
            self.hystart.restart();
            if path.holes {
                // What was lost meanwhile is another loss (Linux tcp_fastretrans_alert goes from one Recovery to the next).
                self.on_loss(0, path.snd_nxt, snd_una);
                return;
            }
        }
        if segments == 0 {
            return;
        }
        self.grown = true;
        if self.window < self.ssthresh {
            // Linux tcp_is_cwnd_limited: in slow start the window may reach twice the most packets out.
            if self.hystart.ends_slow_start(self.window, path) {
                self.ssthresh = self.window;
                self.left_slow_start = true;
            } else if self.limited || self.window < 2.0 * f64::from(self.most_out) {
                self.window = (self.window + f64::from(segments)).min(self.ssthresh);
            }
        } else if self.limited && self.reno {
            self.window += f64::from(segments) / self.window;
        } else if self.limited {
            self.window += self.cubic.growth(self.window, segments, path);
        }
        if self.before_idle.is_some_and(|before| self.window >= before) {
            self.before_idle = None;
            self.unconfirmed = None;
        }
    }

    /// The window that a fast recovery leaves, segments, where everything up to `snd_una` being acknowledged ends it.
    pub fn after_recovery(&self, snd_una: i64) -> Option<u32> {
        self.recover.filter(|recover| *recover <= snd_una).map(|_| self.ssthresh as u32)
    }

    /// True if an ACK may end a repair, whatever it acknowledges.
    #[inline]
    pub fn repairs(&self) -> bool {
        self.recover.is_some() || self.lost_until.is_some()
    }

    /// A fast retransmission: the window shrinks once per flight of data.
    pub fn on_loss(&mut self, out: u32, snd_nxt: i64, snd_una: i64) {
        if self.recover.is_some_and(|recover| snd_una < recover) {
            return;
        }
        self.losses += 1;
        self.from_unknown = false;
        self.before_loss = Some((self.window, self.ssthresh));
        let before = self.window_at_loss(out);
        self.cubic.on_loss(before);
        self.full_at_loss = Some(before).filter(|before| f64::from(self.most_out) >= FULL_AT_LOSS * before);
        self.ssthresh = (before * self.decrease).max(2.0);
        self.window = self.ssthresh;
        self.recover = Some(snd_nxt);
        self.before_idle = None;
        self.unconfirmed = None;
        self.cubic.restart();
    }

    /// What the decrease is taken from: Linux takes the window itself, whatever was in flight (bictcp_recalc_ssthresh);
    /// where the window is not known it is not far from the flight.
    fn window_at_loss(&self, out: u32) -> f64 {
        if self.certain { self.window } else { self.window.min(f64::from(out.max(1)) * 1.25) }
    }

    /// A retransmission timeout: slow start again from one segment (RFC 5681 §3.1).
    pub fn on_timeout(&mut self, out: u32, snd_nxt: i64) {
        if self.recover.or(self.lost_until).is_none() {
            self.before_loss = Some((self.window, self.ssthresh));
        }
        // Linux tcp_enter_loss: further timeouts of the same loss leave the threshold where the first put it.
        if self.recover.or(self.lost_until).is_none() {
            let before = self.window_at_loss(out);
            self.cubic.on_loss(before);
            self.ssthresh = (before * self.decrease).max(2.0);
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
        self.cubic.restart();
    }

    /// The last loss was none: everything is as it was before it (Linux tcp_undo_cwnd_reduction).
    pub fn undo(&mut self) {
        if let Some((window, ssthresh)) = self.before_loss.take() {
            self.window = self.window.max(window);
            self.ssthresh = ssthresh;
            self.recover = None;
            self.lost_until = None;
            self.losses -= 1;
        }
    }

    /// The application writes after `idle` with nothing in flight: Linux halves the window once per timeout passed,
    /// down to the initial window (tcp_cwnd_restart; RFC 2861). Whether it did shows in what is sent next.
    pub fn on_idle(&mut self, idle: Nanos, rto: Nanos) {
        if idle <= rto || rto <= Nanos::ZERO {
            return;
        }
        let before = self.window;
        let floor = f64::from(self.initial).min(before);
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
            self.from_unknown = !self.certain;
            self.certain |= lowered <= floor;
            self.before_idle = Some(self.before_idle.unwrap_or(0.0).max(before));
            self.unconfirmed = Some((before, lowered));
            self.window = lowered;
            self.limited = false;
            self.most_out = 0;
            self.cubic.restart();
        }
    }

    /// So many whole segments were out when an ACK released more, after a loss: half of what a full window had held is
    /// Reno's decrease (RFC 5681 §3.1), not CUBIC's.
    pub fn settles(&mut self, out: u32) {
        let Some(before) = self.full_at_loss.take() else { return };
        let share = f64::from(out) / before;
        if self.decrease > RENO_BETA && RENO_SHARE.contains(&share) {
            self.decrease = RENO_BETA;
            self.ssthresh = before * RENO_BETA;
            self.window = f64::from(out);
        }
    }

    /// So many segments stayed out through a wait: the window is no smaller.
    pub fn at_least(&mut self, out: u32) {
        self.window = self.window.max(f64::from(out));
    }
}

#[cfg(test)]
mod tests;
