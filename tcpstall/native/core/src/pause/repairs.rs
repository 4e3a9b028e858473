//! Records the repairs of one sender: every attempt with its trigger, and the attempts that turned out needless.

mod stepping;

use std::collections::VecDeque;

use stepping::Stepping;

use super::evidence::repair::{Attempt, FirstCopy, PauseRepairs, Trigger};
use super::kept::KeptPauses;
use crate::flow::{Acked, Half};
use crate::sender::timers;
use crate::time::Nanos;
use crate::wire::Segment;

/// Attempts listed for one pause; further attempts are only counted. A sender gives up after 15 timeouts (Linux
/// tcp_retries2).
const ATTEMPT_LIMIT: usize = 24;
/// Retransmissions that wait for a verdict by DSACK or echo. A DSACK comes one round trip later, so the oldest may be
/// dropped.
const AWAITING_LIMIT: usize = 1024;

/// Share of the smoothed round trip within which no timer fires, however much the tap's distance varies.
const EARLY: f64 = 0.5;

/// Share of the round trip within which a tap stands beside the receiver.
const BESIDE: f64 = 0.2;

/// Longest leg from a tap beside the receiver and back: a radio link, which loses packets, takes longer.
const LONGEST_LEG: Nanos = Nanos::from_micros(500);

/// Time in which a host acknowledges what it acknowledges at once.
const AT_ONCE: Nanos = Nanos::from_millis(1);

/// The same limit while memory is short.
const TIGHT_AWAITING: usize = 16;

/// Sums of the repairs of one direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct RepairTotals {
    /// Repairs begun by the retransmission timer.
    pub timeouts: u32,
    /// Repairs begun by duplicate ACKs or SACK.
    pub fast_retransmits: u32,
    /// Tail-loss probes with old data.
    pub tail_probes: u32,
    /// Retransmissions shown needless.
    pub needless: u32,
}

#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
struct Awaiting {
    start: i64,
    end: i64,
    time: Nanos,
    /// TSval of the retransmission.
    value: Option<u32>,
    pause: usize,
    acknowledged: bool,
    /// An echo or an ACK has shown it to be needless: a DSACK of its data tells that once more.
    needless: bool,
    /// An ACK of it that comes at once shows it to be needless: see [`Again::may_be_answered_twice`].
    answers_twice: bool,
    /// End of the data in flight when the copy of the oldest segment was sent, where nothing had reported a loss.
    steps_to: Option<i64>,
}

/// The state of a sender that has sent something again.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(super) struct Repairs {
    pub(super) totals: RepairTotals,
    awaiting: VecDeque<Awaiting>,
    /// No retransmission that ends below this offset awaits its first ACK. Most ACKs stay below and need no search.
    settled_below: i64,
    /// No retransmission before the one with this number among those awaits its first ACK.
    first_waiting: usize,
    /// Time of the latest retransmission.
    pub(super) last: Option<Nanos>,
    last_attempt: Option<i64>,
    /// Linux's undo_retrans: retransmissions of this recovery that no DSACK has shown needless.
    undo_left: u32,
    /// A copy whose data was acknowledged, and nothing beyond.
    stepping: Option<Stepping>,
}

impl Repairs {
    /// The repairs in the flow's next part: none yet.
    pub(super) fn next_part(self) -> Repairs {
        Repairs { totals: RepairTotals::default(), awaiting: VecDeque::new(), first_waiting: 0, stepping: None, ..self }
    }

    /// Memory of the repairs, bytes.
    pub(super) fn memory(&self) -> usize {
        size_of::<Repairs>() + self.awaiting.capacity() * size_of::<Awaiting>()
    }

    /// Drops all but the newest retransmissions that wait for a verdict, because memory is short.
    #[cold]
    pub(super) fn shrink(&mut self) {
        self.awaiting.drain(..self.awaiting.len().saturating_sub(TIGHT_AWAITING));
        self.awaiting.shrink_to_fit();
        self.first_waiting = 0;
    }
}

/// A retransmission with the sender's state at that time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Again<'a> {
    pub(super) segment: &'a Segment,
    pub(super) half: &'a Half,
    /// The last ACK of new data or report of a loss.
    pub(super) heard: Nanos,
    /// SACK blocks or duplicate ACKs report a loss.
    pub(super) hinted: bool,
    /// The sender was already in recovery.
    pub(super) recovering: bool,
    /// The pause's first retransmission, if this is it.
    pub(super) first: FirstCopy,
    /// Number that the pause will have, if it becomes one.
    pub(super) pause: usize,
    /// The tap had seen the data before, and nothing reports a loss.
    pub(super) quietly: bool,
}

