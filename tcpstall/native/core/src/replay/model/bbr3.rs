//! BBR version 3 in outline: it bounds its pace and its flight by the losses that it causes
//! (draft-ietf-ccwg-bbr, "BBR Congestion Control"; the section numbers are that draft's).
//!
//! Left out: ECN, the compensation for aggregated acknowledgements, and the dice for the time between two probes.

use super::bbr::{Delivered, target};
use super::delivery::{Delivery, RateSample};
use crate::time::Nanos;

/// Pacing gain of startup: 4 · ln 2 (§2.4 StartupPacingGain).
const STARTUP: f64 = 2.773;
/// Pacing gain that empties startup's queue (§2.4 DrainPacingGain).
const DRAIN: f64 = 0.5;
/// Gain of the window, and the same while more bandwidth is probed (§2.5 DefaultCwndGain, §5.3.3 ProbeBW_UP).
const WINDOW: (f64, f64) = (2.0, 2.25);
/// Pacing gains of a probe and of what follows it (§5.3.3).
const PROBES: (f64, f64) = (1.25, 0.9);
/// Share of a round trip's segments that may be lost while it probes (§2.8 LossThresh).
const LOSSES: f64 = 0.02;
/// Acknowledgements that report losses in one round trip and may end startup (§2.9 StartupFullLossCnt).
const STARTUP_LOSSES: u32 = 6;
/// Share that a round trip with losses leaves of the short-term bounds (§2.8 Beta).
const KEEPS: f64 = 0.7;
/// Share of the long-term bound that is left free while it cruises (§2.8 Headroom).
const HEADROOM: f64 = 0.15;
/// Smallest window, segments (§2.8 MinPipeCwnd).
const LEAST: f64 = 4.0;
/// Growth below which a round trip has found nothing new, and such round trips that end a search (§5.3.1.2).
const FULL: (f64, u32) = (1.25, 3);
/// Time from a probe to the next one: the draft throws dice from 2 to 3 s (§5.3.3.8).
const WAIT: Nanos = Nanos::from_millis(2_500);
/// Round trips after which it probes at the latest, so that Reno is left its share (§5.3.3.8).
const MOST_ROUNDS: f64 = 63.0;
/// Age of the shortest round trip from which it is measured anew (§2.13 ProbeRTTInterval).
const OLD: Nanos = Nanos::from_millis(5_000);
/// Time with a small flight that measures it, and the gain of the window meanwhile (§2.13).
const MEASURES: (Nanos, f64) = (Nanos::from_millis(200), 0.5);
/// Share of the measured rate that is used (§2.5 PacingMarginPercent).
const MARGIN: f64 = 0.99;

/// States of §5.3; the last four but one are those of ProbeBW.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Startup,
    Drain,
    Down,
    Cruise,
    Refill,
    Up,
    ProbeRtt,
}

/// State of one sender. Bandwidths are segments per nanosecond, flights segments.
#[derive(Clone, Debug)]
pub(super) struct Bbr3 {
    pub(super) delivery: Delivery,
    mode: Mode,
    window: f64,
    /// Window before a repair or before the shortest round trip was measured.
    before: Option<f64>,
    pace: f64,
    /// Highest bandwidth since the last probe, and of the probe before (§2.10 MaxBwFilterLen).
    highest: [f64; 2],
    /// Short-term bounds, by losses.
    short: Bounds,
    /// Long-term bound of the flight.
    long: f64,
    round: RoundState,
    full: bool,
    full_at: (f64, u32),
    cycle: (Nanos, f64),
    /// Step by which a probe raises the long-term bound, segments a round trip.
    step: f64,
    least_rtt: Nanos,
    least_at: Nanos,
    measured_until: Option<Nanos>,
    /// The initial window, segments.
    initial: u64,
    mss: i64,
}

/// Bandwidth and flight that losses leave.
#[derive(Clone, Copy, Debug)]
struct Bounds {
    bandwidth: f64,
    flight: f64,
}

const UNBOUND: Bounds = Bounds { bandwidth: f64::INFINITY, flight: f64::INFINITY };

/// Sums of the present round trip.
#[derive(Clone, Copy, Debug, Default)]
struct RoundState {
    until: u64,
    bandwidth: f64,
    flight: f64,
    lost: u32,
    reports: u32,
    delivered: u32,
}

impl RoundState {
    fn loses_much(&self) -> bool {
        f64::from(self.lost) > LOSSES * f64::from(self.lost + self.delivered)
    }
}

