//! Settles the frozen pauses of a flow that is over: each becomes a new value, with the facts that came after it and with what
//! the whole flow has shown of its path, of the tap's place, of disorder and of the clock.

mod coverage;
mod cut_short;
mod early_data;
mod scale;
mod scaled_syn;
mod some;
mod stamp_tick;
mod whole_burst;

use self::some::replace_some;
use super::burst::{Burst, Clump};
use super::evidence::Facts;
use super::evidence::slowest_ack::SlowestAck;
use super::evidence::unseen::Unseen;
use super::later::Later;
use crate::flow::tap::ack_arrival::AT_HOST;
use crate::flow::tap::clock_steps::ClockSteps;
use crate::flow::{Connection, End, Half};
use crate::time::Nanos;

/// Ratio of missing to captured data of a flow above which no silence in the flow is reliable.
const HARDLY_SEEN: i64 = 20;

/// Facts that a whole flow has shown, by which the pauses of one sender are settled.
pub(super) struct Shown<'a> {
    pub(super) connection: &'a Connection,
    pub(super) sender: End,
    /// Length below which pauses are not stalls.
    pub(super) threshold: Nanos,
    pub(super) clock_steps: Option<&'a ClockSteps>,
}

/// The pauses of one sender when its flow is over.
pub(super) struct Settled {
    /// Pauses in order of time, without those that turned out too short.
    pub(super) pauses: Vec<Facts>,
    /// Bursts before these pauses.
    pub(super) bursts: Vec<Burst>,
    /// Time in pauses that turned out too short, while the peer's window was full.
    pub(super) full_for: Nanos,
}

/// Settles the `frozen` pauses of one sender; `later` are facts about some of them, in the order of their numbers. The
/// bursts are listed in the memory of `bursts`.
pub(super) fn settle(frozen: Vec<Facts>, later: &[Later], shown: &Shown, bursts: Vec<Burst>) -> Settled {
    let (bursts, full_for) = joined(&frozen, shown, bursts);
    let whole = Whole::of(shown, &frozen, later);
    let (mut later, mut befores) = (later.iter().peekable(), bursts.iter().peekable());
    let (mut pauses, mut numbers) = (frozen, 0..);
    // The list is this function's own: a pause, which has a kilobyte, is settled where it lies.
    pauses.retain_mut(|pause| {
        let number = numbers.next();
        let later = later.next_if(|later| Some(later.pause) == number);
        if shown.is_short(pause) {
            return false;
        }
        if !pause.first {
            pause.before = befores.next().copied().unwrap_or_default();
        }
        pause.after = befores.peek().copied().copied().unwrap_or_default();
        let first_ack = later.and_then(|later| later.first_ack);
        if let Some(later) = later {
            let later = if whole.early_data { later.with_early_data() } else { *later };
            pause.unseen.early_data = whole.early_data && later.soon.is_some();
            *pause = later.added_to(pause.clone());
        }
        let distance = whole.distance(pause);
        if distance != pause.distance && !pause.held_up {
            *pause = pause.clone().with_tap_at(distance);
        }
        pause.unseen = whole.unseen(pause);
        pause.base_rtt = whole.connection.base_rtt_at(pause.end);
        if let Some(first) = first_ack {
            *pause = pause.clone().without_earlier_acks().with_first_ack(first);
        }
        pause.lost_before_tap = whole.lost_before_tap(pause);
        pause.left_together = whole.left_together(pause);
        if pause.left_together && whole.in_clumps {
            (pause.left_together, pause.unseen.misdated) = (false, true);
        }
        (pause.disorder, pause.jitter, pause.multipath) = (whole.disorder, whole.jitter, whole.multipath);
        pause.flight_unknown |= whole.hardly_seen;
        pause.overtaken = whole.overtaken(pause);
        if pause.unseen.blind && whole.inferred {
            *pause = pause.clone().with_whole_burst();
        }
        pause.unseen.placed_later |= pause.unseen.blind && whole.proven;
        pause.unseen.unplaced |= pause.unseen.placed_later || first_ack.is_some() && pause.peer_bytes == 0;
        true
    });
    let pauses = coverage::settle(pauses, shown.connection.has_spoken(shown.sender.peer()));
    let pauses = scale::settle(scaled_syn::settle(pauses));
    // Where flights fill the window, the windows were read at the wrong time too.
    let later = |pause: &Facts| pause.unseen.placed_later && !pause.scale_inferred && pause.closed.is_none();
    let pauses = replace_some(pauses, later, Facts::with_whole_burst);
    Settled { pauses: cut_short::settle(pauses), bursts, full_for }
}