impl Again<'_> {
    /// An ACK of the data, up to offset `end`, had passed the tap and met the copy on its way: the original had arrived.
    fn met_its_ack(&self, end: i64) -> bool {
        self.half.snd_una < end && end <= self.half.acked_at_tap()
    }

    /// The data is all that was out, and no packet reported a loss: a receiver may delay the ACK of a single segment for 500 ms
    /// (RFC 9293 §3.8.6.3), which is longer than some timers (100 ms in the NAT of virtual machines). Without SACK, and with so
    /// short a path, the ACK of the copy does not show whether the original had arrived.
    fn may_be_held(&self, start: i64, end: i64) -> bool {
        let half = self.half;
        let legs = half.vantage.get().zip(half.peer_distance.or_handshake());
        let short = half.syn_seen && legs.is_some_and(|(own, other)| own + other <= LONGEST_LEG);
        let alone = start == half.snd_una && end == half.snd_nxt;
        alone && short && self.quietly && !self.recovering && !half.sack_permitted
    }

    /// The original passed a tap beside the receiver, where nothing is lost, and no packet reported a loss: the receiver may hold
    /// its ACK for 500 ms (RFC 9293 §3.8.6.3), and acknowledges at once what it has already (§3.10.7.4). With SACK its ACK would
    /// say so (RFC 2883 §4).
    fn may_be_answered_twice(&self) -> bool {
        let leg = self.half.peer_distance.or_handshake();
        let beside = leg.is_some_and(|leg| leg <= self.half.path().scaled(BESIDE).min(LONGEST_LEG));
        self.quietly && beside && !self.recovering && !self.half.sack_permitted
    }
}

impl Repairs {
    /// Takes in a retransmission; returns the attempt where it begins one, `None` where it continues a repair.
    pub(super) fn sends(&mut self, again: &Again, open: &mut Option<Box<PauseRepairs>>) -> Option<Attempt> {
        let half = again.half;
        let start = half.offset(again.segment.seq);
        let end = start + i64::from(again.segment.payload);
        let time = again.segment.time;
        let attempt = self.attempt(again, start, end);
        let repair =
            open.get_or_insert_with(|| Box::new(PauseRepairs { first: again.first, ..PauseRepairs::default() }));
        if repair.sent == 0 {
            repair.congestion_point = half.first_sent(start, end).map(|(_, in_flight)| in_flight);
        }
        repair.sent += 1;
        repair.may_be_held |= again.may_be_held(start, end);
        let needless = again.met_its_ack(end);
        if needless {
            repair.needless += 1;
            self.totals.needless += 1;
        }
        self.undo_left = if again.recovering { self.undo_left + 1 } else { 1 };
        self.last = Some(time);
        if self.awaiting.len() == AWAITING_LIMIT {
            self.awaiting.pop_front();
            self.first_waiting = self.first_waiting.saturating_sub(1);
        }
        let value = again.segment.timestamps.map(|stamps| stamps.value);
        self.settled_below = self.settled_below.min(end);
        self.awaiting.push_back(Awaiting {
            start,
            end,
            time,
            value,
            pause: again.pause,
            acknowledged: false,
            needless,
            answers_twice: again.may_be_answered_twice() && self.last_attempt != Some(start),
            steps_to: again.steps_to(start, end),
        });
        self.stepping = None;
        let attempt = attempt?;
        self.last_attempt = Some(start);
        match attempt.trigger {
            Trigger::Timeout => self.totals.timeouts += 1,
            Trigger::Fast => self.totals.fast_retransmits += 1,
            Trigger::TailProbe => self.totals.tail_probes += 1,
            Trigger::Unseen => {}
        }
        if repair.attempts.len() < ATTEMPT_LIMIT {
            repair.attempts.push(attempt);
        }
        Some(attempt)
    }

    fn attempt(&self, again: &Again, start: i64, end: i64) -> Option<Attempt> {
        let (half, time) = (again.half, again.segment.time);
        let armed = again.heard.max(half.head_sent().unwrap_or_default()).max(self.last.unwrap_or_default());
        let waited = (time - armed).or_zero();
        // RFC 6298 §2.3: the timeout is longer than the smoothed round trip; Linux adds at least 200 ms.
        let overdue = waited >= timers::LINUX_RTO_MIN.max(half.srtt.unwrap_or_default());
        let tail = end == half.snd_nxt && !again.hinted && !again.recovering && self.last_attempt != Some(start);
        // With SACK, Linux sends a probe first even if one segment is in flight, and the probe may be as late as the
        // timer.
        let probe = !overdue || half.sack_permitted && waited <= timers::rto(half.srtt) + timers::TICK;
        // The timer of RFC 8985 §7.2 is two round trips.
        let early = !again.hinted && waited < half.srtt.unwrap_or_else(|| half.path()).scaled(EARLY);
        let trigger = match (tail && probe, overdue, again.hinted) {
            _ if early => Trigger::Unseen,
            (true, _, _) => Trigger::TailProbe,
            (_, false, true) => Trigger::Fast,
            (_, _, _) => Trigger::Timeout,
        };
        let goes_on = again.recovering && !overdue && self.last_attempt != Some(start);
        (!goes_on).then_some(Attempt { time, trigger, waited })
    }

