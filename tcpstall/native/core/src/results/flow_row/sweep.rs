//! Sweeps a flow's life from start to end and gives each stretch of it one owner.

use super::super::ledger::{Ledger, Owner};
use super::super::rows::StallRow;
use super::read_until::read_until;
use crate::causes::{self, Cause, details};
use crate::few::Few;
use crate::flow::End;
use crate::pause::{Burst, Finished};
use crate::time::Nanos;

/// Times when the path was busy with one sender's data.
pub(super) type BusyTimes = Vec<(Nanos, Nanos)>;

/// Claim on a stretch.
#[derive(Clone, Copy, PartialEq)]
enum Claim {
    /// The path was busy with this sender's data.
    Path(End),
    Sending,
    Stall(End, Cause),
}

impl Claim {
    /// The owner of the time if no other claim is stronger.
    fn owner(self) -> Owner {
        match self {
            Claim::Path(_) => Owner::Waiting(Cause::BandwidthLimited),
            Claim::Sending => Owner::Sending,
            Claim::Stall(_, cause) => Owner::Waiting(cause),
        }
    }
}

#[derive(Clone, Copy)]
struct Span {
    start: Nanos,
    end: Nanos,
    claim: Claim,
}

/// Ledger of a flow whose stalls are known.
pub(super) fn ledger(flow: &Finished, stalls: &[StallRow], busy: &[BusyTimes; 2]) -> Ledger {
    let mut ledger = Ledger::default();
    let (start, end) = (flow.connection().start, flow.connection().end);
    let handshake = flow.connection().handshake.end().unwrap_or(start).clamp(start, end);
    let opening = if flow.opening_is_misdated() { Cause::Unexplained } else { Cause::Handshake };
    ledger.add(Owner::Waiting(opening), handshake - start);
    let turns = Turns::of(flow);
    let last_data = flow.bursts.iter().filter_map(|bursts| bursts.last()).map(|burst| burst.end).max();
    let last_wait = stalls.iter().filter(|stall| stall.cause != Cause::Handshake).map(|stall| stall.end_ns).max();
    let last = flow.untold_from.or(last_data.max(last_wait)).unwrap_or(handshake);
    // What comes after the peer's RST is thrown away.
    let read = End::BOTH.into_iter().filter_map(|sender| read_until(flow, sender)).min();
    let closing = last.min(read.unwrap_or(last)).clamp(handshake, end);
    // Where a limit dropped pauses, the time after it is unexplained.
    let rest = if flow.untold_from.is_some() { Owner::Waiting(Cause::Unexplained) } else { Owner::Closing };
    ledger.add(rest, end - closing);
    let mut cursor = handshake;
    let mut previous: Option<End> = None;
    let (mut next, mut last) = (0, 0);
    let owns = |(from, to, owner)| {
        if from > cursor {
            next = turns.begun(next, |start| start < from);
            share_pause(&mut ledger, flow, previous, turns.sender(next), cursor, from);
        }
        ledger.add(owner, to - from);
        last = turns.begun(last, |start| start <= to);
        previous = last.checked_sub(1).and_then(|last| turns.sender(last)).or(previous);
        cursor = cursor.max(to);
    };
    if turns.alternate() && !stalls.iter().any(claims) && busy.iter().all(Vec::is_empty) {
        // In most flows only the bursts claim time.
        stretches(turns.spans(), handshake, closing).for_each(owns);
    } else {
        covered(&spans(&turns, stalls, busy), handshake, closing, owns);
    }
    if closing > cursor {
        share_pause(&mut ledger, flow, previous, None, cursor, closing);
    }
    for sender in End::BOTH.into_iter().filter(|sender| busy[*sender].is_empty()) {
        ledger.passes(Owner::Sending, Owner::Waiting(Cause::RwndLimited), clocked_by_window(flow, sender));
    }
    ledger
}

/// Round trips of full window from which a flow whose pauses are all too short for stalls waits for the window.
const CLOCKED_ROUNDS: i64 = 8;

/// Time between two segments too close for a pause, while the peer's window was full: each ACK released the next segment.
fn clocked_by_window(flow: &Finished, sender: End) -> Nanos {
    let full = flow.full_for[sender];
    let clocked =
        full > Nanos::ZERO && flow.connection().base_rtt().is_some_and(|rtt| full > rtt.times(CLOCKED_ROUNDS));
    if clocked { full } else { Nanos::ZERO }
}