/// Joins bursts over pauses that turned out too short: returns the burst before each of the others, and the time in the
/// short ones while the window was full.
fn joined(frozen: &[Facts], shown: &Shown, mut bursts: Vec<Burst>) -> (Vec<Burst>, Nanos) {
    bursts.reserve_exact(frozen.len());
    let (mut joined, mut full_for): (Option<Burst>, Nanos) = (None, Nanos::ZERO);
    for pause in frozen {
        let before = joined.take().map_or(pause.before, |earlier| join(&earlier, &pause.before));
        if shown.is_short(pause) {
            joined = Some(before);
            let full = pause.room_at_start.is_some_and(|room| room < i64::from(pause.mss.min(pause.before.last_frame)));
            full_for += if full { pause.duration() } else { Nanos::ZERO };
        } else if !pause.first {
            bursts.push(before);
        }
    }
    (bursts, full_for)
}

impl Shown<'_> {
    /// The first data came no later than the path of the handshake explains, although later answers took less: the route may
    /// have become shorter only after that.
    pub(super) fn is_as_in_handshake(&self, pause: &Facts) -> bool {
        let excess = self.connection.half(self.sender).vantage.shortest().opening_excess();
        let waited = pause.after_peer().unwrap_or(pause.duration());
        pause.first && excess + pause.tolerance() >= waited
    }

    /// Round trip of the path behind a relay near the tap that acknowledges for the server (RFC 3135 §2.4), where there may be one: the
    /// SYN-ACK took several times as long as later ACKs, and no answer came sooner than the SYN-ACK.
    pub(super) fn path_behind_relay(&self, pauses: &[Facts]) -> Option<Nanos> {
        let shortest = self.connection.half(self.sender).vantage.shortest();
        let beyond = shortest.opening_excess();
        let slower = beyond > RELAYED_BY && shortest.get().is_some_and(|least| beyond >= least.times(RELAYED));
        if !slower || self.sender != End::Server {
            return None;
        }
        let mut answers = pauses.iter().filter(|pause| pause.first || pause.is_turn()).filter_map(Facts::after_peer);
        answers.all(|span| span >= beyond.scaled(SOONEST)).then_some(beyond)
    }

    /// The server sent its SYN-ACK again after the client's request had passed the tap: neither the request nor the client's ACK had
    /// reached it, because either would have completed the handshake (RFC 9293 §3.10.7.4).
    pub(super) fn unasked_until(&self, pause: &Facts) -> Option<Nanos> {
        let again = self.connection.handshake.last_syn_ack.filter(|_| self.connection.handshake.syn_acks > 1);
        let inside = |at: &Nanos| pause.start() < *at && *at < pause.end;
        again.filter(|at| pause.first && self.sender == End::Server && inside(at))
    }

    /// The pause turned out too short for a pause: the bursts around it are one.
    fn is_short(&self, pause: &Facts) -> bool {
        pause.ended && !pause.first && pause.left_out.is_none() && pause.duration() <= self.threshold
    }
}

/// Multiple of the shortest ACK's time, and least time, by which the SYN-ACK took longer where a relay may acknowledge for a server:
/// a host that schedules late adds less.
const RELAYED: i64 = 2;
const RELAYED_BY: Nanos = Nanos::from_millis(1);
/// Share of the path's round trip that an answer takes at least: the SYN-ACK may have been a little late.
const SOONEST: f64 = 0.75;

/// The same facts, read once for all pauses.
struct Whole<'a> {
    connection: &'a Connection,
    half: &'a Half,
    clock_steps: Option<&'a ClockSteps>,
    /// Smallest distance of the tap to the sender.
    least: Option<Nanos>,
    base_rtt: Option<Nanos>,
    disorder: Nanos,
    jitter: Nanos,
    /// The clock of the stamps advances in steps of milliseconds.
    coarse: bool,
    /// The capture holds ACKs after the data that they released.
    early_data: bool,
    multipath: bool,
    hardly_seen: bool,
    /// The capture lacks packets of the flow, which has no timestamps.
    lacks_unstamped: bool,
    shared_ids: bool,
    /// The unknown distance of the tap made a difference: the tap is not at the sender.
    away: bool,
    inferred: bool,
    unplaced: bool,
    proven: bool,
    in_clumps: bool,
}

