//! Distinguishes copies of packets, made by a capture or a network, and late packets from retransmissions.

use super::outstanding::COPY_AGE;
use super::pending::PendingAck;
use super::{Half, SOONEST_TIMER};
use crate::flow::events::Sending;
use crate::time::Nanos;
use crate::wire::Segment;

/// Duplicate ACKs that make a sender repair: DupThresh of RFC 5681 §3.2.
const DUPLICATES: i64 = 3;

impl Half {
    /// Shortest round trip between sender and peer by the legs to the tap, or zero where none is known.
    pub fn path(&self) -> Nanos {
        self.vantage.get().unwrap_or_default() + self.peer_distance.or_handshake().unwrap_or_default()
    }

    /// True if the segment, of bytes `[start, end)` that passed before, is a copy of a packet that the tap has seen.
    pub(super) fn is_copy(&mut self, segment: &Segment, start: i64, end: i64) -> bool {
        let rtt = self.path();
        let repairs = self.repairs_with_old_id(segment, start, end);
        let moved_on = !repairs && self.ip_id.moved_on(segment);
        (!repairs && self.ip_id.is_repeated_by(segment)) || self.outstanding.again(segment, start, end, rtt, moved_on)
    }

    /// True if the IP-ID is no newer than the last, and yet the sender sent the data again: RFC 1122 §3.2.1.5 lets it keep the
    /// packet's IP-ID, as nothing that passed the tap acknowledges the data. A retransmission has a stamp of its own (RFC 7323
    /// §3.2). Without stamps, the timer had time to fire since the packet passed last, or the peer asks for it. The peer soon
    /// acknowledges what a mirror or a loop repeats, because the original passed too; and a loop lowers the TTL.
    fn repairs_with_old_id(&self, segment: &Segment, start: i64, end: i64) -> bool {
        let twin = self.outstanding.last_copy(segment, end);
        let is_old = twin.is_some() || self.ip_id.is_newer(segment) == Some(false);
        let reached = start < self.acked_at_tap() || self.sacked.touches(start, end);
        if !is_old || reached || self.ip_id.comes_elsewhere(segment) {
            return false;
        }
        let Some(passed) = self.outstanding.sent_after(start) else { return false };
        let since = segment.time - twin.unwrap_or(passed);
        if since < COPY_AGE.max(self.path().scaled(0.5)) {
            return false;
        }
        match segment.timestamps {
            Some(_) => twin.is_none() && !self.outstanding.has_stamp_of(segment, start),
            None => since >= SOONEST_TIMER || (start == self.snd_una && self.is_asked_for(start, passed)),
        }
    }

    /// True if data that was `sending` again has the IP-ID of its first packet.
    pub(super) fn repeats_its_id(&self, segment: &Segment, sending: Sending) -> bool {
        let again = match sending {
            Sending::Again => !self.ip_id.was_skipped(segment),
            Sending::Late { retransmitted } => retransmitted,
            _ => false,
        };
        again && self.ip_id.is_newer(segment) == Some(false)
    }

    /// True if the data that fills a hole was sent after the data that overtook it. The sender's clock decides: a retransmission
    /// has a stamp of its own (RFC 7323 §3.2); or else a reliable IP-ID counter, unless the sender keeps a packet's IP-ID (RFC
    /// 1122 §3.2.1.5), which the timer's time shows, or a round trip if the data was asked for. Without both, data that nobody
    /// asked for was not retransmitted, unless the timer had time to fire. Data that was asked for was, if it came later than a
    /// reordering window of min RTT / 4 (RFC 8985 §6.2).
    pub(super) fn sent_later(&self, segment: &Segment, peer: &Half) -> bool {
        let start = self.offset(segment.seq);
        let known = self.ip_id.is_newer(segment).or_else(|| self.ip_id.was_skipped(segment).then_some(false));
        let Some(overtaken) = self.outstanding.sent_after(start) else { return known.unwrap_or(true) };
        let late = segment.time - overtaken;
        let rtt = self.vantage.get().unwrap_or_default() + self.peer_distance.get().unwrap_or_default();
        match known {
            Some(true) => true,
            _ if peer.vantage.has_newer(segment) => false,
            Some(false) if segment.timestamps.is_some() => !self.outstanding.has_stamp_of(segment, start),
            Some(false) => {
                let reported = self.is_reportable(start) && self.is_asked_for(start, overtaken);
                late >= SOONEST_TIMER || (rtt > Nanos::ZERO && late > rtt && reported)
            }
            None if late < SOONEST_TIMER && self.window_field > 0 && !self.is_asked_for(start, overtaken) => false,
            None => late > rtt.scaled(0.25),
        }
    }

    /// As many segments passed beyond the one at `start` as make three duplicate ACKs (RFC 5681 §3.2, RFC 6675 §4).
    fn is_reportable(&self, start: i64) -> bool {
        self.snd_nxt - start >= i64::from(self.mss()) * (1 + DUPLICATES)
    }

    /// A packet that passed the tap since the byte at `start` was `overtaken` reports that byte missing.
    fn is_asked_for(&self, start: i64, overtaken: Nanos) -> bool {
        let asks = |ack: &PendingAck| ack.ack <= start && (ack.sack_count > 0 || !self.sack_permitted);
        self.hinted || self.has_holes() || self.pending.iter().any(|ack| ack.time >= overtaken && asks(ack))
    }
}