/// Splits a stretch that no stall and no burst owns: travel up to one base round trip, the application beyond it.
fn share_pause(ledger: &mut Ledger, flow: &Finished, previous: Option<End>, next: Option<End>, from: Nanos, to: Nanos) {
    let first_words_of_client = previous.is_none() && next == Some(End::Client);
    // Hostile clocks can make a round trip negative.
    let rtt = flow.connection().base_rtt_at(to).unwrap_or_default().or_zero();
    let allowance = if first_words_of_client { Nanos::ZERO } else { rtt };
    let travel = (to - from).min(allowance);
    ledger.add(Owner::InTransit, travel);
    ledger.add(Owner::Waiting(Cause::AppLimited), to - from - travel);
}

/// An application's pause makes no claim: it gets the rest. But one that has more to send than its own window lets it waits
/// for that window.
fn claims(stall: &StallRow) -> bool {
    let waits = stall.detail == details::APPLICATION_WINDOW;
    waits || !matches!(stall.cause, Cause::Handshake | Cause::AppLimited)
}

/// Spans of bursts and stalls.
fn spans(turns: &Turns, stalls: &[StallRow], busy: &[BusyTimes; 2]) -> Few<Span> {
    let waiting = stalls.iter().filter(|stall| claims(stall)).map(|stall| Span {
        start: stall.start_ns,
        end: stall.end_ns,
        claim: match stall.cause {
            Cause::BandwidthLimited => Claim::Path(stall.sender),
            cause => Claim::Stall(stall.sender, cause),
        },
    });
    let mut spans: Few<Span> = turns.spans().chain(waiting).collect();
    for sender in End::BOTH {
        let busy = busy[sender].iter();
        spans.extend(busy.map(|&(start, end)| Span { start, end, claim: Claim::Path(sender) }));
    }
    spans.sort_by_key(|span| (span.start, span.end));
    spans
}

/// A stretch of a flow's time and its owner.
type Stretch = (Nanos, Nanos, Owner);

/// Cuts spans into consecutive stretches, each with its strongest claim, and hands them on in order.
fn covered(spans: &[Span], from: Nanos, to: Nanos, owns: impl FnMut(Stretch)) {
    let apart = spans.windows(2).all(|pair| pair[0].end <= pair[1].start);
    if apart {
        stretches(spans.iter().copied(), from, to).for_each(owns);
    } else {
        cut(spans, from, to).into_iter().for_each(owns);
    }
}

/// The stretches of spans that do not overlap, as nearly all do not.
fn stretches(spans: impl Iterator<Item = Span>, from: Nanos, to: Nanos) -> impl Iterator<Item = Stretch> {
    spans.filter_map(move |span| {
        let (start, end) = (span.start.clamp(from, to), span.end.clamp(from, to));
        let owner = if span.start == span.end { Owner::Sending } else { span.claim.owner() };
        (start < end || span.start == span.end).then_some((start, end, owner))
    })
}

/// Cuts overlapping spans, given in order of their starts.
fn cut(spans: &[Span], from: Nanos, to: Nanos) -> Few<Stretch> {
    // The burst before a further part of a flow lies outside.
    let within = |(index, span): (usize, &Span)| {
        let (start, end) = (span.start.clamp(from, to), span.end.clamp(from, to));
        (start < end).then_some((start, end, index))
    };
    let inside = || spans.iter().enumerate().filter_map(within);
    // The spans are in order of their starts already.
    let mut opening = inside().map(|(start, _, index)| (start, index)).peekable();
    let mut ends: Few<(Nanos, usize), 8> = inside().map(|(_, end, index)| (end, index)).collect();
    ends.sort();
    let mut closing = ends.into_iter().peekable();
    let mut active: Few<usize> = Few::new();
    let mut stretches: Few<Stretch> = Few::new();
    let mut cursor = from;
    loop {
        let first_end = closing.peek().map(|(end, _)| *end);
        let closes = first_end.is_some_and(|end| opening.peek().is_none_or(|(start, _)| end <= *start));
        let Some((time, index)) = (if closes { closing.next() } else { opening.next() }) else { break };
        if time > cursor {
            if let Some(owner) = strongest(spans, &active) {
                stretches.push((cursor, time, owner));
            }
            cursor = time;
        }
        if closes {
            active.retain(|other| *other != index);
        } else {
            active.push(index);
        }
    }
    // A burst of one segment has no length, but ends the pause before it.
    stretches.extend(spans.iter().filter(|span| span.start == span.end).map(|span| {
        let at = span.start.clamp(from, to);
        (at, at, Owner::Sending)
    }));
    stretches.sort_by_key(|stretch| (stretch.0, stretch.1));
    stretches
}

