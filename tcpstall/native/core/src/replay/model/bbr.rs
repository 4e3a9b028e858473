//! BBR: paces by the highest delivery rate and the shortest round trip that it measured (BBR version 1, Cardwell and
//! others, "BBR: Congestion-Based Congestion Control", 2016; Linux tcp_bbr.c).

use std::collections::VecDeque;

use super::delivery::{Delivery, RateSample};
use crate::time::Nanos;

/// Gain of startup: 2 / ln 2, the smallest that doubles the rate each round trip (bbr_high_gain).
const STARTUP: f64 = 2_885.0 / 1_000.0;
/// Gain that empties the queue of startup within a round trip (bbr_drain_gain).
const DRAIN: f64 = 1_000.0 / 2_885.0;
/// Gain of the window while the bandwidth is probed (bbr_cwnd_gain).
const WINDOW: f64 = 2.0;
/// Gains of the eight phases of a cycle, a round trip each (bbr_pacing_gain).
const CYCLE: [f64; 8] = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
/// Phase in which a replay begins the cycle; Linux throws dice among all but the second.
const FIRST_PHASE: usize = 2;
/// Growth of the bandwidth below which a round trip has found nothing new (bbr_full_bw_thresh).
const FULL: f64 = 1.25;
/// Such round trips that end startup (bbr_full_bw_cnt).
const FULL_ROUNDS: u32 = 3;
/// Round trips over which the highest bandwidth counts (bbr_bw_rtts).
const MEMORY: u64 = 10;
/// Age of the shortest round trip from which it is measured anew (bbr_min_rtt_win_sec).
const OLD: Nanos = Nanos::from_millis(10_000);
/// Time with the smallest window that measures it (bbr_probe_rtt_mode_ms).
const PROBE: Nanos = Nanos::from_millis(200);
/// The smallest window, segments (bbr_cwnd_min_target).
const LEAST: f64 = 4.0;
/// Deliveries below which startup's window grows whatever its target, segments (TCP_INIT_CWND).
const BEGINNING: u64 = 10;
/// Share of the measured rate that is used: a queue never stands for good (bbr_pacing_margin_percent).
const MARGIN: f64 = 0.99;
/// Frames of a pacing quantum beyond the target that a host may hold (bbr_quantization_budget).
const QUANTA: f64 = 3.0;
/// Duration of a pacing quantum, as a share of a second (sk_pacing_shift).
const QUANTUM: f64 = 1_024.0;
/// Smallest quantum, segments (bbr_min_tso_segs).
const LEAST_QUANTUM: f64 = 2.0;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Startup,
    Drain,
    Cruise,
    ProbeRtt,
}

/// Repair of losses, as far as the window depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Losses {
    Open,
    /// A fast recovery has begun, and no acknowledgement has arrived since.
    Begun,
    /// For a round trip the window holds no more than what is delivered.
    Conserves,
    Repairs,
}

/// An acknowledgement.
#[derive(Clone, Copy, Debug)]
pub(super) struct Delivered {
    pub(super) now: Nanos,
    pub(super) segments: u32,
    /// Segments newly known to be lost.
    pub(super) lost: u32,
    pub(super) in_flight: u32,
    pub(super) sample: Option<Nanos>,
    /// Losses are still being repaired.
    pub(super) repairs: bool,
}

/// State of one sender.
#[derive(Clone, Debug)]
pub(super) struct Bbr {
    pub(super) delivery: Delivery,
    mode: Mode,
    losses: Losses,
    window: f64,
    /// Window before a repair or before the shortest round trip was measured.
    before: f64,
    pacing: f64,
    pace: f64,
    /// Highest bandwidths of the last round trips, falling.
    highest: VecDeque<(u64, f64)>,
    rounds: u64,
    round_until: u64,
    full: f64,
    full_rounds: u32,
    phase: usize,
    phase_began: Nanos,
    least_rtt: Nanos,
    least_at: Nanos,
    probe_until: Option<(Nanos, u64)>,
    restarts: bool,
    mss: i64,
}

