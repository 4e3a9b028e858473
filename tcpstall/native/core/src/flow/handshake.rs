//! The three-way handshake as the tap saw it.

use crate::seq::SeqNo;
use crate::time::Nanos;

/// Times of its segments and what the SYNs carried.
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
    /// The segment that completed it.
    pub done: Option<Nanos>,
    /// Data of the client before anything completed it: the capture lacks what did.
    pub spoken: Option<Nanos>,
    /// The RST that answered the SYN instead.
    pub refused: Option<Nanos>,
    /// ISN of the client.
    pub client_isn: Option<SeqNo>,
    /// ISN of the server.
    pub server_isn: Option<SeqNo>,
    /// MSS option of client and server.
    pub mss: [Option<u16>; 2],
    /// Window scale option of client and server.
    pub scale: [Option<u8>; 2],
    /// The snap length cut a SYN's options: what they lack proves nothing.
    pub options_cut: bool,
    /// Multipath TCP of client and server.
    pub multipath: [bool; 2],
    /// SACK-permitted of client and server.
    pub sack: [bool; 2],
    /// Timestamps in the SYN-ACK, or in the SYN that was stored after it.
    pub timestamps: bool,
}

impl Handshake {
    /// All three segments were captured.
    pub fn complete(&self) -> bool {
        self.syn.is_some() && self.syn_ack.is_some() && self.done.is_some()
    }

    /// One of several subflows: both SYNs said so, so far as they were captured (RFC 8684 §3.1: without an answer there is none).
    pub fn is_multipath(&self) -> bool {
        let [client, server] = self.multipath;
        (client || self.syn.is_none()) && (server || self.syn_ack.is_none()) && (client || server)
    }

    /// How long after the SYN the SYN-ACK passed, where each was sent once: kernels answer at once, applications have no part.
    #[inline]
    pub fn answered(&self) -> Option<Nanos> {
        let once = self.syns == 1 && self.syn_acks == 1;
        self.syn_ack.zip(self.syn).filter(|_| once).map(|(answer, syn)| (answer - syn).or_zero())
    }

    /// When it began, by whatever of it was captured.
    pub fn start(&self) -> Option<Nanos> {
        self.syn.or(self.syn_ack)
    }

    /// The completing segment, the one that refused it, or the last attempt; no later than the client's first data.
    pub fn end(&self) -> Option<Nanos> {
        let end = self.done.or(self.refused).or(self.last_syn_ack.max(self.last_syn))?;
        let spoken = self.spoken.map_or(end, |spoken| spoken.min(end));
        Some(spoken.max(self.start().unwrap_or(spoken)))
    }
}
