//! How far a flow's labels can be trusted: what its capture lacks, and what the labels lose by it.

mod sums;

use serde::Serialize;

use super::rows::Side;
use crate::flow::window::Scale;
use crate::flow::{Connection, Direction};
use crate::gap::Finished;

pub use self::sums::CaptureTrust;

/// The least that a round of a bulk transfer holds, segments (RFC 6928 §2: the initial window).
const ROUND: f64 = 10.0;
/// Rounds touched by missing data, as a share, from which on a flow is no longer trusted fully.
const SOME_ROUNDS: f64 = 0.01;
/// The same from which on it can hardly be trusted.
const MOST_ROUNDS: f64 = 0.5;

/// How far labels can be trusted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Nothing is missing that a label rests on.
    #[default]
    High,
    /// Some waits cannot be judged, or are judged by less than there could be.
    Medium,
    /// Most waits cannot be judged, or rest on guesses.
    Low,
}

impl Level {
    /// The word in the report.
    pub const fn name(self) -> &'static str {
        match self {
            Level::High => "high",
            Level::Medium => "medium",
            Level::Low => "low",
        }
    }
}

/// How an end's window scale is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ScaleKnown {
    /// By the handshake.
    Known,
    /// By how the other end's data filled the windows.
    Inferred,
    /// Not at all.
    Unknown,
}

impl ScaleKnown {
    /// The word in the report.
    pub const fn name(self) -> &'static str {
        match self {
            ScaleKnown::Known => "known",
            ScaleKnown::Inferred => "inferred",
            ScaleKnown::Unknown => "unknown",
        }
    }
}

/// One value for each end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Ends<T> {
    /// The client's.
    pub client: T,
    /// The server's.
    pub server: T,
}

impl<T> Ends<T> {
    fn of(value: impl Fn(Direction) -> T) -> Ends<T> {
        Ends { client: value(Direction::Client), server: value(Direction::Server) }
    }
}

/// What the capture lacks of a flow, and how far its labels can be trusted.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TrustRow {
    /// The worst that any of the reasons makes it.
    pub level: Level,
    /// Why it is not `high`, what weighs most first: `one-sided`, `handshake-missing`, `handshake-partial`, `scale-unknown`,
    /// `scale-inferred`, `options-cut`, `data-unseen`, `acks-unseen`, `packets-left-out`, `clock-stepped`, `vantage-unknown`.
    pub reasons: Vec<&'static str>,
    /// Where the capture was taken: `at the client`, `at the server`, `between the ends`, `not known where`.
    pub vantage: &'static str,
    /// `complete`; `partial` or `missing` where it is not in the capture; `unfinished` where the connection never came about.
    pub handshake: &'static str,
    /// Each end's window scale, by which the other's data is judged.
    pub window_scale: Ends<ScaleKnown>,
    /// Frames larger than a segment, which an end's offloading (TSO, GRO) had not split yet or had merged.
    pub offloaded_frames: Ends<u64>,
    /// Copies of packets that the capture or the network made.
    pub duplicates_removed: u64,
    /// Data that was acknowledged and is not in the capture, bytes.
    pub unseen_bytes: u64,
    /// Its share of all data, 0 to 1; `None` without data.
    pub unseen_share: Option<f64>,
    /// How often packets are stamped earlier than those before them by a millisecond or more: a clock was set back, or several
    /// interfaces were stored out of order.
    pub clock_steps: u64,
    /// Segments that the snap length cut inside their options.
    pub options_cut: u64,
    /// Only one end's packets are in the capture.
    pub one_sided: bool,
}

impl TrustRow {
    /// Of a flow whose capture was taken at `side`.
    pub(super) fn of(flow: &Finished, side: &str) -> TrustRow {
        let connection = flow.connection();
        let halves = &connection.halves;
        let unseen_bytes = halves.iter().map(|half| half.never_seen.max(0) as u64).sum();
        let mut row = TrustRow {
            level: Level::High,
            reasons: Vec::new(),
            vantage: place(side),
            handshake: handshake(connection),
            window_scale: Ends::of(|end| scale(flow, end)),
            offloaded_frames: Ends::of(|end| connection.half(end).offloaded),
            duplicates_removed: halves.iter().map(|half| half.copies).sum(),
            unseen_bytes,
            unseen_share: share(unseen_bytes, halves.iter().map(|half| half.bytes).sum()),
            clock_steps: flow.stamps().map_or(0, |stamps| stamps.steps),
            options_cut: connection.options_cut,
            one_sided: is_one_sided(connection),
        };
        row.judge(flow, side);
        row
    }