impl Bbr3 {
    /// A new connection whose handshake took `rtt`.
    pub(super) fn new(initial: u32, rtt: Nanos, mss: i64) -> Bbr3 {
        let window = f64::from(initial);
        Bbr3 {
            delivery: Delivery::default(),
            mode: Mode::Startup,
            window,
            before: None,
            pace: window / rtt.0.max(1) as f64 * 1e9 * mss as f64 * STARTUP,
            highest: [0.0; 2],
            short: UNBOUND,
            long: f64::INFINITY,
            round: RoundState::default(),
            full: false,
            full_at: (0.0, 0),
            cycle: (Nanos::ZERO, 0.0),
            step: 1.0,
            least_rtt: rtt,
            least_at: Nanos::ZERO,
            measured_until: None,
            initial: u64::from(initial),
            mss,
        }
    }

    /// The same connection used once more, all of whose data had arrived.
    pub(super) fn again(mut self) -> Bbr3 {
        (self.cycle.0, self.least_at, self.measured_until) = (Nanos::ZERO, Nanos::ZERO, None);
        self.delivery.is_limited(0);
        self
    }

    /// The congestion window, segments.
    pub(super) fn segments(&self) -> u32 {
        self.window as u32
    }

    /// Pacing rate, bytes of payload per second.
    pub(super) fn pace(&self) -> f64 {
        self.pace
    }

    /// Takes in a write that begins with `in_flight` segments outstanding and nothing unsent (§5.4.1).
    pub(super) fn writes(&mut self, in_flight: u32, now: Nanos) {
        if in_flight == 0 && self.delivery.limited() {
            self.least_at = self.least_at.max(now - OLD);
            if self.probes_bandwidth() {
                self.pace = self.rate(1.0);
            }
        }
        if in_flight < self.segments() {
            self.delivery.is_limited(in_flight);
        }
    }

    /// Takes in that a fast recovery begins.
    pub(super) fn on_loss(&mut self) {
        self.before.get_or_insert(self.window);
    }

    /// Takes in a timeout (§5.6.4.4).
    pub(super) fn on_timeout(&mut self) {
        self.before.get_or_insert(self.window);
        self.window = 1.0;
    }

    /// Takes in an acknowledgement, with the rate that it shows (§5.2.3).
    pub(super) fn on_ack(&mut self, ack: &Delivered, sample: RateSample) {
        let Some(rate) = sample.rate else { return };
        if !sample.limited || rate >= self.highest() {
            self.highest[0] = self.highest[0].max(rate);
        }
        self.round.bandwidth = self.round.bandwidth.max(rate);
        self.round.flight = self.round.flight.max((self.delivery.delivered - sample.prior) as f64);
        self.round.lost += ack.lost;
        self.round.reports += u32::from(ack.lost > 0);
        self.round.delivered += ack.segments;
        let ends = (sample.prior >= self.round.until).then(|| {
            let until = self.delivery.delivered;
            std::mem::replace(&mut self.round, RoundState { until, ..RoundState::default() })
        });
        if let Some(round) = ends {
            self.adapts(&round);
            self.searches(&round, sample.limited);
            self.cycle.1 += 1.0;
        }
        self.advances(ack, ends.as_ref());
        self.shortest(ack);
        self.resizes(ack);
    }

    /// Lowers the short-term bounds for a round trip with losses, unless it probes (§5.5.10.3).
    fn adapts(&mut self, round: &RoundState) {
        if round.lost == 0 || matches!(self.mode, Mode::Startup | Mode::Refill | Mode::Up) {
            return;
        }
        let Bounds { bandwidth, flight } = self.short;
        let bandwidth = if bandwidth.is_finite() { bandwidth } else { self.highest() };
        let flight = if flight.is_finite() { flight } else { self.window };
        self.short =
            Bounds { bandwidth: round.bandwidth.max(KEEPS * bandwidth), flight: round.flight.max(KEEPS * flight) };
    }

    /// Ends the search for the full bandwidth where it no longer grows, or where startup loses much (§5.3.1).
    fn searches(&mut self, round: &RoundState, limited: bool) {
        if self.mode == Mode::Startup && round.loses_much() && round.reports >= STARTUP_LOSSES {
            self.long = round.flight.max(self.product(1.0));
            self.full = true;
        }
        if limited {
            return;
        }
        let (full, rounds) = self.full_at;
        self.full_at = if self.highest() >= FULL.0 * full { (self.highest(), 0) } else { (full, rounds + 1) };
        self.full |= self.full_at.1 >= FULL.1;
    }

