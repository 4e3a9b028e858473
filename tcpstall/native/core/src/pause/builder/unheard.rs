//! Payload of the peer that had passed the tap, and not yet reached the sender: the ACK number of what the sender sent shows that.

use super::Builder;
use crate::flow::Half;
use crate::packet_no::PacketNo;
use crate::time::Nanos;
use crate::wire::{Flags, Segment};

/// The peer's payload since the sender's last new data.
#[derive(Clone, Copy, Debug)]
pub struct Unheard {
    bytes: u64,
    last: Nanos,
    packet: Option<PacketNo>,
}

/// Bytes of the `peer` that had passed the tap before this segment, which acknowledges none of them. Each segment acknowledges all that
/// has arrived (RFC 9293 §3.4).
fn unheard(segment: &Segment, peer: &Half) -> u64 {
    let seen = peer.started() && segment.flags.has(Flags::ACK);
    if seen { u64::try_from(peer.snd_nxt - peer.offset(segment.ack)).unwrap_or_default() } else { 0 }
}

impl Builder {
    /// Takes back the peer's payload, where the new data left before any of it had arrived, although it passed the tap earlier than a
    /// path of that `distance` takes: the data answers none of it, and when it left is unknown.
    pub fn takes_back_unheard(&mut self, segment: &Segment, peer: &Half, distance: Nanos) -> Option<Unheard> {
        let open = &mut self.open;
        let (last, bytes) = (open.peer_last?, open.peer_bytes);
        if bytes == 0 || segment.time - last <= distance || unheard(segment, peer) < bytes {
            return None;
        }
        open.unseen.departure = true;
        open.peer_bytes = 0;
        (open.peer_first, open.peer_last) = (None, None);
        Some(Unheard { bytes, last, packet: open.peer_packet.take() })
    }

    /// Takes in what the sender had not received when its new data left: what it sends next may answer that.
    pub fn hears_at_last(&mut self, unheard: &Unheard) {
        let open = &mut self.open;
        (open.peer_bytes, open.peer_last, open.peer_packet) = (unheard.bytes, Some(unheard.last), unheard.packet);
    }

    /// Takes in old data that the sender sent again before any of the peer's payload had arrived, over a path of that `distance`: what
    /// passed the tap sooner than that before it was on its way all the same.
    pub fn repeats_unheard(&mut self, segment: &Segment, peer: &Half, distance: Nanos) {
        let open = &mut self.open;
        if open.peer_bytes > 0 && unheard(segment, peer) >= open.peer_bytes {
            let arrived = Some(segment.time - distance);
            (open.peer_first, open.peer_last) = (open.peer_first.max(arrived), open.peer_last.max(arrived));
        }
    }
}
