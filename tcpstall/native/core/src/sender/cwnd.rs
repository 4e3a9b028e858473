//! Models the sender's congestion window in segments from the sender's data and the ACKs that reached it.

mod phase;
mod steady;
mod undo;

pub use self::phase::CongestionPhase;
pub use self::steady::Stance;
use super::ack_sample::AckSample;
use super::cubic::{CUBIC_BETA, Cubic};
use super::hystart::HyStart;
use super::two_per_ack::TwoPerAck;
use crate::time::Nanos;

/// Initial window of current stacks, segments: RFC 6928 §2.
pub const INITIAL_WINDOW: u32 = 10;
/// Reno's multiplicative decrease (RFC 5681 §3.1).
const RENO_BETA: f64 = 0.5;
/// Reno's decrease as it appears in whole segments, after some growth.
const RENO_SHARE: std::ops::RangeInclusive<f64> = 0.46..=0.56;
/// Share of the window in flight from which the window was full at a loss.
const FULL_AT_LOSS: f64 = 0.9;
/// Ratio of a burst to the lowered window that shows that the idle period did not lower it.
const NO_RESTART: f64 = 1.4;
/// Ratio of a flight to the window of congestion avoidance that shows that slow start went on.
const DID_NOT_LEAVE: f64 = 1.2;

/// Model of one sender's congestion window.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Cwnd {
    window: f64,
    ssthresh: f64,
    most_out: u32,
    round_end: i64,
    limited: bool,
    recover: Option<i64>,
    /// Offset up to which everything may be retransmitted after a timeout (Linux's Loss state).
    lost_until: Option<i64>,
    losses: u32,
    before_idle: Option<f64>,
    unconfirmed: Option<(f64, f64)>,
    grown: bool,
    certain: bool,
    certain_before_idle: bool,
    /// An idle period lowered a window that was unknown, so the end of the climb back is unknown too.
    from_unknown: bool,
    /// The window at the last loss, if it was full, until the sender's data shows how the loss lowered it.
    full_at_loss: Option<f64>,
    /// Factor by which a loss lowers the window.
    decrease: f64,
    /// The initial window, segments: also the smallest window that an idle period leaves.
    initial: u32,
    /// The window grows by a segment per round trip (RFC 5681 §3.1), not as CUBIC does.
    reno: bool,
    cubic: Cubic,
    hystart: HyStart,
    /// HyStart ended slow start. If more is sent than the window then allows, the sender does not run HyStart.
    left_slow_start: bool,
    /// Window and ssthresh before the last loss, in case the loss is undone.
    before_loss: Option<(f64, f64)>,
    /// The last loss was none, and the sender's data has yet to show whether the window came back.
    perhaps_undone: bool,
    /// The window if each ACK counts for two segments at most.
    two_per_ack: TwoPerAck,
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
            perhaps_undone: false,
            two_per_ack: TwoPerAck::default(),
        }
    }
}

impl Cwnd {
    /// The window of a new connection, all of whose life is known.
    pub fn starting(initial: u32, reno: bool) -> Cwnd {
        let mut cwnd = Cwnd { initial, reno, window: f64::from(initial), certain: true, ..Cwnd::default() };
        if reno {
            cwnd.decrease = RENO_BETA;
            cwnd.hystart.is_absent();
        }
        cwnd
    }

    /// The same window with offsets counted from `offset`.
    pub fn from_offset(self, offset: i64) -> Cwnd {
        let mut hystart = self.hystart;
        hystart.restart();
        let cubic = Cubic::default();
        Cwnd { round_end: offset, recover: None, lost_until: None, most_out: 0, limited: false, hystart, cubic, ..self }
    }

    /// This share of the window, as a window that is known less exactly.
    pub fn scaled(self, share: f64) -> Cwnd {
        Cwnd { window: (self.window * share).max(1.0), ..self }
    }

    /// The sender was seen to halve its window at a loss, as RFC 5681 says.
    pub fn is_reno(&self) -> bool {
        self.decrease <= RENO_BETA
    }

    /// The congestion window, segments.
    pub fn segments(&self) -> u32 {
        self.window as u32
    }

