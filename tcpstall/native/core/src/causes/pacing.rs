//! `pacing` — the sender spaced its segments out on purpose.
//!
//! Rule      the pause follows a full segment, no ACK or payload of the peer ends it, and bytes ÷ time make the same rate (± 15 %)
//!           over at least {pace_agreement} of the sender's pauses and {pace_share} of them (at the sender, for such a frame as
//!           below: of those without a repair); or over the many spacings of the burst before it that were too short to be pauses.
//!           Away from the sender, with nothing left in flight, silences of a small part of the pause lie within what left before
//!           it: the path delivered that in pieces.
//!           With nothing left in flight what left before the last clump must not have left three times as fast, and the bursts on
//!           both sides must not both end with PSH, unless they are as large as the frames that Linux cuts at that rate, or the
//!           sender rests in proportion to bursts of whole segments of different sizes; segments that all carry it are writes,
//!           whatever is in flight. Not where silences have one length, however much was sent before them, and it was no such
//!           frame: that is an application's beat. The first rest of a pace, longer than an answer of the path takes, may be
//!           shorter than the others: Linux makes up for a part of it. Or, at the sender, more was queued, as missing PSH shows,
//!           both windows had room, and whole segments followed at no ACK: then no rate is needed. Away from the sender not after
//!           more than two segments, 10 ms and more apart, unless they are such a frame or such a burst
//! Evidence  `burst_bytes`, the pause's length
//! Source    Linux SO_MAX_PACING_RATE, sch_fq, `tcp_internal_pacing`, `tcp_tso_autosize`; BBR; FreeBSD `tcp_hpts`,
//!           `rack_get_pacing_delay`
//! Abstains  too few pauses to see a rate, where PSH does not show more data, ACKs that the capture lacks, or a report of a loss
//!           that let the data go at once: then it says no. Never sure without a rate: a file that is handed over in pieces without
//!           marks (`sendfile`, MSG_MORE) looks the same; nor away from a sender without timestamps: a slow link spaces segments as
//!           evenly; nor at the sender where the data left at once at an ACK, as in many waits; if most are so, it says no: the ACKs of
//!           a slow link come at its rate
//! Looks like `app-limited` (a pause after a sub-MSS segment, or writes of whole segments at an even beat), `sndbuf-limited` (each pause ends at an ACK)

use super::cause::Cause;
use super::limits::Limits;
use super::rule::{Missing, Rule, Verdict, yes};
use crate::pause::Pause;
use crate::sender::cwnd::INITIAL_WINDOW;
use crate::time::Nanos;

pub(super) const RULE: Rule = Rule { cause: Cause::Pacing, judge };

/// Share of pauses that end at an ACK, from which the sender waits for ACKs.
const CLOCKED: f64 = 0.7;

/// The same of a pause that itself ended at once at an ACK, at the sender.
const BY_HALF: f64 = 0.5;

/// Share of pauses that end at an ACK, below which the ACKs come then by chance.
const SELDOM: f64 = 0.3;

/// Other pauses of the same rate that are no accident.
const MANY: u32 = 8;

/// Segments of the largest burst of a slow pace.
pub(super) const MOST: u64 = 2;
/// Pause from which a pace is slow: far above the millisecond whose data a faster pace sends at once.
pub(super) const A_BURST: Nanos = Nanos::from_millis(10);

/// Even pauses in a row that are no accident.
const KEPT: u32 = 16;

fn judge(pause: &Pause, limits: &Limits) -> Verdict {
    match at_a_rate(pause, limits) {
        Verdict::No if kept_back(pause) => {
            yes("", if pause.context.pace_agreement >= limits.pace_agreement { 0.75 } else { NO_RATE })
        }
        other => other,
    }
}

