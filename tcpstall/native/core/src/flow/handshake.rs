//! The three-way handshake as the tap saw it.

use crate::seq::SeqNo;
use crate::time::Nanos;

/// Times of its segments and what the SYNs carried.
#[derive(Clone, Copy, Debug, Default)]
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

    /// When it began, by whatever of it was captured.
    pub fn start(&self) -> Option<Nanos> {
        self.syn.or(self.syn_ack)
    }

    /// The completing segment or the last attempt.
    pub fn end(&self) -> Option<Nanos> {
        self.done.or(self.last_syn_ack.max(self.last_syn))
    }
}