    /// The next state, where this one has done its work (§5.3.2, §5.3.3).
    fn advances(&mut self, ack: &Delivered, ends: Option<&RoundState>) {
        let in_flight = f64::from(ack.in_flight);
        match self.mode {
            Mode::Startup if self.full => self.mode = Mode::Drain,
            Mode::Drain if in_flight <= self.product(1.0) => self.goes_down(ack.now),
            Mode::Down | Mode::Cruise if self.is_due(ack.now) => {
                (self.mode, self.short) = (Mode::Refill, UNBOUND);
                self.round.until = self.delivery.delivered;
            }
            Mode::Down if in_flight <= self.product(1.0).min(self.long * (1.0 - HEADROOM)) => self.mode = Mode::Cruise,
            Mode::Refill if ends.is_some() => {
                (self.mode, self.step, self.full_at) = (Mode::Up, 1.0, (self.highest(), 0));
            }
            Mode::Up => {
                let lost = self.round.loses_much() || ends.is_some_and(RoundState::loses_much);
                if lost && ack.lost > 0 {
                    self.long = (in_flight + f64::from(ack.lost)).max(KEEPS * self.product(1.0));
                    self.goes_down(ack.now);
                    return;
                }
                if in_flight + 1.0 >= self.window && self.window >= self.long {
                    self.long += self.step * f64::from(ack.segments) / self.window.max(1.0);
                }
                if ends.is_some() {
                    self.step *= 2.0;
                }
                if self.full_at.1 >= FULL.1 || ends.is_some() && in_flight > self.product(PROBES.0) {
                    self.goes_down(ack.now);
                }
            }
            _ => {}
        }
    }

    fn goes_down(&mut self, now: Nanos) {
        self.mode = Mode::Down;
        self.cycle = (now, 0.0);
        self.highest = [self.highest[0], self.highest()];
        self.highest.swap(0, 1);
    }

    /// True if it is time to probe again (§5.3.3.8).
    fn is_due(&self, now: Nanos) -> bool {
        now - self.cycle.0 > WAIT || self.cycle.1 >= self.product(1.0).clamp(1.0, MOST_ROUNDS)
    }

    /// Keeps the shortest round trip, and measures an old one anew with a small flight (§5.3.4).
    fn shortest(&mut self, ack: &Delivered) {
        let old = ack.now - self.least_at > OLD;
        if let Some(sample) = ack.sample.filter(|sample| *sample <= self.least_rtt || old) {
            (self.least_rtt, self.least_at) = (sample, ack.now);
        }
        if old && self.mode != Mode::ProbeRtt {
            self.before.get_or_insert(self.window);
            (self.mode, self.measured_until) = (Mode::ProbeRtt, None);
        }
        if self.mode != Mode::ProbeRtt {
            return;
        }
        let small = f64::from(ack.in_flight) <= self.product(MEASURES.1).max(LEAST);
        match self.measured_until {
            None if small => self.measured_until = Some(ack.now + MEASURES.0),
            Some(until) if ack.now >= until => {
                self.least_at = ack.now;
                self.window = self.window.max(self.before.take().unwrap_or(0.0));
                self.short = UNBOUND;
                if self.full {
                    self.goes_down(ack.now);
                    self.mode = Mode::Cruise;
                } else {
                    self.mode = Mode::Startup;
                }
            }
            _ => {}
        }
    }

    /// Pace and window after an acknowledgement (§5.6).
    fn resizes(&mut self, ack: &Delivered) {
        let (pacing, gain) = match self.mode {
            Mode::Startup => (STARTUP, WINDOW.0),
            Mode::Drain => (DRAIN, WINDOW.0),
            Mode::Down => (PROBES.1, WINDOW.0),
            Mode::Cruise | Mode::Refill => (1.0, WINDOW.0),
            Mode::Up => (PROBES.0, WINDOW.1),
            Mode::ProbeRtt => (1.0, MEASURES.1),
        };
        let rate = self.rate(pacing);
        if self.full || rate > self.pace {
            self.pace = rate;
        }
        let segments = f64::from(ack.segments);
        if !ack.repairs
            && self.mode != Mode::ProbeRtt
            && let Some(before) = self.before.take()
        {
            self.window = self.window.max(before);
        }
        let most = match self.mode {
            Mode::ProbeRtt => self.product(gain),
            _ => target(self.product(gain), self.pace, self.mss),
        };
        if self.full {
            self.window = (self.window + segments).min(most);
        } else if self.window < most || self.delivery.delivered < self.initial {
            self.window += segments;
        }
        let free = if matches!(self.mode, Mode::Cruise | Mode::ProbeRtt) { 1.0 - HEADROOM } else { 1.0 };
        let long =
            if self.probes_bandwidth() || self.mode == Mode::ProbeRtt { self.long * free } else { f64::INFINITY };
        self.window = self.window.min(long).min(self.short.flight).max(LEAST);
    }

    fn probes_bandwidth(&self) -> bool {
        matches!(self.mode, Mode::Down | Mode::Cruise | Mode::Refill | Mode::Up)
    }

    fn highest(&self) -> f64 {
        self.highest[0].max(self.highest[1])
    }

    /// Bandwidth-delay product times `gain`, segments.
    fn product(&self, gain: f64) -> f64 {
        (gain * self.highest().min(self.short.bandwidth) * self.least_rtt.0 as f64).ceil()
    }

    /// Pacing rate for that gain, bytes of payload per second.
    fn rate(&self, gain: f64) -> f64 {
        self.highest().min(self.short.bandwidth) * 1e9 * self.mss as f64 * gain * MARGIN
    }
}
