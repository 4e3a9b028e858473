//! The three-way handshake as seen at the tap.

use crate::flow::end::End;
use crate::seq::SeqNo;
use crate::time::Nanos;
use crate::wire::{Flags, Segment};

/// Factor of the time to an answer that the intervals between several SYNs must reach: then it answers the last one.
const CLEARLY: i64 = 4;

/// Further fields of an end's last SYN, which no rule reads: they help to distinguish hosts and networks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Syn {
    /// IPv4 TTL or IPv6 hop limit at the tap.
    pub ttl: Option<u8>,
    /// The window field, which is never scaled in a SYN (RFC 7323 §2.2).
    pub window: u16,
    /// The timestamps option.
    pub timestamps: bool,
    /// ECN: a SYN offers it, a SYN-ACK accepts it (RFC 3168 §6.1.1).
    pub ecn: bool,
}

impl Syn {
    fn of(segment: &Segment) -> Syn {
        let [accepts, offers] = [Flags::ECE, Flags::CWR].map(|bit| segment.flags.has(bit));
        Syn {
            ttl: segment.ttl,
            window: segment.window,
            timestamps: segment.timestamps.is_some(),
            ecn: accepts && offers != segment.flags.has(Flags::ACK),
        }
    }
}

/// Times of the handshake's segments and options of its SYNs.
#[derive(Clone, Copy, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Handshake {
    /// First SYN.
    pub syn: Option<Nanos>,
    /// Last SYN.
    pub last_syn: Option<Nanos>,
    /// SYNs seen.
    pub syns: u32,
    /// First SYN-ACK.
    pub syn_ack: Option<Nanos>,
    /// Last SYN-ACK.
    pub last_syn_ack: Option<Nanos>,
    /// SYN-ACKs seen.
    pub syn_acks: u32,
    /// The segment that completed it; the last SYN-ACK where the capture lacks that segment.
    pub done: Option<Nanos>,
    /// Data of the client before any segment completed the handshake: the capture lacks that segment.
    pub spoken: Option<Nanos>,
    /// The last RST that answered the SYN instead of a SYN-ACK: Windows sends the SYN again half a second after each.
    pub refused: Option<Nanos>,
    /// ISN of the client.
    pub client_isn: Option<SeqNo>,
    /// ISN of the server.
    pub server_isn: Option<SeqNo>,
    /// MSS option of client and server.
    pub mss: [Option<u16>; 2],
    /// Window scale option of client and server.
    pub scale: [Option<u8>; 2],
    /// The snap length cut a SYN's options: a missing option proves nothing.
    pub options_cut: bool,
    /// Multipath TCP of client and server.
    pub multipath: [bool; 2],
    /// SACK-permitted of client and server.
    pub sack: [bool; 2],
    /// Timestamps in both SYNs, or in the only one captured: an answer to a SYN without them agrees to none (RFC 7323 §3.2).
    pub timestamps: bool,
    /// Further fields of the SYNs of client and server.
    pub said: [Option<Syn>; 2],
}

impl Handshake {
    /// Takes in the SYN or SYN-ACK of an end that has just passed the tap.
    pub fn hear(&mut self, end: End, segment: &Segment) {
        self.sack[end] = segment.sack_permitted;
        self.multipath[end] = segment.multipath;
        self.options_cut |= segment.options_cut;
        self.mss[end] = segment.mss;
        self.scale[end] = segment.window_scale;
        self.said[end] = Some(Syn::of(segment));
        self.timestamps = self.said.iter().flatten().all(|syn| syn.timestamps);
    }

    /// All three segments were captured.
    pub fn complete(&self) -> bool {
        self.syn.is_some() && self.syn_ack.is_some() && self.done.is_some()
    }

    /// The flow is one of several subflows: both SYNs offered it, as far as they were captured (RFC 8684 §3.1: without
    /// an answer there are none).
    pub fn is_multipath(&self) -> bool {
        let [client, server] = self.multipath;
        (client || self.syn.is_none()) && (server || self.syn_ack.is_none()) && (client || server)
    }

    /// Time from the SYN to the SYN-ACK, where each was sent once: kernels answer at once, without the application.
    #[inline]
    pub fn answered(&self) -> Option<Nanos> {
        let once = self.syns == 1 && self.syn_acks == 1;
        self.syn_ack.zip(self.syn).filter(|_| once).map(|(answer, syn)| (answer - syn).or_zero())
    }

    /// Time from the last SYN to the SYN-ACK at `now`, the first one. Which of several SYNs it answers is unclear (RFC 6298 §3), but a
    /// server answers each that reaches it (RFC 9293 §3.10.7.4), so a path as long as an interval between SYNs is unlikely where
    /// the answer takes a small part of that.
    pub(in crate::flow) fn answered_first(&self, now: Nanos) -> Option<Nanos> {
        let (first, last) = self.syn.zip(self.last_syn).filter(|_| self.syn_acks == 1)?;
        answered(now - last, last - first, self.syns)
    }

    /// Time from the last SYN-ACK to the client's first ACK at `now`. A client too answers each SYN-ACK that reaches it.
    pub(in crate::flow) fn completed(&self, now: Nanos) -> Option<Nanos> {
        let (first, last) = self.syn_ack.zip(self.last_syn_ack)?;
        answered(now - last, last - first, self.syn_acks)
    }

    /// Start of the handshake, by the captured part of it.
    pub fn start(&self) -> Option<Nanos> {
        self.syn.or(self.syn_ack)
    }

    /// End of the handshake: the completing segment, the refusing segment, or the last attempt; no later than the
    /// client's first data.
    pub fn end(&self) -> Option<Nanos> {
        let end = self.done.or(self.refused).or(self.last_syn_ack.max(self.last_syn))?;
        let spoken = self.spoken.map_or(end, |spoken| spoken.min(end));
        Some(spoken.max(self.start().unwrap_or(spoken)))
    }
}

/// The time to an answer, if that is clearly to the last of so many repeats, the first and last of which are `apart`.
fn answered(span: Nanos, apart: Nanos, count: u32) -> Option<Nanos> {
    (span.times(CLEARLY * i64::from(count.saturating_sub(1))) <= apart).then_some(span)
}