    fn judge(&mut self, flow: &Finished, side: &str) {
        let connection = flow.connection();
        if !has_data(connection) {
            // Nobody waited to send any, so there is no label that could suffer.
            return;
        }
        self.because(self.one_sided, "one-sided", Level::Low);
        // Without the beginning neither the congestion window nor the options are known.
        self.because(self.handshake == "missing", "handshake-missing", Level::Medium);
        self.because(self.handshake == "partial", "handshake-partial", Level::Medium);
        let scales = Direction::BOTH.map(|sender| (sender, scale(flow, sender.peer())));
        // What fits the smallest window that a field can mean is never limited by it; an initial window seldom exceeds one.
        let fills = |sender: Direction| {
            connection.half(sender).max_flight as f64 > ROUND * f64::from(connection.half(sender).mss())
        };
        let unknown = scales.iter().any(|(sender, known)| *known == ScaleKnown::Unknown && fills(*sender));
        self.because(unknown, "scale-unknown", Level::Low);
        self.because(scales.iter().any(|(_, known)| *known == ScaleKnown::Inferred), "scale-inferred", Level::Medium);
        // SACK blocks and timestamps are gone.
        self.because(self.options_cut > 0, "options-cut", Level::Medium);
        let touched = 1.0 - (1.0 - self.unseen_share.unwrap_or_default()).powf(ROUND);
        let level = if touched >= MOST_ROUNDS { Level::Low } else { Level::Medium };
        // One end alone shows none of the other's data, which is no hole.
        self.because(touched >= SOME_ROUNDS && !self.one_sided, "data-unseen", level);
        let unheard = flow.gaps.iter().flatten().any(|gap| gap.unseen.acks);
        self.because(unheard && !self.one_sided, "acks-unseen", Level::Medium);
        self.because(flow.incomplete(), "packets-left-out", Level::Medium);
        self.because(self.clock_steps > 0, "clock-stepped", Level::Medium);
        self.because(side == "unknown" && !self.one_sided, "vantage-unknown", Level::Medium);
    }

    fn because(&mut self, holds: bool, reason: &'static str, level: Level) {
        if holds {
            self.reasons.push(reason);
            self.level = self.level.max(level);
        }
    }
}

/// A part of seen and unseen bytes together.
fn share(unseen: u64, seen: u64) -> Option<f64> {
    (seen + unseen > 0).then(|| unseen as f64 / (seen + unseen) as f64)
}

/// Words for a side.
fn place(side: &str) -> &'static str {
    match Side::BOTH.into_iter().find(|end| end.name() == side) {
        Some(Side::Client) => "at the client",
        Some(Side::Server) => "at the server",
        None if side == "between" => "between the ends",
        None => "not known where",
    }
}

fn handshake(connection: &Connection) -> &'static str {
    let handshake = &connection.handshake;
    let came_about = has_data(connection) || connection.halves.iter().any(|half| half.fin.is_some());
    match (handshake.complete(), handshake.start().is_some()) {
        (true, _) => "complete",
        (false, true) if came_about => "partial",
        (false, true) => "unfinished",
        (false, false) => "missing",
    }
}

/// Data was sent, whether the capture holds it or not.
fn has_data(connection: &Connection) -> bool {
    connection.halves.iter().any(|half| half.bytes > 0 || half.never_seen > 0)
}

/// How the window scale of `end` is known.
fn scale(flow: &Finished, end: Direction) -> ScaleKnown {
    let judged_by_it = end.peer();
    if flow.connection().half(judged_by_it).peer_scale != Scale::Unknown {
        ScaleKnown::Known
    } else if flow.gaps[judged_by_it as usize].iter().any(|gap| gap.scale_inferred) {
        ScaleKnown::Inferred
    } else {
        ScaleKnown::Unknown
    }
}

/// One end acknowledges what the other never shows.
fn is_one_sided(connection: &Connection) -> bool {
    Direction::BOTH.into_iter().any(|end| !connection.has_spoken(end) && connection.half(end).started())
}
