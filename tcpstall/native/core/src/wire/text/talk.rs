//! Finds source, destination and kind of packet in a packet line.

use super::cursor::{find, labelled};
use super::{classic, fields};

/// The parts of a line about a TCP segment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Talk<'a> {
    /// Everything between the time and the source: interface, link layer, IP header.
    pub(super) head: &'a [u8],
    pub(super) source: &'a [u8],
    pub(super) destination: &'a [u8],
    /// The text from the flags on.
    pub(super) segment: &'a [u8],
}

/// Kind of a packet line (without its time).
#[derive(Clone, Copy, Debug)]
pub(super) enum LineKind<'a> {
    /// A TCP segment.
    Tcp(Talk<'a>),
    /// The first of the two lines that `-v` writes for a TCP segment over IPv4.
    TcpHead,
    /// A TCP segment (or the beginning of a line that may have been one) that lacks a necessary part.
    Broken,
    /// IP, but not TCP.
    OtherIp,
    /// A packet without IP.
    NotIp,
    /// No packet.
    NoPacket,
}

/// Words in a line about a packet without IP, or with its IP header on the next line (MPLS with `-v`).
const NOT_IP: [&[u8]; 5] = [b"length ", b"ethertype ", b"ARP", b"arp ", b"MPLS ("];

/// Classifies a line.
pub(super) fn kind(text: &[u8]) -> LineKind<'_> {
    let mut peer = None;
    for talk in (Talks { text, from: 0 }) {
        if fields::is_tcp(talk.segment) || classic::is_tcp(talk.segment) {
            return LineKind::Tcp(talk);
        }
        peer.get_or_insert(talk);
    }
    if let Some(talk) = peer {
        return if is_broken(talk.segment) { LineKind::Broken } else { LineKind::OtherIp };
    }
    let holds = |words: &[u8]| find(text, words).is_some();
    // tcpdump 3.9 wrote "proto: TCP (6)".
    if holds(b"proto TCP (6)") || holds(b"proto: TCP (6)") {
        LineKind::TcpHead
    } else if holds(b", proto ") || holds(b", proto: ") || holds(b"next-header ") {
        LineKind::OtherIp
    } else if text.starts_with(b"IP ") || text.starts_with(b"IP6 ") || holds(b" IP ") && holds(b" > ") {
        LineKind::Broken
    } else if NOT_IP.iter().any(|words| holds(words)) {
        LineKind::NotIp
    } else {
        LineKind::NoPacket
    }
}

/// IPv4 identification and TTL, or IPv6 hop limit, as `-v` prints them in the head of a line.
pub(super) fn ip_fields(head: &[u8]) -> (Option<u16>, Option<u8>) {
    let Some(open) = find(head, b"(tos ") else {
        return (None, labelled(head, b"hlim ").and_then(|limit| u8::try_from(limit).ok()));
    };
    let shown = &head[open..];
    let id = labelled(shown, b" id ").and_then(|id| u16::try_from(id).ok());
    let ttl = labelled(shown, b" ttl ");
    (id, ttl.and_then(|ttl| u8::try_from(ttl).ok()))
}

/// True for a cut line, tcpdump's mark for a header that the snap length cut, or `-q`, which prints neither numbers nor
/// flags.
fn is_broken(segment: &[u8]) -> bool {
    let text = segment.trim_ascii_start();
    b"Flags [".starts_with(text) || text.starts_with(b"[|tcp]") || text.starts_with(b"tcp ")
}

/// Iterates each `source > destination: …` in a line, from the left: a tunnel's line has two.
struct Talks<'a> {
    text: &'a [u8],
    from: usize,
}

impl<'a> Iterator for Talks<'a> {
    type Item = Talk<'a>;

    fn next(&mut self) -> Option<Talk<'a>> {
        loop {
            let arrow = self.from + find(&self.text[self.from..], b" > ")?;
            self.from = arrow + 3;
            let before = &self.text[..arrow];
            let start = before.iter().rposition(|&byte| byte == b' ').map_or(0, |at| at + 1);
            let after = &self.text[self.from..];
            let end = after.iter().position(|&byte| byte == b' ').unwrap_or(after.len());
            // A link-layer address ends with a comma instead.
            if let Some(destination) = after[..end].strip_suffix(b":") {
                let segment = after.get(end + 1..).unwrap_or_default();
                return Some(Talk { head: &before[..start], source: &before[start..], destination, segment });
            }
        }
    }
}
