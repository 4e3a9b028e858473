//! Recovery times: from the transmission of a packet that was lost between the taps until all its content had arrived.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::rows::Recovery;
use super::tap::Passage;
use crate::seq::SeqNo;

/// Time of data that never arrived.
const NEVER: i64 = i64::MAX;

/// Times when each byte and each ACK of one direction was first seen at the far tap.
pub(super) struct FirstSeen {
    /// Starts of the stretches of bytes that were first seen at one time.
    begins: Vec<i64>,
    /// Their times: a binary tree of maxima above the stretches, leaf `n` at `begins.len() + n`.
    latest: Vec<i64>,
    /// ACKs that advanced beyond all before them, by acknowledged bytes and window, with the time when they were seen.
    ahead: Vec<((i64, u16), i64)>,
    /// Number to add to ACKs at the far tap to convert them to the sending tap's positions.
    shift: i64,
}

impl FirstSeen {
    /// First sightings of `seen`, whose positions `shift` converts to those of `sent`; `at` gives the time of a packet
    /// by its number.
    pub(super) fn of(sent: &[Passage], seen: &[Passage], shift: i64, at: impl Fn(usize) -> i64) -> FirstSeen {
        let mut timed: Vec<(i64, &Passage)> =
            seen.iter().enumerate().map(|(number, passage)| (at(number), passage)).collect();
        timed.sort_by_key(|(time, _)| *time);
        let stretches = stretches(&timed, shift);
        let count = stretches.len();
        let mut latest = vec![NEVER; 2 * count];
        for (number, (_, time)) in stretches.iter().enumerate() {
            latest[count + number] = *time;
        }
        for number in (1..count).rev() {
            latest[number] = latest[2 * number].max(latest[2 * number + 1]);
        }
        let begins = stretches.into_iter().map(|(begin, _)| begin).collect();
        FirstSeen { begins, latest, ahead: ahead(&timed), shift: acks_shift(sent, seen) }
    }

    /// Time when the last of these bytes was first seen.
    pub(super) fn bytes(&self, left: i64, right: i64) -> i64 {
        let count = self.begins.len();
        let first = self.begins.partition_point(|begin| *begin <= left);
        if first == 0 {
            return NEVER;
        }
        let (mut low, mut high) = (count + first - 1, count + self.begins.partition_point(|begin| *begin < right));
        let mut latest = i64::MIN;
        while low < high {
            if low % 2 == 1 {
                latest = latest.max(self.latest[low]);
                low += 1;
            }
            if high % 2 == 1 {
                high -= 1;
                latest = latest.max(self.latest[high]);
            }
            (low, high) = (low / 2, high / 2);
        }
        latest
    }

    /// Time when the far tap first saw an ACK of at least this content; `None` where the packet acknowledges nothing.
    pub(super) fn ack(&self, lost: &Passage) -> Option<i64> {
        let said = (lost.acked? - self.shift, lost.window);
        let first = self.ahead.partition_point(|(ahead, _)| *ahead < said);
        Some(self.ahead.get(first).map_or(NEVER, |(_, time)| *time))
    }
}

/// Stretches of bytes with the time when they were first seen, the last one endless: a sweep over the edges of packets
/// with the packets that cover each.
fn stretches(timed: &[(i64, &Passage)], shift: i64) -> Vec<(i64, i64)> {
    let mut packets: Vec<(i64, i64, i64)> = timed
        .iter()
        .filter(|(_, passage)| passage.length > 0)
        .map(|(time, passage)| (passage.left + shift, passage.right() + shift, *time))
        .collect();
    packets.sort_unstable();
    let mut edges: Vec<i64> = packets.iter().flat_map(|(left, right, _)| [*left, *right]).collect();
    edges.sort_unstable();
    edges.dedup();
    let mut coming = packets.into_iter().peekable();
    let mut covering = BinaryHeap::new();
    let mut stretches: Vec<(i64, i64)> = Vec::new();
    for edge in edges {
        while let Some((_, right, time)) = coming.next_if(|(left, _, _)| *left <= edge) {
            covering.push(Reverse((time, right)));
        }
        while covering.peek().is_some_and(|Reverse((_, right))| *right <= edge) {
            covering.pop();
        }
        let first = covering.peek().map_or(NEVER, |Reverse((time, _))| *time);
        if stretches.last().is_none_or(|(_, time)| *time != first) {
            stretches.push((edge, first));
        }
    }
    stretches
}