impl Bbr {
    /// A new connection whose handshake took `rtt`.
    pub(super) fn new(initial: u32, rtt: Nanos, mss: i64) -> Bbr {
        let mut bbr = Bbr {
            delivery: Delivery::default(),
            mode: Mode::Startup,
            losses: Losses::Open,
            window: f64::from(initial),
            before: 0.0,
            pacing: STARTUP,
            pace: 0.0,
            highest: VecDeque::new(),
            rounds: 0,
            round_until: 0,
            full: 0.0,
            full_rounds: 0,
            phase: 0,
            phase_began: Nanos::ZERO,
            least_rtt: rtt,
            least_at: Nanos::ZERO,
            probe_until: None,
            restarts: false,
            mss,
        };
        bbr.pace = bbr.rate(f64::from(initial) / rtt.0.max(1) as f64, STARTUP);
        bbr
    }

    /// The same connection used once more, all of whose data had arrived.
    pub(super) fn again(mut self) -> Bbr {
        (self.phase_began, self.least_at, self.probe_until) = (Nanos::ZERO, Nanos::ZERO, None);
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

    /// Takes in a write that begins with `in_flight` segments outstanding and nothing unsent.
    pub(super) fn writes(&mut self, in_flight: u32, now: Nanos) {
        if in_flight == 0 && self.delivery.limited() {
            // bbr_cwnd_event: a restart after idle sends at the measured rate.
            self.restarts = true;
            self.phase_began = now;
            if self.mode == Mode::Cruise {
                self.pace = self.rate(self.bandwidth(), 1.0);
            }
        }
        if in_flight < self.segments() {
            self.delivery.is_limited(in_flight);
        }
    }

    /// Takes in that a fast recovery begins.
    pub(super) fn on_loss(&mut self) {
        if self.losses == Losses::Open {
            self.saves();
        }
        self.losses = Losses::Begun;
    }

    /// Takes in a timeout: the window begins anew, and so does the search for the full bandwidth.
    pub(super) fn on_timeout(&mut self) {
        if self.losses == Losses::Open {
            self.saves();
        }
        self.losses = Losses::Repairs;
        self.window = 1.0;
        self.full = 0.0;
    }

    fn saves(&mut self) {
        let known = if self.mode == Mode::ProbeRtt { self.before } else { 0.0 };
        self.before = known.max(self.window);
    }

    /// Takes in an acknowledgement, with the rate that it shows (bbr_main).
    pub(super) fn on_ack(&mut self, ack: &Delivered, sample: RateSample) {
        let round = self.measures(sample);
        self.advances(ack);
        if round && !sample.limited {
            self.is_full();
        }
        let full = self.full_rounds >= FULL_ROUNDS;
        if self.mode == Mode::Startup && full {
            self.mode = Mode::Drain;
        }
        if self.mode == Mode::Drain && f64::from(ack.in_flight) <= self.product(1.0) {
            self.cruises(ack.now);
        }
        self.shortest(ack, round, full);
        self.pacing = match self.mode {
            Mode::Startup => STARTUP,
            Mode::Drain => DRAIN,
            Mode::Cruise => CYCLE[self.phase],
            Mode::ProbeRtt => 1.0,
        };
        let rate = self.rate(self.bandwidth(), self.pacing);
        if full || rate > self.pace {
            self.pace = rate;
        }
        self.resizes(ack, full);
    }

    /// Takes in a sample; true if it starts a round trip.
    fn measures(&mut self, sample: RateSample) -> bool {
        let Some(rate) = sample.rate else { return false };
        let round = sample.prior >= self.round_until;
        if round {
            self.round_until = self.delivery.delivered;
            self.rounds += 1;
            if self.losses == Losses::Conserves {
                self.losses = Losses::Repairs;
            }
        }
        if !sample.limited || rate >= self.bandwidth() {
            while self.highest.back().is_some_and(|(_, lower)| *lower <= rate) {
                self.highest.pop_back();
            }
            self.highest.push_back((self.rounds, rate));
        }
        while self.highest.len() > 1 && self.highest.front().is_some_and(|(round, _)| *round + MEMORY < self.rounds) {
            self.highest.pop_front();
        }
        round
    }

    /// Segments per nanosecond.
    fn bandwidth(&self) -> f64 {
        self.highest.front().map_or(0.0, |(_, rate)| *rate)
    }

    /// The next phase of the cycle, when this one has lasted a round trip and done its work.
    fn advances(&mut self, ack: &Delivered) {
        if self.mode != Mode::Cruise {
            return;
        }
        let whole = ack.now - self.phase_began > self.least_rtt;
        let in_flight = f64::from(ack.in_flight + ack.segments);
        let over = match CYCLE[self.phase] {
            gain if gain > 1.0 => whole && (ack.lost > 0 || in_flight >= self.target(gain)),
            gain if gain < 1.0 => whole || in_flight <= self.target(1.0),
            _ => whole,
        };
        if over {
            self.phase = (self.phase + 1) % CYCLE.len();
            self.phase_began = ack.now;
        }
    }

    fn is_full(&mut self) {
        let highest = self.bandwidth();
        if self.full_rounds >= FULL_ROUNDS {
            return;
        }
        if highest >= FULL * self.full {
            (self.full, self.full_rounds) = (highest, 0);
        } else {
            self.full_rounds += 1;
        }
    }

    fn cruises(&mut self, now: Nanos) {
        (self.mode, self.phase, self.phase_began) = (Mode::Cruise, FIRST_PHASE, now);
    }

    /// Keeps the shortest round trip, and measures an old one anew with the smallest window (bbr_update_min_rtt).
    fn shortest(&mut self, ack: &Delivered, round: bool, full: bool) {
        let old = ack.now - self.least_at > OLD;
        if let Some(sample) = ack.sample.filter(|sample| *sample <= self.least_rtt || old) {
            (self.least_rtt, self.least_at) = (sample, ack.now);
        }
        if old && !self.restarts && self.mode != Mode::ProbeRtt {
            self.saves();
            (self.mode, self.probe_until) = (Mode::ProbeRtt, None);
        }
        if self.mode == Mode::ProbeRtt {
            match self.probe_until {
                None if f64::from(ack.in_flight) <= LEAST => {
                    self.probe_until = Some((ack.now + PROBE, self.delivery.delivered));
                    self.round_until = self.delivery.delivered;
                }
                Some((until, _)) if round && ack.now >= until => {
                    self.least_at = ack.now;
                    self.window = self.window.max(self.before);
                    self.mode = Mode::Startup;
                    if full {
                        self.cruises(ack.now);
                    }
                }
                _ => {}
            }
        }
        self.restarts = false;
    }

    /// The window after an acknowledgement (bbr_set_cwnd).
    fn resizes(&mut self, ack: &Delivered, full: bool) {
        let (segments, in_flight) = (f64::from(ack.segments), f64::from(ack.in_flight));
        self.window = (self.window - f64::from(ack.lost)).max(1.0);
        if self.losses == Losses::Begun {
            self.losses = Losses::Conserves;
            self.round_until = self.delivery.delivered;
            self.window = in_flight + segments;
        } else if !ack.repairs && self.losses != Losses::Open {
            self.losses = Losses::Open;
            self.window = self.window.max(self.before);
        }
        if self.losses == Losses::Conserves {
            self.window = self.window.max(in_flight + segments);
        } else {
            let gain = if self.mode == Mode::Cruise { WINDOW } else { STARTUP };
            let target = self.target(if self.mode == Mode::ProbeRtt { 1.0 } else { gain });
            if full {
                self.window = (self.window + segments).min(target);
            } else if self.window < target || self.delivery.delivered < BEGINNING {
                self.window += segments;
            }
            self.window = self.window.max(LEAST);
        }
        if self.mode == Mode::ProbeRtt {
            self.window = self.window.min(LEAST);
        }
    }

    /// Bandwidth-delay product times `gain`, segments.
    fn product(&self, gain: f64) -> f64 {
        (gain * self.bandwidth() * self.least_rtt.0 as f64).ceil()
    }

    /// Segments in flight for that gain.
    fn target(&self, gain: f64) -> f64 {
        let even = target(self.product(gain), self.pace, self.mss);
        if self.mode == Mode::Cruise && self.phase == 0 { even + 2.0 } else { even }
    }

    /// Pacing rate for that bandwidth, bytes of payload per second.
    fn rate(&self, bandwidth: f64, gain: f64) -> f64 {
        bandwidth * 1e9 * self.mss as f64 * gain * MARGIN
    }
}

/// Segments in flight for a bandwidth-delay product, with what the hosts hold of frames (bbr_inflight).
pub(super) fn target(product: f64, pace: f64, mss: i64) -> f64 {
    let quantum = (pace / QUANTUM / mss.max(1) as f64).floor().max(LEAST_QUANTUM);
    ((product + QUANTA * quantum) / 2.0).ceil() * 2.0
}
