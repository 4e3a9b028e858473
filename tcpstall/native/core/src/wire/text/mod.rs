//! Reads tcpdump's text output, because tickets hold pastes of it.
//!
//! Supported are the forms of tcpdump 3.9 to 4.99 (and OpenBSD's): with and without `-n`, `-v`, `-e`, `-S`, `-#`, all
//! of `-t…`. Not sufficient are `-q` (no sequence numbers), `-t` (no time), and a line that mail broke in two.

mod classic;
mod clean;
mod clock;
mod cursor;
mod endpoint;
mod fields;
mod names;
mod numbers;
mod options;
mod remark;
mod services;
mod talk;
#[cfg(test)]
mod tests;

use hashbrown::HashMap;

use self::clock::{PrintedClock, Stamp};
use self::fields::Printed;
use self::names::ReplacedNames;
use self::numbers::Numbers;
use self::remark::Remark;
use self::talk::{LineKind, Talk};
use crate::packet_no::PacketNo;
use crate::time::Nanos;
use crate::wire::{Address, Endpoint, Segment};

/// Classification of one line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TextLine {
    /// A TCP segment. A segment from a tunnel that has a line of its own comes after its packet's own reading.
    Segment(Segment),
    /// A mark that lines were left out here (`......`, `[snip]`).
    LeftOut,
    /// A packet: IP, but not TCP.
    NotTcp,
    /// A packet without IP, such as ARP.
    NotIp,
    /// A packet that looks like TCP but is unreadable: cut, without a time, or without sequence numbers.
    Damaged,
    /// No packet, or not yet: prompt, blank line, remark, closing counts, and the first of two lines with `-v`.
    Remark,
}

/// A paste of tcpdump's text, read line by line.
#[derive(Debug, Default)]
pub struct Paste {
    clock: PrintedClock,
    names: ReplacedNames,
    connections: HashMap<(Endpoint, Endpoint), Numbers>,
    head: Option<Head>,
    packets: u64,
    damaged: u64,
    dropped_by_kernel: Option<u64>,
    scratch: Vec<u8>,
}

/// The text before the segment itself: on the same line, or on the line before.
#[derive(Clone, Copy, Debug)]
struct Head {
    packet: PacketNo,
    time: Nanos,
    ip_id: Option<u16>,
    ttl: Option<u8>,
    /// A TCP segment must follow on the next line. After other packets it may follow: tunnels have theirs there.
    promised: bool,
}

impl Paste {
    /// An empty paste.
    pub fn new() -> Paste {
        Paste::default()
    }

    /// Reads the next line, given without its line end.
    pub fn line(&mut self, line: &[u8]) -> TextLine {
        let mut scratch = std::mem::take(&mut self.scratch);
        let reading = self.read(clean::plain(line, &mut scratch));
        self.scratch = scratch;
        reading
    }

    /// Ends the paste: [`TextLine::Damaged`] if the last packet lacks its second line.
    pub fn finish(&mut self) -> TextLine {
        if self.give_up_head() { TextLine::Damaged } else { TextLine::Remark }
    }

    /// True if the times have a date; otherwise they count from 1970-01-01.
    pub fn dated(&self) -> bool {
        self.clock.dated()
    }

    /// Packets dropped by the kernel, by tcpdump's closing counts; the sum where the paste holds several captures.
    pub fn dropped_by_kernel(&self) -> Option<u64> {
        self.dropped_by_kernel
    }

    /// Packets so far, readable or not; packet numbers count these from 1.
    pub fn packets(&self) -> u64 {
        self.packets
    }

    /// Unreadable packets so far. The number exceeds the returned [`TextLine::Damaged`] by the packets whose second line
    /// never came: their first line had been returned as a remark.
    pub fn damaged(&self) -> u64 {
        self.damaged
    }

    /// Host names in order of appearance, each with the address in 2001:db8::/32 that replaces it in the segments.
    pub fn names(&self) -> &[(String, Address)] {
        self.names.hosts()
    }

    /// Service names that are not in the table, each with the dynamic port (49152 and up) that replaces it.
    pub fn services(&self) -> &[(String, u16)] {
        self.names.services()
    }

    fn read(&mut self, line: &[u8]) -> TextLine {
        match clock::stamp(line.strip_prefix(b"^C").unwrap_or(line)) {
            Some((stamp, text)) => self.timed(stamp, text),
            None => self.untimed(line.trim_ascii_start()),
        }
    }