/// ACKs that advanced beyond all before them. Of two ACKs of the same bytes the larger window is further: a window that
/// shrinks takes nothing back (RFC 9293 §3.8.6).
fn ahead(timed: &[(i64, &Passage)]) -> Vec<((i64, u16), i64)> {
    let mut ahead: Vec<((i64, u16), i64)> = Vec::new();
    for (time, passage) in timed {
        let Some(acked) = passage.acked else { continue };
        let said = (acked, passage.window);
        if ahead.last().is_none_or(|(farthest, _)| *farthest < said) {
            ahead.push((said, *time));
        }
    }
    ahead
}

/// Number to add to ACKs at the far tap to convert them to the sending tap's positions.
fn acks_shift(sent: &[Passage], seen: &[Passage]) -> i64 {
    let base = |passages: &[Passage]| {
        let acks = passages.iter().find_map(|passage| Some((passage.ack, passage.acked?)));
        acks.map(|(ack, acked)| SeqNo(ack.0.wrapping_sub(acked as u32)))
    };
    base(sent).zip(base(seen)).map_or(0, |(sent, seen)| i64::from(seen.since(sent)))
}

/// Merges overlapping recoveries of one flow, end and kind; the result is in the order of flow, end, kind and time.
pub(super) fn united(mut recoveries: Vec<Recovery>) -> Vec<Recovery> {
    let group = |one: &Recovery| (one.flow, one.sender, one.data);
    recoveries.sort_unstable_by_key(|one| (group(one), one.start_ns, one.end_ns));
    recoveries.dedup_by(|later, earlier| {
        let overlap = group(later) == group(earlier) && later.start_ns <= earlier.end_ns;
        if overlap {
            earlier.end_ns = earlier.end_ns.max(later.end_ns);
        }
        overlap
    });
    recoveries
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::End;
    use crate::wire::Flags;

    fn packet(left: i64, length: u32, acked: i64, window: u16) -> Passage {
        Passage {
            time: 0,
            packet: 0,
            left,
            length,
            seq: SeqNo(left as u32),
            ack: SeqNo(acked as u32),
            acked: Some(acked),
            flags: Flags::ACK,
            window,
            ip_id: None,
            ttl: None,
            timestamps: None,
            sacks: 0,
        }
    }

    #[test]
    fn bytes_are_there_when_the_last_of_them_is() {
        let seen = [packet(0, 100, 1, 9), packet(200, 100, 1, 9), packet(100, 50, 1, 9), packet(0, 300, 1, 9)];
        let first = FirstSeen::of(&[], &seen, 1_000, |number| [10, 20, 40, 70][number]);
        assert_eq!(first.bytes(1_000, 1_100), 10);
        assert_eq!(first.bytes(1_050, 1_140), 40);
        assert_eq!(first.bytes(1_000, 1_300), 70);
        assert_eq!(first.bytes(1_200, 1_300), 20);
        assert_eq!((first.bytes(1_250, 1_301), first.bytes(900, 1_100)), (NEVER, NEVER));
    }

    #[test]
    fn an_ack_is_repaired_by_the_next_that_says_as_much() {
        let seen = [packet(0, 0, 5, 9), packet(0, 0, 5, 4), packet(0, 0, 7, 1), packet(0, 0, 7, 8)];
        let first = FirstSeen::of(&seen, &seen, 0, |number| number as i64);
        let seen_at = |acked, window| first.ack(&packet(0, 0, acked, window));
        assert_eq!([seen_at(5, 9), seen_at(6, 9), seen_at(7, 2)], [Some(0), Some(2), Some(3)]);
        assert_eq!(seen_at(8, 0), Some(NEVER));
    }

    #[test]
    fn times_that_overlap_are_one() {
        let recovery = |start_ns, end_ns, data| Recovery { flow: 0, sender: End::Client, data, start_ns, end_ns };
        let all = vec![recovery(5, 9, true), recovery(0, 6, true), recovery(3, 4, false), recovery(10, 11, true)];
        let spans: Vec<_> = united(all).iter().map(|one| (one.data, one.start_ns, one.end_ns)).collect();
        assert_eq!(spans, [(false, 3, 4), (true, 0, 9), (true, 10, 11)]);
    }
}