impl<'a> Whole<'a> {
    fn of(shown: &Shown<'a>, frozen: &[Facts], later: &[Later]) -> Whole<'a> {
        let connection = shown.connection;
        let half = connection.half(shown.sender);
        let (vantage, disorder) = (&half.vantage, connection.disorder());
        let step = stamp_tick::of(frozen, connection);
        Whole {
            connection,
            half,
            clock_steps: shown.clock_steps,
            least: connection.distances()[shown.sender],
            base_rtt: connection.base_rtt(),
            disorder,
            jitter: vantage.jitter().max(disorder).max(step),
            coarse: step > Nanos::ZERO,
            early_data: step == Nanos::ZERO && !connection.handshake.timestamps && early_data::is_shown(frozen, later),
            multipath: connection.handshake.is_multipath(),
            hardly_seen: half.never_seen / HARDLY_SEEN > half.bytes as i64,
            lacks_unstamped: !connection.handshake.timestamps
                && connection.halves.iter().any(|half| half.never_seen > 0),
            shared_ids: half.ip_id.is_shared(),
            away: vantage.get().is_some_and(|distance| distance > AT_HOST),
            inferred: vantage.was_inferred(),
            unplaced: vantage.get().is_none() || vantage.was_inferred(),
            proven: vantage.is_proven(),
            in_clumps: connection.is_stamped_late(),
        }
    }

    /// Distance of the tap to the sender at the end of the `pause`.
    fn distance(&self, pause: &Facts) -> Nanos {
        Nanos::later(self.half.vantage.at(pause.end), self.least).unwrap_or_default()
    }

    /// Packets that the capture lacks around the `pause`.
    fn unseen(&self, pause: &Facts) -> Unseen {
        Unseen {
            blind: pause.unseen.blind && self.away,
            unplaced: self.unplaced,
            misdated: self
                .clock_steps
                .is_some_and(|steps| steps.misdates(self.connection.originals(), pause.start(), pause.end)),
            coarse: self.coarse,
            perhaps_acks: self.lacks_unstamped,
            bare_acks: !self.half.bare_ack,
            ..pause.unseen
        }
    }

    /// Packets lost before the tap: where other connections share the counter of IP-IDs, only a hole shows any.
    fn lost_before_tap(&self, pause: &Facts) -> u32 {
        if self.shared_ids && pause.hole.is_none() { 0 } else { pause.lost_before_tap }
    }

    /// Disorder up to a round trip is what senders tolerate (RFC 8985 §6.2). The shortest round trip counts, because the
    /// held packets lengthen the others.
    fn overtaken(&self, pause: &Facts) -> Nanos {
        if self.base_rtt.is_none_or(|least| pause.overtaken <= least) { Nanos::ZERO } else { pause.overtaken }
    }

    /// By the sender's clock the data on both sides of the pause left within half of it.
    fn left_together(&self, pause: &Facts) -> bool {
        // Data that was sent again inside the pause has a later stamp than the data before the pause.
        let known = !pause.first && pause.retransmissions == 0 && pause.probes == 0;
        let ticks = pause.stamps_apart.filter(|_| known);
        let apart = ticks.and_then(|ticks| self.half.vantage.tsval_clock.span(ticks));
        apart.is_some_and(|span| span + span <= pause.duration())
    }
}

impl Facts {
    /// The pause corrected for the tap's `distance`, which turned out to differ from the one known when the pause was
    /// frozen: ACKs inside the pause reached the sender later or earlier.
    pub(super) fn with_tap_at(self, distance: Nanos) -> Facts {
        let shift = distance - self.distance;
        if shift == Nanos::ZERO {
            return self;
        }
        let end = self.end;
        let moved = |time: Nanos| (time + shift).min(end);
        let start = self.start();
        let before = self.unseen.passed.map(moved).filter(|time| *time > start);
        Facts {
            distance,
            held: (self.held - shift.or_zero()).or_zero(),
            last_ack: self.last_ack.map(moved).or(before),
            acks: self.acks.max(u32::from(before.is_some())),
            last_hint: self.last_hint.map(moved),
            all_acked: self.all_acked.map(moved),
            room_since: self.room_since.map(moved),
            message_at: self.message_at.map(moved),
            closed: self.closed.map(moved),
            reopened: self.reopened.map(moved),
            hole: self.hole.map(|hole| hole.moved(moved)),
            recovered: self.recovered.map(|recovered| Box::new(recovered.moved(moved))),
            ..self
        }
    }
}

impl Facts {
    /// The pause, settled with the tap's distance, without the ACKs that had reached the sender before it began.
    fn without_earlier_acks(self) -> Facts {
        if self.acks == 0 || self.last_ack.is_none_or(|last| last > self.start()) {
            return self;
        }
        let segments = (self.acked as u64).div_ceil(u64::from(self.mss.max(1))) as u32;
        let held = self.segments_at_start.saturating_sub(segments);
        Facts {
            acks: 0,
            slowest_ack: SlowestAck::default(),
            acked: 0,
            acked_in_time: 0,
            last_ack: None,
            last_ack_packet: None,
            all_acked: None,
            room_since: None,
            flight_at_start: (self.flight_at_start - self.acked).max(0),
            segments_at_start: held,
            segments_held: held,
            let_pass: 0,
            room_at_start: self.room_at_start.map(|room| room + self.acked),
            room_held: self.room_at_start.map(|room| room + self.acked),
            ..self
        }
    }
}

fn join(earlier: &Burst, later: &Burst) -> Burst {
    let (before, after) = (earlier.clump, later.clump);
    let silence = (later.start - earlier.end).max(before.longest_silence);
    let clump = Clump {
        count: before.count + after.count,
        longest_silence: after.longest_silence.max(silence),
        first_bytes: before.first_bytes,
        ..after
    };
    Burst {
        clump,
        acks: earlier.acks + later.acks,
        start: earlier.start,
        bytes: earlier.bytes + later.bytes,
        frames: earlier.frames + later.frames,
        first_frame: earlier.first_frame,
        first_pushed: earlier.first_pushed,
        ..*later
    }
}