    /// Phase of the congestion control now.
    pub fn phase(&self) -> CongestionPhase {
        match (
            self.recover.or(self.lost_until).filter(|_| !self.perhaps_undone),
            self.window < self.ssthresh,
            self.grown,
        ) {
            (Some(_), _, _) => CongestionPhase::Recovery,
            (None, true, false) => CongestionPhase::Initial,
            (None, true, true) => CongestionPhase::SlowStart,
            (None, false, _) => CongestionPhase::CongestionAvoidance,
        }
    }

    /// Starts the connection with the initial window.
    pub fn begins(&mut self) {
        self.certain = true;
        self.two_per_ack = TwoPerAck::starting(self.initial);
    }

    /// Ends the handshake after `lost` timeouts of this end's SYN or SYN-ACK: after more than one of them Linux starts
    /// from a single segment (tcp_init_transfer; RFC 6298 §5.7 would do so after the first).
    pub fn is_established(&mut self, lost: u32) {
        if lost > 1 {
            (self.window, self.two_per_ack) = (1.0, TwoPerAck::default());
        }
    }

    /// Takes in that packets are missing: the window is unknown until an idle period resets it to the initial one.
    pub fn lose_track(&mut self) {
        (self.certain, self.two_per_ack) = (false, TwoPerAck::default());
    }

    /// True while every step of the window was seen.
    pub fn certain(&self) -> bool {
        self.certain
    }

    /// False while the window climbs back to one that was unknown.
    pub fn old_window_known(&self) -> bool {
        !self.from_unknown
    }

    /// Losses so far; after a loss the model is an estimate with a wide margin.
    pub fn losses(&self) -> u32 {
        self.losses
    }

    /// The window before an idle period lowered it, until the window is back there.
    pub fn before_idle(&self) -> Option<u32> {
        self.before_idle.map(|window| window as u32)
    }

    /// The window that the idle period left.
    pub fn after_idle(&self) -> Option<u32> {
        self.before_idle.and(self.unconfirmed).map(|(_, lowered)| lowered as u32)
    }

    /// Takes in a transmission: `out` segments are in flight, up to offset `snd_nxt`.
    #[inline]
    pub fn on_send(&mut self, out: u32, snd_una: i64, snd_nxt: i64) {
        let flight = f64::from(out);
        self.two_per_ack.on_send(out);
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
        // As many as the whole segments of the window, or more.
        let limited = flight + 1.0 > self.window;
        // Linux tcp_cwnd_validate: the largest flight of a round decides whether the next round may grow.
        if snd_una >= self.round_end || limited || (!self.limited && out > self.most_out) {
            self.limited = limited;
            self.most_out = out;
            self.round_end = snd_nxt;
        }
    }

    fn grown_since_idle(&self, lowered: f64) -> bool {
        self.window > lowered
    }

    /// Takes in that `segments` were acknowledged, with the state of the path at the ACK.
    #[inline(always)]
    pub fn on_ack(&mut self, segments: u32, ack: &AckSample) {
        let AckSample { snd_una, .. } = *ack;
        if self.lost_until.is_some_and(|until| snd_una >= until) {
            self.lost_until = None;
        }
        if let Some(recover) = self.recover {
            if snd_una < recover {
                return;
            }
            self.recover = None;
            self.window = self.ssthresh;
            self.cubic.restart();
            self.hystart.restart();
            if ack.holes {
                // Data lost meanwhile is another loss (Linux tcp_fastretrans_alert goes from one Recovery to the next).
                self.on_loss(0, ack.snd_nxt, snd_una);
                return;
            }
        }
        if segments == 0 {
            return;
        }
        self.grown = true;
        self.two_per_ack.on_ack(segments);
        if self.window < self.ssthresh {
            // Linux tcp_is_cwnd_limited: in slow start the window may reach twice the largest flight.
            if self.hystart.ends_slow_start(self.window, ack) {
                self.ssthresh = self.window;
                self.left_slow_start = true;
            } else if self.limited || self.window < 2.0 * f64::from(self.most_out) {
                self.window = (self.window + f64::from(segments)).min(self.ssthresh);
            }
        } else if self.limited && self.reno {
            self.window += f64::from(segments) / self.window;
        } else if self.limited {
            self.window += self.cubic.growth(self.window, segments, ack);
        }
        if self.before_idle.is_some_and(|before| self.window >= before) {
            self.before_idle = None;
            self.unconfirmed = None;
        }
    }