    fn timed(&mut self, stamp: Stamp, text: &[u8]) -> TextLine {
        let kind = talk::kind(text);
        if matches!(kind, LineKind::NoPacket) {
            return TextLine::Remark;
        }
        self.give_up_head();
        self.packets += 1;
        let (packet, time) = (PacketNo(self.packets), self.clock.moment(stamp));
        let head = |shown: &[u8], promised: bool| {
            let (ip_id, ttl) = talk::ip_fields(shown);
            Head { packet, time, ip_id, ttl, promised }
        };
        match kind {
            LineKind::Tcp(talk) => self.segment(head(talk.head, true), talk),
            LineKind::TcpHead => self.await_segment(head(text, true), TextLine::Remark),
            LineKind::OtherIp => self.await_segment(head(text, false), TextLine::NotTcp),
            LineKind::NotIp => self.await_segment(head(text, false), TextLine::NotIp),
            LineKind::Broken | LineKind::NoPacket => self.broken(),
        }
    }

    fn await_segment(&mut self, head: Head, reading: TextLine) -> TextLine {
        self.head = Some(head);
        reading
    }

    /// Reads a line without a time: a packet's second line, or a remark.
    fn untimed(&mut self, line: &[u8]) -> TextLine {
        let promised = self.head.is_some_and(|head| head.promised);
        match talk::kind(line) {
            LineKind::Tcp(talk) => match self.head.take() {
                Some(head) => self.segment(head, talk),
                None => {
                    self.packets += 1;
                    self.broken()
                }
            },
            LineKind::Broken if promised => {
                self.head = None;
                self.broken()
            }
            LineKind::OtherIp if promised => {
                self.head = None;
                TextLine::NotTcp
            }
            LineKind::OtherIp | LineKind::TcpHead => {
                // The inner IP header of a tunnel.
                if let (Some(head), (Some(id), ttl)) = (&mut self.head, talk::ip_fields(line)) {
                    (head.ip_id, head.ttl) = (Some(id), ttl);
                }
                TextLine::Remark
            }
            _ => self.remark(line),
        }
    }

    fn remark(&mut self, line: &[u8]) -> TextLine {
        match remark::read(line) {
            Remark::LeftOut => {
                self.give_up_head();
                return TextLine::LeftOut;
            }
            Remark::DroppedByKernel(packets) => {
                self.dropped_by_kernel = Some(self.dropped_by_kernel.unwrap_or(0).saturating_add(packets));
            }
            Remark::Other => {}
        }
        TextLine::Remark
    }

    fn segment(&mut self, head: Head, talk: Talk<'_>) -> TextLine {
        let printed =
            if fields::is_tcp(talk.segment) { fields::read(talk.segment) } else { classic::read(talk.segment) };
        let source = endpoint::read(talk.source, &mut self.names);
        let destination = endpoint::read(talk.destination, &mut self.names);
        match (printed, source, destination) {
            (Some(printed), Some(source), Some(destination)) => {
                TextLine::Segment(self.assemble(head, source, destination, &printed))
            }
            _ => self.broken(),
        }
    }

    fn assemble(&mut self, head: Head, source: Endpoint, destination: Endpoint, printed: &Printed) -> Segment {
        let from = usize::from(source > destination);
        let ends = if from == 0 { (source, destination) } else { (destination, source) };
        let numbers = self.connections.entry(ends).or_default().absolute(from, printed);
        Segment {
            packet: head.packet,
            time: head.time,
            source,
            destination,
            seq: numbers.seq,
            ack: numbers.ack,
            flags: printed.flags,
            window: printed.window,
            payload: printed.payload,
            ip_id: head.ip_id,
            ttl: head.ttl,
            vlan: None,
            timestamps: printed.options.timestamps,
            mss: printed.options.mss,
            window_scale: printed.options.window_scale,
            sack_permitted: printed.options.sack_permitted,
            multipath: printed.options.multipath,
            tunnelled: false,
            fragmented: false,
            goes_on: false,
            options_cut: printed.options.cut,
            sack_count: printed.options.sack_count,
            sack: numbers.sack,
        }
    }

    fn broken(&mut self) -> TextLine {
        self.damaged += 1;
        TextLine::Damaged
    }

    /// Counts a first line whose second line never came; true if there was one.
    fn give_up_head(&mut self) -> bool {
        let lost = self.head.take().is_some_and(|head| head.promised);
        self.damaged += u64::from(lost);
        lost
    }
}
