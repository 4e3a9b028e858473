//! Describes one direction of a flow: the fate of its packets, as a row, with an event for each loss and the like.

use hashbrown::HashMap;

use super::arrival::{Arrival, Rest};
use super::clock::RelativeClock;
use super::crossing::{Crossing, cross, in_time};
use super::recovery::FirstSeen;
use super::rows::{Delay, PacketEvent, Passed, Period, Recovery, WayRow};
use super::syn;
use super::tap::{Passage, Way};
use crate::results::End;
use crate::wire::Flags;

/// Periods into which a flow's delays are divided.
const PERIODS: i64 = 60;
/// Time within which a capture stores a packet twice (bridges, `-i any`), nanoseconds; no sender repeats one this soon.
const COPY_AGE: u64 = 1_000_000;
/// Time within which packets may be stamped in either order, because several processors receive them, nanoseconds.
const STORED: i64 = 10_000;
/// Distance from a capture's beginning or end within which a packet proves nothing, nanoseconds: frames are stamped
/// before they are split and after they are merged.
const MARGIN: i64 = 200_000;
/// Neighbours of a packet among which its copy is searched.
const COPY_NEAR: usize = 8;
/// Largest payload on the wire where no SYN states it, bytes (Ethernet, IPv4).
const USUAL_MSS: i64 = 1_460;

/// Results for single packets, of all flows.
pub(super) struct PacketRows<'a> {
    pub(super) events: &'a mut Vec<PacketEvent>,
    pub(super) delays: &'a mut Vec<Delay>,
    pub(super) recoveries: &'a mut Vec<Recovery>,
}

/// One direction of a flow between two taps.
pub(super) struct Course<'a> {
    pub(super) flow: u64,
    pub(super) sender: End,
    pub(super) sent: &'a Way,
    pub(super) seen: &'a Way,
    /// Number to add to positions of the seeing tap to convert them to the sending one's.
    pub(super) shift: i64,
    /// The client side's tap is the sending one.
    pub(super) from_first: bool,
    pub(super) clock: &'a RelativeClock,
    /// Start and end of the sending tap's capture, and of the other's, each by its own clock.
    pub(super) spans: [(i64, i64); 2],
    /// Position up to which the receiver acknowledged, as far as the seeing tap heard, in that tap's positions.
    pub(super) acked: Option<i64>,
}