    /// Takes in an ACK that reached the sender. True if it shows that the whole recovery was needless, so that Linux
    /// undoes it (tcp_try_undo_dsack, tcp_packet_delayed).
    pub(super) fn on_ack(
        &mut self,
        acked: &Acked,
        half: &Half,
        pauses: &mut KeptPauses,
        open: &mut Option<Box<PauseRepairs>>,
    ) -> bool {
        let mut undone = false;
        if let Some((left, right)) = acked.duplicate
            // The first copy may have repaired a loss; the last one came to data that was there. What lies below a duplicate that
            // begins within the copy had not arrived (RFC 2883 §4.2.2).
            && let Some(index) = self.awaiting.iter().rposition(|sent| sent.start < right && left <= sent.start)
        {
            let sent = self.awaiting.remove(index);
            self.first_waiting = self.first_waiting.saturating_sub(1);
            self.undo_left = self.undo_left.saturating_sub(1);
            undone |= self.undo_left == 0;
            self.needless(acked.time, sent.filter(|sent| !sent.needless), pauses, open);
        }
        if acked.bytes > 0 {
            undone |= self.on_echo(acked, half, pauses, open);
        }
        undone
    }

    /// Detects a needless retransmission by the Eifel algorithm (RFC 3522): the ACK that first covers the retransmitted
    /// left edge echoes a timestamp from before the retransmission, so the original caused it. Only the left edge
    /// counts: RFC 7323 §4.2 echoes the segment that fills it. Beside a receiver without SACK, an ACK at once tells the tap
    /// the same, but not the sender; nor need a sender use F-RTO (RFC 5682), by which ACKs that step on tell it.
    fn on_echo(
        &mut self,
        acked: &Acked,
        half: &Half,
        pauses: &mut KeptPauses,
        open: &mut Option<Box<PauseRepairs>>,
    ) -> bool {
        let before = half.snd_una - acked.bytes;
        let stepped = self.stepping.take().filter(|stepping| stepping.goes_on(before, half.snd_una, acked));
        if let Some(sent) = stepped.and_then(|stepping| self.awaiting.iter_mut().find(|sent| stepping.is_of(sent))) {
            sent.needless = true;
            let sent = *sent;
            self.needless(acked.time, Some(sent), pauses, open);
        }
        if half.snd_una < self.settled_below {
            return false;
        }
        let (mut found, mut waiting, mut undone) = (None, None, false);
        self.settled_below = i64::MAX;
        let candidates = self.awaiting.iter_mut().enumerate().skip(self.first_waiting);
        for (index, sent) in candidates.filter(|(_, sent)| !sent.acknowledged) {
            if sent.end > half.snd_una {
                self.settled_below = self.settled_below.min(sent.end);
                waiting = waiting.or(Some(index));
                continue;
            }
            let older = match (sent.value, acked.echo) {
                (Some(value), Some(echo)) => (echo.wrapping_sub(value) as i32) < 0 && !half.vantage.precedes(echo),
                _ => false,
            };
            let again = sent.answers_twice && acked.passed - sent.time <= AT_ONCE;
            if (older || again) && sent.start <= before {
                found = found.or((!sent.needless).then_some(index));
                undone |= older;
            }
            sent.acknowledged = true;
            self.stepping = Stepping::of(sent, half.snd_una, acked).filter(|_| found.is_none());
        }
        self.first_waiting = waiting.unwrap_or(self.awaiting.len());
        let sent = found.and_then(|index| self.awaiting.get_mut(index));
        let sent = sent.map(|sent| {
            sent.needless = true;
            *sent
        });
        self.needless(acked.time, sent, pauses, open);
        undone
    }

    fn needless(
        &mut self,
        now: Nanos,
        sent: Option<Awaiting>,
        pauses: &mut KeptPauses,
        open: &mut Option<Box<PauseRepairs>>,
    ) {
        let Some(sent) = sent else { return };
        self.totals.needless += 1;
        let is_of = |repair: &PauseRepairs| repair.first.time <= sent.time;
        match pauses.get(sent.pause).and_then(|pause| pause.repair.as_deref()) {
            Some(repair) if is_of(repair) => {
                let later = pauses.learns_of(sent.pause);
                later.needless = later.needless.saturating_add(1);
                later.cleared = Some(now);
            }
            Some(_) => {}
            None => {
                if let Some(repair) = open.as_mut().filter(|repair| is_of(repair)) {
                    repair.needless = (repair.needless + 1).min(repair.sent);
                    repair.cleared = Some(now);
                }
            }
        }
    }
}