/// The strongest claim. A busy path outranks everything but a stall of the sender whose data keeps it busy: that sender
/// had another reason to wait. Where both ends wait at once, the cause whose rule comes first owns the time.
fn strongest(spans: &[Span], active: &[usize]) -> Option<Owner> {
    let claims = || active.iter().map(|index| spans[*index].claim);
    let stalls = |sender: End| claims().any(|claim| matches!(claim, Claim::Stall(other, _) if other == sender));
    let rank = |claim: &Claim| match *claim {
        Claim::Path(sender) if !stalls(sender) => 0,
        Claim::Sending => 1,
        Claim::Stall(_, cause) => 2 + causes::precedence(cause),
        Claim::Path(_) => usize::MAX,
    };
    claims().min_by_key(rank).map(Claim::owner)
}

/// Turns of speaking, by the bursts of both ends.
struct Turns {
    bursts: Few<(Nanos, Nanos, End)>,
}

impl Turns {
    fn of(flow: &Finished) -> Turns {
        let of = |sender: End| move |burst: &Burst| (burst.start, burst.end, sender);
        let [client, server] = &flow.bursts;
        let mut bursts: Few<_> = client.iter().map(of(End::Client)).chain(server.iter().map(of(End::Server))).collect();
        bursts.sort_by_key(|burst| burst.0);
        Turns { bursts }
    }

    /// Each burst ends before the next begins.
    fn alternate(&self) -> bool {
        self.bursts.windows(2).all(|pair| pair[0].1 <= pair[1].0 && pair[1].0 <= pair[1].1)
    }

    /// The bursts as spans, in order of their starts.
    fn spans(&self) -> impl Iterator<Item = Span> {
        self.bursts.iter().map(|&(start, end, _)| Span { start, end, claim: Claim::Sending })
    }

    /// Number of bursts that have begun, near `about`: the stretches of a flow come in order, and so do the answers.
    fn begun(&self, about: usize, has_begun: impl Fn(Nanos) -> bool) -> usize {
        let begun = |number: usize| self.bursts.get(number).is_some_and(|burst| has_begun(burst.0));
        let mut number = about;
        while begun(number) {
            number += 1;
        }
        while number > 0 && !begun(number - 1) {
            number -= 1;
        }
        number
    }