impl Course<'_> {
    fn by_first(&self, time: i64, at_first: bool) -> i64 {
        if at_first { time } else { self.clock.by_first(time) }
    }

    fn sent_time(&self, number: usize) -> i64 {
        self.by_first(self.sent.passages[number].time, self.from_first)
    }

    fn seen_time(&self, number: usize) -> i64 {
        self.by_first(self.seen.passages[number].time, !self.from_first)
    }

    /// The smallest delay that the clocks imply: half of the round trip where that aligned them.
    fn least(&self) -> i64 {
        let both = self.clock.alignment == super::Alignment::BothWays;
        self.clock.least_round_trip_ns.filter(|_| both).map_or(0, |round_trip| round_trip / 2)
    }

    /// Matches the packets and describes their fate.
    pub(super) fn describe(&self, found: &mut PacketRows<'_>) -> WayRow {
        let least = self.least();
        let possible = |sent: i64, seen: i64| {
            let (sent, seen) = (self.by_first(sent, self.from_first), self.by_first(seen, !self.from_first));
            if self.clock.is_known() { in_time(sent, seen, least) } else { Some(0) }
        };
        let crossing = cross(&self.sent.passages, &self.seen.passages, self.shift, &possible);
        let mut row = WayRow {
            sent_packets: self.sent.passages.len() as u64,
            seen_packets: self.seen.passages.len() as u64,
            matched_packets: crossing.arrivals.len() as u64,
            syn_changes: syn::changes(self.sent.syn.as_ref(), self.seen.syn.as_ref()),
            ..WayRow::default()
        };
        if self.clock.is_known() {
            self.time(&crossing, &mut row, found.delays);
        }
        self.lose(&crossing, &mut row, found);
        self.overtake(&crossing, &mut row, found.events);
        self.repeat(&crossing, &mut row, found.events);
        self.rewrite(&crossing, &mut row);
        row
    }

    fn time(&self, crossing: &Crossing, row: &mut WayRow, delays: &mut Vec<Delay>) {
        let begin = delays.len();
        delays.extend(crossing.arrivals.iter().map(|arrival| {
            let time_ns = self.sent_time(arrival.sent);
            let seen = &self.seen.passages[arrival.seen];
            Delay {
                flow: self.flow,
                sender: self.sender,
                time_ns,
                delay_ns: self.seen_time(arrival.seen).saturating_sub(time_ns),
                sent_packet: self.sent.passages[arrival.sent].packet,
                seen_packet: seen.packet,
                bytes: seen.length,
            }
        }));
        let own = &delays[begin..];
        row.delay = Passed::of(&mut own.iter().map(|delay| delay.delay_ns).collect::<Vec<_>>());
        row.over_time = periods(own);
    }

    /// Classifies packets that were sent and not seen: lost, missed by the other capture, or outside its beginning or
    /// end.
    fn lose(&self, crossing: &Crossing, row: &mut WayRow, found: &mut PacketRows<'_>) {
        if crossing.unseen.is_empty() && crossing.unsent.is_empty() {
            return;
        }
        let arrived: HashMap<usize, usize> =
            crossing.arrivals.iter().rev().map(|arrival| (arrival.sent, arrival.seen)).collect();
        let mut last = None;
        let mut lost = Vec::new();
        for rest in &crossing.unseen {
            let sent = &self.sent.passages[rest.sent];
            if self.is_copy(rest.sent, &arrived) {
                row.copied_by_capture += 1;
            } else if self.is_outside(sent.time, 1, row) && !self.was_lost_first(rest) {
                row.outside_packets += u64::from(last != Some(rest.sent));
            } else if self.was_missed(rest) {
                row.missed_by_receiving_tap += u64::from(last != Some(rest.sent));
                found.events.push(self.event("missed", rest, &arrived));
            } else {
                row.lost_packets += u64::from(last != Some(rest.sent));
                row.lost_segments += ((rest.right - rest.left) as u64).div_ceil(self.mss() as u64).max(1);
                row.lost_bytes += self.payload(rest) as u64;
                found.events.push(self.event("lost", rest, &arrived));
                lost.push(rest);
            }
            last = Some(rest.sent);
        }
        self.recover(&lost, found.recoveries);
        for number in &crossing.unsent {
            let seen = &self.seen.passages[*number];
            if self.is_outside(seen.time, 0, row) {
                row.outside_packets += 1;
            } else {
                row.missed_by_sending_tap += 1;
                found.events.push(PacketEvent {
                    time_ns: self.seen_time(*number),
                    seen_packet: Some(seen.packet),
                    seq: self.relative(seen.left + self.shift),
                    bytes: i64::from(seen.length),
                    ..self.blank("unsent")
                });
            }
        }
    }

    /// Adds the times in which lost data was missing; none where it had arrived before, because then nobody missed it.
    fn recover(&self, lost: &[&Rest], recoveries: &mut Vec<Recovery>) {
        if lost.is_empty() || !self.clock.is_known() {
            return;
        }
        let (sent, seen) = (&self.sent.passages, &self.seen.passages);
        let first = FirstSeen::of(sent, seen, self.shift, |number| self.seen_time(number));
        recoveries.extend(lost.iter().filter_map(|rest| {
            let data = rest.left < rest.right;
            let end_ns = if data { first.bytes(rest.left, rest.right) } else { first.ack(&sent[rest.sent])? };
            let start_ns = self.sent_time(rest.sent);
            (start_ns < end_ns).then_some(Recovery { flow: self.flow, sender: self.sender, data, start_ns, end_ns })
        }));
    }

    /// A SYN before the other capture began, of which a later transmission was seen: if the first had arrived, its
    /// answer would have come and no other would have been sent.
    fn was_lost_first(&self, rest: &Rest) -> bool {
        let flags = self.sent.passages[rest.sent].flags;
        flags.has(Flags::SYN) && !flags.has(Flags::ACK) && rest.left < rest.right && rest.repair.is_some()
    }

    /// True if the packet may have passed the other tap outside its capture, given delays between the smallest and the
    /// longest. `capture` 0 is the sending tap's, 1 the other.
    fn is_outside(&self, time: i64, capture: usize, row: &WayRow) -> bool {
        if !self.clock.is_known() {
            return false;
        }
        let at_first = (capture == 0) == self.from_first;
        let delay = row.delay.map_or((self.least(), self.least()), |delay| (delay.least_ns, delay.most_ns));
        let at = self.by_first(time, !at_first);
        let (soonest, latest) = match capture {
            1 => (at.saturating_add(delay.0), at.saturating_add(delay.1)),
            _ => (at.saturating_sub(delay.1), at.saturating_sub(delay.0)),
        };
        let (begin, end) = self.spans[capture];
        soonest < self.by_first(begin, at_first).saturating_add(MARGIN)
            || latest > self.by_first(end, at_first).saturating_sub(MARGIN)
    }

    /// The sending tap stored the packet twice, and the other copy arrived.
    fn is_copy(&self, number: usize, arrived: &HashMap<usize, usize>) -> bool {
        let own = &self.sent.passages[number];
        let near = number.saturating_sub(COPY_NEAR)..(number + COPY_NEAR + 1).min(self.sent.passages.len());
        near.into_iter().filter(|other| *other != number).any(|other| {
            let copy = &self.sent.passages[other];
            let same = |of: fn(&Passage) -> u64| of(own) == of(copy);
            own.time.saturating_sub(copy.time).unsigned_abs() < COPY_AGE
                && own.left == copy.left
                && same(|passage| u64::from(passage.length))
                && same(|passage| u64::from(passage.ack.0))
                && own.ip_id == copy.ip_id
                && (own.ip_id.is_some() || own.timestamps.is_some())
                && own.timestamps == copy.timestamps
                && own.sacks == copy.sacks
                && own.window == copy.window
                && arrived.contains_key(&other)
        })
    }

    /// The receiver had the bytes, but no packet with them was captured there.
    fn was_missed(&self, rest: &Rest) -> bool {
        let acked = self.acked.map(|acked| acked + self.shift);
        rest.left < rest.right && !rest.seen_otherwise && acked.is_some_and(|acked| acked >= rest.right)
    }

    fn overtake(&self, crossing: &Crossing, row: &mut WayRow, events: &mut Vec<PacketEvent>) {
        let place = |arrival: &Arrival| (arrival.sent, self.seen.passages[arrival.seen].left);
        // The packets that advanced beyond all before them: both columns rise.
        let mut ahead: Vec<((usize, i64), i64)> = Vec::new();
        for arrival in &crossing.arrivals {
            let (own, time) = (place(arrival), self.seen.passages[arrival.seen].time);
            if ahead.last().is_none_or(|(farthest, _)| *farthest < own) {
                ahead.push((own, time));
                continue;
            }
            let overtaker = ahead.partition_point(|(other, _)| *other <= own);
            if let Some((_, overtaken)) =
                ahead.get(overtaker).filter(|(_, overtaken)| time.saturating_sub(*overtaken) >= STORED)
            {
                row.reordered_packets += 1;
                events.push(PacketEvent {
                    late_ns: Some(time.saturating_sub(*overtaken)),
                    ..self.about("reordered", arrival)
                });
            }
        }
    }

    fn repeat(&self, crossing: &Crossing, row: &mut WayRow, events: &mut Vec<PacketEvent>) {
        row.duplicated_packets = crossing.copies.len() as u64;
        events.extend(crossing.copies.iter().map(|copy| self.about("duplicated", copy)));
    }

    fn rewrite(&self, crossing: &Crossing, row: &mut WayRow) {
        let mut hops: HashMap<i64, u64> = HashMap::new();
        for arrival in &crossing.arrivals {
            let (sent, seen) = (&self.sent.passages[arrival.sent], &self.seen.passages[arrival.seen]);
            if let Some((before, after)) = sent.ttl.zip(seen.ttl) {
                *hops.entry(i64::from(before) - i64::from(after)).or_default() += 1;
            }
            let whole = sent.left == seen.left + self.shift;
            row.ip_ids_rewritten += u64::from(whole && sent.ip_id.is_some() && sent.ip_id != seen.ip_id);
            row.windows_rewritten += u64::from(sent.length == 0 && sent.window != seen.window);
        }
        row.hops = hops.into_iter().max_by_key(|(hops, count)| (*count, -hops)).map(|(hops, _)| hops);
        let any = |way: &Way| way.passages.iter().any(|passage| passage.timestamps.is_some());
        row.timestamps_stripped = row.matched_packets > 0 && any(self.sent) && !any(self.seen);
    }

    fn mss(&self) -> i64 {
        let announced = |way: &Way| way.syn.and_then(|syn| syn.mss).map(i64::from);
        announced(self.seen).or(announced(self.sent)).filter(|mss| *mss > 0).unwrap_or(USUAL_MSS)
    }

    /// A position as Wireshark shows it, relative to the ISN where the sending tap saw that.
    fn relative(&self, place: i64) -> i64 {
        let isn = self.sent.syn.zip(self.sent.base).map_or(0, |(syn, base)| i64::from(syn.seq.since(base)));
        place - isn
    }

    /// The range's bytes without SYN and FIN.
    fn payload(&self, rest: &Rest) -> i64 {
        let sent = &self.sent.passages[rest.sent];
        let syn = i64::from(sent.flags.has(Flags::SYN) && rest.left == sent.left);
        let fin = i64::from(sent.flags.has(Flags::FIN) && rest.right == sent.right());
        (rest.right - rest.left - syn - fin).max(0)
    }

    fn blank(&self, kind: &'static str) -> PacketEvent {
        PacketEvent {
            flow: self.flow,
            sender: self.sender,
            kind,
            time_ns: 0,
            sent_packet: None,
            seen_packet: None,
            seq: 0,
            bytes: 0,
            late_ns: None,
            repair: None,
        }
    }

    fn event(&self, kind: &'static str, rest: &Rest, arrived: &HashMap<usize, usize>) -> PacketEvent {
        let packet = |number: &usize| self.seen.passages[*number].packet;
        PacketEvent {
            time_ns: self.sent_time(rest.sent),
            sent_packet: Some(self.sent.passages[rest.sent].packet),
            seq: self.relative(rest.left),
            bytes: rest.right - rest.left,
            repair: rest.repair.map(|sent| (self.sent.passages[sent].packet, arrived.get(&sent).map(packet))),
            ..self.blank(kind)
        }
    }

    fn about(&self, kind: &'static str, arrival: &Arrival) -> PacketEvent {
        let seen = &self.seen.passages[arrival.seen];
        PacketEvent {
            time_ns: self.sent_time(arrival.sent),
            sent_packet: Some(self.sent.passages[arrival.sent].packet),
            seen_packet: Some(seen.packet),
            seq: self.relative(seen.left + self.shift),
            bytes: i64::from(seen.length),
            ..self.blank(kind)
        }
    }
}

/// Delays by periods of equal length; periods without a packet are left out.
fn periods(delays: &[Delay]) -> Vec<Period> {
    let times = || delays.iter().map(|delay| delay.time_ns);
    let (Some(begin), Some(end)) = (times().min(), times().max()) else { return Vec::new() };
    let length = (end.saturating_sub(begin) / PERIODS).saturating_add(1);
    let mut buckets: Vec<Vec<i64>> = vec![Vec::new(); PERIODS as usize];
    for delay in delays {
        let number = delay.time_ns.saturating_sub(begin) / length;
        buckets[number.clamp(0, PERIODS - 1) as usize].push(delay.delay_ns);
    }
    let numbered = buckets.into_iter().enumerate();
    let rows = numbered.filter_map(|(number, mut delays)| {
        let delay = Passed::of(&mut delays)?;
        Some(Period {
            start_ns: begin.saturating_add(length.saturating_mul(number as i64)),
            packets: delays.len() as u64,
            delay,
        })
    });
    rows.collect()
}