/// Bytes and pauses make the same rate.
fn at_a_rate(pause: &Pause, limits: &Limits) -> Verdict {
    let context = &pause.context;
    let nothing_out = pause.left_in_flight == 0;
    let in_proportion = nothing_out && context.in_proportion;
    let cut_by_pace = || is_cut_by_pace(pause, limits);
    let writes = || nothing_out && !in_proportion && !cut_by_pace() || are_writes(pause);
    if pause.before.pushed && pause.after.pushed && writes() {
        // A host that cuts a pace from a longer write marks only the write's last segment (RFC 9293 §3.9.1.2).
        return Verdict::No;
    }
    // Pauses this even leave no room for jitter: any variation lies in the delay of the sender after an ACK.
    let at_once = pause.after_ack().is_some_and(|span| span <= pause.tolerance() - pause.jitter);
    if context.kept_pace >= KEPT && !at_once && !pause.released_unseen() {
        // Without timestamps nobody sees away from the sender whether a slow link spaced the segments out.
        let departures = pause.near_sender() || pause.stamps_apart.is_some();
        return yes("", if departures { 0.8 } else { 0.7 });
    }
    // A report of a loss that lets queued data go at once makes room in the congestion window (RFC 6675 §5).
    if context.beat || pause.released_by_report() {
        return Verdict::No;
    }
    // The ACKs of a slow link come as evenly. At the sender, what left at once at an ACK met it by chance in few waits.
    let met = pause.near_sender() && pause.released_at_once();
    let clocked = if met { BY_HALF } else { CLOCKED };
    // Without a known MSS a chunk of the application's data looks like a full segment.
    if !pause.mss_known || context.pace.is_none() || context.released_share > clocked {
        return Verdict::No;
    }
    // An ACK that the capture lacks may have let the data go.
    if pause.unseen.acks || pause.unseen.bare_acks {
        return Verdict::No;
    }
    let share = |candidates: u32| {
        f64::from(context.pace_agreement) >= limits.pace_share * f64::from(candidates.saturating_sub(1))
    };
    // What is sent again leaves in frames of other sizes.
    let between_repairs = || pause.near_sender() && share(context.calm_candidates) && cut_by_pace();
    let agreed = context.pace_agreement >= limits.pace_agreement
        && (share(context.pace_candidates) || in_proportion || between_repairs());
    // Away from the sender the path's own jitter may produce the even spacing; a full congestion window would have held
    // the sender too.
    let alone = pause.segments_held < pause.cwnd;
    // A kernel that paces this slowly sends smaller bursts (Linux `tcp_tso_autosize`: a millisecond's data, two segments at least),
    // except on a short path.
    let large = pause.before.clump.bytes > MOST * u64::from(pause.mss)
        && pause.duration() > A_BURST
        && !(nothing_out && (in_proportion || cut_by_pace()));
    match (agreed, pause.near_sender()) {
        (false, _) => Verdict::No,
        // Away from the sender a window that hardly grows does the same, once a round trip.
        (true, false) if large => Verdict::No,
        // A flight beyond the initial window may fill a window that nobody knows.
        (true, false) if !pause.from_start && pause.segments_at_start > INITIAL_WINDOW => {
            Verdict::CannotTell(Missing::START)
        }
        // A writer's few even pauses may be chance, and writes of less than a segment fill segments up at an even rate.
        (true, true) if context.pace_agreement < MANY || context.small_writes => yes("", 0.75),
        // Larger ones may be an application's writes.
        (true, true) if large => yes("", 0.75),
        (true, true) if met && context.released_share > SELDOM => yes("", 0.75),
        (true, true) => yes("", if alone { 0.9 } else { 0.85 }),
        (true, false) => yes("", 0.75),
    }
}

/// More was queued, both windows had room, and no ACK let it go: at the sender nothing but its own timer holds data back then.
/// Where that timer lets most of the data go, some of it meets an ACK.
fn kept_back(pause: &Pause) -> bool {
    // Where the path is unknown, so is the place of the tap.
    let at_sender = pause.near_sender() && pause.rtt() > Nanos::ZERO && !pause.multipath;
    let queued = pause.in_mid_write() || pause.cut_short;
    // A host keeps less than a segment back for its own reasons (RFC 896).
    let goes_on = pause.ended && queued && pause.peer_bytes == 0 && pause.after.first_frame >= pause.mss;
    let seen = pause.unseen.is_nothing() && !pause.acks_lost && !pause.flight_unknown;
    let open = pause.has_room() == Some(true) && pause.closed.is_none();
    let calm = !pause.recovering && pause.retransmissions == 0 && pause.loss_hints == 0 && pause.hole.is_none();
    let context = &pause.context;
    let most = if context.on_beat { CLOCKED } else { SELDOM };
    let by_chance = context.pace.is_some() && context.released_share <= most;
    at_sender && goes_on && seen && open && calm && (pause.left_by_itself() || by_chance)
}

/// Confidence without a rate: a file that is handed over in pieces without marks (`sendfile`, MSG_MORE) looks the same.
const NO_RATE: f32 = 0.6;

/// Bursts leave at one rate again and again, each as large as the frame that Linux cuts at that rate: no application knows that size.
/// Linux sets PSH on each frame of several segments (`__tcp_transmit_skb`).
fn is_cut_by_pace(pause: &Pause, limits: &Limits) -> bool {
    let agreed = pause.context.pace_agreement >= limits.pace_agreement;
    agreed && pause.context.pace.is_some_and(|pace| pause.context.first_rest || pause.is_paced_frame(pace))
}

/// Each segment on both sides carried PSH. With several segments to a mark it may be that of a larger write, or of half
/// the window (Linux `forced_push`).
fn are_writes(pause: &Pause) -> bool {
    let mss = u64::from(pause.mss);
    [&pause.before, &pause.after]
        .iter()
        .all(|burst| u64::from(burst.pushes) == burst.frames && burst.bytes <= burst.frames * mss)
}

/// The sender, or something that looks like it, spaced its segments out.
pub(super) fn spaced(pause: &Pause, limits: &Limits) -> bool {
    matches!(at_a_rate(pause, limits), Verdict::Yes(_))
}
