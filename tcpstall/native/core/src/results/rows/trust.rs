//! Trust in a flow's labels: what its capture lacks, and how much the labels lose by it.

use crate::flow::half::window::Scale;
use crate::flow::{Connection, End};
use crate::json::{Print, Row, Text, named, row};
use crate::pause::{Finished, Pauses};
use crate::words::words;

/// Smallest round of a bulk transfer, segments (RFC 6928 §2: the initial window).
const ROUND: f64 = 10.0;
/// Share of rounds with missing data from which trust is at most medium.
const SOME_ROUNDS: f64 = 0.01;
/// Share of rounds with missing data from which trust is low.
const MOST_ROUNDS: f64 = 0.5;

/// Level of trust in labels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum TrustLevel {
    /// Nothing that a label rests on is missing.
    #[default]
    High,
    /// Some waits cannot be judged, or are judged by less evidence than usual.
    Medium,
    /// Most waits cannot be judged, or rest on guesses.
    Low,
}

impl TrustLevel {
    /// Name in the report.
    pub const fn name(self) -> &'static str {
        match self {
            TrustLevel::High => "high",
            TrustLevel::Medium => "medium",
            TrustLevel::Low => "low",
        }
    }
}

words! {
    /// Reason why trust in a flow's labels is not high, the gravest first.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Reason {
        /// Only one end's packets are there: neither round trips nor windows are known.
        OneSided = "one-sided",
        /// The capture begins after the handshake: congestion window, MSS and options are unknown.
        HandshakeMissing = "handshake-missing",
        /// The capture lacks part of the handshake.
        HandshakePartial = "handshake-partial",
        /// More than ten segments were in flight against a window of unknown scale.
        ScaleUnknown = "scale-unknown",
        /// The window scale is inferred from flights that filled the window.
        ScaleInferred = "scale-inferred",
        /// The snap length cut TCP options: no SACK, no timestamps.
        OptionsCut = "options-cut",
        /// Acknowledged data is missing.
        DataUnseen = "data-unseen",
        /// More was in flight than the windows allow that the SYNs scale: ACKs are missing, or a middlebox changed a SYN.
        WindowOverrun = "window-overrun",
        /// Data was never acknowledged nor sent again: its ACKs are not in the capture.
        AcksUnseen = "acks-unseen",
        /// A paste leaves packets out.
        PacketsLeftOut = "packets-left-out",
        /// Packets are stamped earlier than those before them.
        ClockStepped = "clock-stepped",
        /// No round trip shows which ACK reached the sender before which data.
        VantageUnknown = "vantage-unknown",
    }
}

/// Source of an end's window scale.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScaleKnown {
    /// The handshake.
    Known,
    /// Inferred from the other end's data, which filled the windows.
    Inferred,
    /// Unknown.
    Unknown,
}

impl ScaleKnown {
    /// Name in the report.
    pub const fn name(self) -> &'static str {
        match self {
            ScaleKnown::Known => "known",
            ScaleKnown::Inferred => "inferred",
            ScaleKnown::Unknown => "unknown",
        }
    }
}

/// One value for each end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ends<T> {
    /// The client's.
    pub client: T,
    /// The server's.
    pub server: T,
}

named!(TrustLevel, ScaleKnown);

impl<T: Print> Row for Ends<T> {
    fn fields(&self, text: &mut Text<'_>, opening: u8) {
        row!(@first self.client, text, opening);
        row!(@field self.server, text);
    }
}

impl<T> Ends<T> {
    fn of(value: impl Fn(End) -> T) -> Ends<T> {
        Ends { client: value(End::Client), server: value(End::Server) }
    }
}

row! {
    /// Parts of a flow that the capture lacks, and the trust in its labels.
    #[derive(Clone, Debug, PartialEq)]
    pub struct TrustRow {
        /// The lowest level of all reasons.
        pub level: TrustLevel,
        /// Names of the reasons why the level is not `high`, in the order of [`Reason::ALL`].
        pub reasons: Vec<&'static str>,
        /// Place where the capture was taken: `at the client`, `at the server`, `between the ends`, `not known where`.
        pub vantage: &'static str,
        /// `complete`; `partial` or `missing` where it is not in the capture; `unfinished` where the connection was never
        /// established.
        pub handshake: &'static str,
        /// Source of each end's window scale, by which the other end's data is judged.
        pub window_scale: Ends<ScaleKnown>,
        /// Frames larger than a segment, which an end's offloading (TSO, GRO) had not split yet or had merged.
        pub offloaded_frames: Ends<u64>,
        /// Copies of packets that the capture or the network made.
        pub duplicates_removed: u64,
        /// Acknowledged data that is not in the capture, bytes.
        pub unseen_bytes: u64,
        /// Share of that in all data, 0 to 1; `None` without data.
        pub unseen_share: Option<f64>,
        /// Number of packets stamped earlier than those before them by a millisecond or more: a clock was set back, or
        /// several interfaces were stored out of order.
        pub clock_steps: u64,
        /// Segments that the snap length cut inside their options.
        pub options_cut: u64,
        /// The capture has only one end's packets.
        pub one_sided: bool,
    }
}