    /// Sender of the burst with that number.
    fn sender(&self, number: usize) -> Option<End> {
        self.bursts.get(number).map(|burst| burst.2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::causes::Limits;
    use crate::pause::Watch;
    use crate::results::{Wanted, flow_row};
    use crate::seq::SeqNo;
    use crate::wire::{Address, Endpoint, Flags, Segment};

    fn owners(claims: &[(i64, i64, Claim)]) -> Vec<(i64, i64, Owner)> {
        let mut spans: Vec<Span> =
            claims.iter().map(|&(start, end, claim)| Span { start: Nanos(start), end: Nanos(end), claim }).collect();
        spans.sort_by_key(|span| (span.start, span.end));
        let mut found = Vec::new();
        covered(&spans, Nanos(0), Nanos(100), |(from, to, owner)| found.push((from.0, to.0, owner)));
        found
    }

    const BUSY: Owner = Owner::Waiting(Cause::BandwidthLimited);

    #[test]
    fn a_busy_path_owns_the_sending_inside_it() {
        let path = Claim::Path(End::Server);
        let found = owners(&[(0, 60, Claim::Sending), (20, 80, path)]);
        assert_eq!(found, [(0, 20, Owner::Sending), (20, 60, BUSY), (60, 80, BUSY)]);
    }

    #[test]
    fn a_stall_of_the_same_sender_had_another_reason() {
        let stall = Claim::Stall(End::Server, Cause::Retransmission);
        let found = owners(&[(0, 80, Claim::Path(End::Server)), (20, 40, stall)]);
        assert_eq!(found, [(0, 20, BUSY), (20, 40, Owner::Waiting(Cause::Retransmission)), (40, 80, BUSY)]);
    }

    #[test]
    fn a_stall_of_the_other_end_does_not_matter_while_the_path_is_busy() {
        let stall = Claim::Stall(End::Client, Cause::CwndLimited);
        let found = owners(&[(0, 50, Claim::Path(End::Server)), (20, 80, stall)]);
        assert_eq!(found, [(0, 20, BUSY), (20, 50, BUSY), (50, 80, Owner::Waiting(Cause::CwndLimited))]);
    }

    #[test]
    fn where_both_ends_wait_the_cause_whose_rule_stands_first_owns_the_time() {
        let causes = causes::RULES.map(|rule| rule.cause).into_iter().filter(|cause| *cause != Cause::BandwidthLimited);
        let ranked: Vec<Cause> = causes.chain([Cause::Unexplained]).collect();
        for (place, stronger) in ranked.iter().enumerate() {
            for weaker in &ranked[place + 1..] {
                for (client, server) in [(*stronger, *weaker), (*weaker, *stronger)] {
                    let of = [Claim::Stall(End::Client, client), Claim::Stall(End::Server, server)];
                    assert_eq!(owners(&[(0, 9, of[0]), (0, 9, of[1])]), [(0, 9, Owner::Waiting(*stronger))]);
                }
            }
        }
    }

    #[test]
    fn spans_that_do_not_overlap_are_their_own_stretches() {
        let (claims, mut seed) =
            ([Claim::Sending, Claim::Path(End::Server), Claim::Stall(End::Client, Cause::Nagle)], 1);
        let mut random = |below: i64| {
            seed = (seed * 1_103_515_245 + 12_345) % (1 << 31);
            (seed >> 8) % below
        };
        for _ in 0..2_000 {
            let mut at = -20;
            let mut span = |_| {
                let start = at + random(3) * random(9);
                at = start + random(3) * random(30);
                Span { start: Nanos(start), end: Nanos(at), claim: claims[random(3) as usize] }
            };
            let spans: Vec<Span> = (0..8).map(&mut span).collect();
            let whole: Vec<Stretch> = stretches(spans.iter().copied(), Nanos(0), Nanos(100)).collect();
            assert_eq!(whole, cut(&spans, Nanos(0), Nanos(100)).to_vec());
        }
    }

    #[test]
    fn the_documentation_says_for_how_many_round_trips_a_window_must_have_clocked_a_sender() {
        let documentation = Cause::RwndLimited.info().documentation(&causes::Limits::default());
        assert!(CLOCKED_ROUNDS == 8 && documentation.contains("for eight round trips"));
    }

    #[test]
    fn nothing_is_said_of_the_time_after_a_limit() {
        let ends = [1, 2].map(|host| Endpoint { address: Address::v4([10, 0, 0, host]), port: 80 * u16::from(host) });
        let segment = |ms: i64, from: usize, seq: u32, ack: u32, flags: Flags, payload: u32| Segment {
            time: Nanos::from_millis(ms),
            source: ends[from],
            destination: ends[1 - from],
            seq: SeqNo(seq),
            ack: SeqNo(ack),
            flags,
            window: 65_535,
            payload,
            ..Segment::default()
        };
        let mut flow = vec![
            segment(0, 0, 0, 0, Flags::SYN, 0),
            segment(1, 1, 0, 1, Flags::SYN.with(Flags::ACK), 0),
            segment(1, 0, 1, 1, Flags::ACK, 0),
        ];
        for word in 0..6_u32 {
            let (at, seq) = (1_000 * (i64::from(word) + 1), 1 + 100 * word);
            flow.push(segment(at, 0, seq, 1, Flags::ACK, 100));
            flow.push(segment(at + 1, 1, 1, seq + 100, Flags::ACK, 0));
        }
        let mut watch = Box::new(Watch::new(&flow[0]));
        watch.keeps_pauses(2 * size_of::<crate::pause::Facts>());
        for segment in &flow {
            watch.sees(segment);
        }
        let wanted = Wanted { bursts: false, exchanges: false, least_stall: Nanos::ZERO };
        let row = flow_row(&watch.finish(), 0, 0, &Limits::default(), wanted);
        let of = |owner| row.time_ns.of(owner).0 / 1_000_000;
        assert_eq!(row.notes, ["stall-limit"]);
        assert_eq!((of(Owner::Waiting(Cause::Unexplained)), of(Owner::Closing)), (4_001, 0));
        let owned: i64 = Owner::all().map(|owner| row.time_ns.of(owner).0).sum();
        assert_eq!(owned, (row.end_ns - row.start_ns).0);
    }
}