    /// The window after a fast recovery, segments, where the ACK of everything up to `snd_una` ends the recovery.
    pub fn after_recovery(&self, snd_una: i64) -> Option<u32> {
        self.recover.filter(|recover| *recover <= snd_una).map(|_| self.ssthresh as u32)
    }

    /// True if an ACK may end a repair, whatever the ACK covers.
    #[inline]
    pub fn repairs(&self) -> bool {
        self.recover.is_some() || self.lost_until.is_some()
    }

    /// Takes in a fast retransmission: the window shrinks once per flight of data.
    pub fn on_loss(&mut self, out: u32, snd_nxt: i64, snd_una: i64) {
        if self.recover.is_some_and(|recover| snd_una < recover) {
            return;
        }
        self.losses += 1;
        self.two_per_ack = TwoPerAck::default();
        self.from_unknown = false;
        (self.before_loss, self.perhaps_undone) = (Some((self.window, self.ssthresh)), false);
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

    /// The window that the decrease applies to: Linux takes the window itself, whatever was in flight
    /// (bictcp_recalc_ssthresh). An unknown window is close to the flight.
    fn window_at_loss(&self, out: u32) -> f64 {
        if self.certain { self.window } else { self.window.min(f64::from(out.max(1)) * 1.25) }
    }

    /// Takes in a retransmission timeout: slow start begins again from one segment (RFC 5681 §3.1).
    pub fn on_timeout(&mut self, out: u32, snd_nxt: i64) {
        if self.recover.or(self.lost_until).is_none() {
            (self.before_loss, self.perhaps_undone) = (Some((self.window, self.ssthresh)), false);
        }
        // Linux tcp_enter_loss: further timeouts of the same loss keep the threshold of the first.
        if self.recover.or(self.lost_until).is_none() {
            let before = self.window_at_loss(out);
            self.cubic.on_loss(before);
            self.ssthresh = (before * self.decrease).max(2.0);
        }
        self.losses += 1;
        self.two_per_ack = TwoPerAck::default();
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

    /// Takes in that the application writes after `idle` with nothing in flight: Linux halves the window once per
    /// timeout passed, down to the initial window (tcp_cwnd_restart; RFC 2861). The next data shows whether this sender
    /// did so.
    pub fn on_idle(&mut self, idle: Nanos, rto: Nanos) {
        if idle <= rto || rto <= Nanos::ZERO {
            return;
        }
        self.two_per_ack.restarts(self.initial);
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
            // However the window had grown, a long idle period resets it to a known value.
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

    /// Takes in that `out` whole segments were in flight when an ACK released more, after a loss: half of a full window
    /// is Reno's decrease (RFC 5681 §3.1), not CUBIC's.
    pub fn settles(&mut self, out: u32) {
        let Some(before) = self.full_at_loss.take() else { return };
        let share = f64::from(out) / before;
        if self.decrease > RENO_BETA && RENO_SHARE.contains(&share) {
            self.decrease = RENO_BETA;
            self.ssthresh = before * RENO_BETA;
            self.window = f64::from(out);
        }
    }

    /// Takes in that ACKs one by one let the data from offset `start` go, at a tap that saw all of them before it. At the sender data
    /// and ACKs took turns, so a window that was full stayed so until none of the old data was out (Linux tcp_cwnd_validate).
    pub fn goes_on(&mut self, start: i64) {
        if self.limited {
            self.round_end = self.round_end.max(start + 1);
        }
    }

    /// Takes in that `out` segments stayed in flight through a wait: the window is no smaller.
    pub fn at_least(&mut self, out: u32) {
        self.shows_undoing(f64::from(out));
        self.window = self.window.max(f64::from(out));
    }
}

#[cfg(test)]
mod tests;