impl TrustRow {
    /// Trust in a flow whose capture was taken at `side`.
    pub(in super::super) fn of(flow: &Finished, side: &str) -> TrustRow {
        let connection = flow.connection();
        let halves = &connection.halves;
        let unseen_bytes = halves.iter().map(|half| half.never_seen.max(0) as u64).sum();
        let mut row = TrustRow {
            level: TrustLevel::High,
            reasons: Vec::new(),
            vantage: place(side),
            handshake: handshake(connection),
            window_scale: Ends::of(|end| scale(flow, end)),
            offloaded_frames: Ends::of(|end| connection.half(end).offloaded),
            duplicates_removed: halves.iter().map(|half| half.copies).sum(),
            unseen_bytes,
            unseen_share: share(unseen_bytes, halves.iter().map(|half| half.bytes).sum()),
            clock_steps: flow.clock_steps().map_or(0, |clock| clock.steps),
            options_cut: connection.options_cut,
            one_sided: is_one_sided(connection),
        };
        row.judge(flow, side);
        row
    }

    fn judge(&mut self, flow: &Finished, side: &str) {
        let connection = flow.connection();
        if !has_data(connection) {
            // Nobody waited to send, so there is no label that could suffer.
            return;
        }
        self.because(self.one_sided, Reason::OneSided, TrustLevel::Low);
        // Without the beginning neither the congestion window nor the options are known.
        self.because(self.handshake == "missing", Reason::HandshakeMissing, TrustLevel::Medium);
        self.because(self.handshake == "partial", Reason::HandshakePartial, TrustLevel::Medium);
        let scales = End::BOTH.map(|sender| (sender, scale(flow, sender.peer())));
        // A flight that fits the smallest window that a field can mean is never limited by it; an initial window seldom
        // exceeds that.
        let fills =
            |sender: End| connection.half(sender).max_flight as f64 > ROUND * f64::from(connection.half(sender).mss());
        let unknown = scales.iter().any(|(sender, known)| *known == ScaleKnown::Unknown && fills(*sender));
        self.because(unknown, Reason::ScaleUnknown, TrustLevel::Low);
        self.because(
            scales.iter().any(|(_, known)| *known == ScaleKnown::Inferred),
            Reason::ScaleInferred,
            TrustLevel::Medium,
        );
        // SACK blocks and timestamps were cut off.
        self.because(self.options_cut > 0, Reason::OptionsCut, TrustLevel::Medium);
        let unseen = self.unseen_share.unwrap_or_default();
        let touched = if unseen > 0.0 { 1.0 - (1.0 - unseen).powf(ROUND) } else { 0.0 };
        let level = if touched >= MOST_ROUNDS { TrustLevel::Low } else { TrustLevel::Medium };
        // With one end only, the other end's data is missing by nature, not by a hole.
        self.because(touched >= SOME_ROUNDS && !self.one_sided, Reason::DataUnseen, level);
        let unheard = flow.over.iter().flatten().any(|over| over.unheard);
        let (unheard, overrun) =
            flow.pauses.iter().flat_map(Pauses::iter).fold((unheard, false), |(unheard, overrun), pause| {
                (unheard | pause.unseen.acks, overrun | pause.unseen.overrun)
            });
        self.because(overrun && !self.one_sided, Reason::WindowOverrun, TrustLevel::Medium);
        self.because(unheard && !self.one_sided, Reason::AcksUnseen, TrustLevel::Medium);
        self.because(flow.incomplete(), Reason::PacketsLeftOut, TrustLevel::Medium);
        self.because(self.clock_steps > 0, Reason::ClockStepped, TrustLevel::Medium);
        self.because(side == "unknown" && !self.one_sided, Reason::VantageUnknown, TrustLevel::Medium);
    }

    fn because(&mut self, holds: bool, reason: Reason, level: TrustLevel) {
        if holds {
            self.reasons.push(reason.name());
            self.level = self.level.max(level);
        }
    }
}

/// Share of unseen bytes in all bytes.
pub(in super::super) fn share(unseen: u64, seen: u64) -> Option<f64> {
    let part = || if unseen == 0 { 0.0 } else { unseen as f64 / (seen + unseen) as f64 };
    (seen + unseen > 0).then(part)
}

/// Words for a side in the report.
fn place(side: &str) -> &'static str {
    match End::BOTH.into_iter().find(|end| end.name() == side) {
        Some(End::Client) => "at the client",
        Some(End::Server) => "at the server",
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

/// Data was sent, whether or not the capture holds it.
fn has_data(connection: &Connection) -> bool {
    connection.halves.iter().any(|half| half.bytes > 0 || half.never_seen > 0)
}

/// Source of the window scale of `end`.
fn scale(flow: &Finished, end: End) -> ScaleKnown {
    let judged_by_it = end.peer();
    if flow.connection().half(judged_by_it).peer_scale != Scale::Unknown {
        ScaleKnown::Known
    } else if flow.pauses[judged_by_it].iter().any(|pause| pause.scale_inferred) {
        ScaleKnown::Inferred
    } else {
        ScaleKnown::Unknown
    }
}

/// One end acknowledges data that the capture lacks altogether.
fn is_one_sided(connection: &Connection) -> bool {
    End::BOTH.into_iter().any(|end| !connection.has_spoken(end) && connection.half(end).started())
}
