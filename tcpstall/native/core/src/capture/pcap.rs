//! The classic pcap file: one header, one link type, records.

use super::error::CaptureError;
use super::link::LinkType;
use super::order::Order;
use super::stream::{RECORD_LIMIT, Stream};
use super::{Frame, Item};
use crate::size::PacketNo;
use crate::time::Nanos;

/// Length of the file header, bytes.
const FILE_HEADER: usize = 24;

/// Minor version of the format for decades now; the major version was always 2.
const CURRENT_MINOR: u16 = 4;

/// The largest snap length that tcpdump uses by itself, bytes. Files whose header states less do hold longer packets
/// (tools that merge and rewrite forget the field), so this much is believed of any of them.
const USUAL_SNAP_LENGTH: u32 = 262_144;

/// The three layouts that share one shape, told apart by the magic number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    /// Byte order of the file.
    pub(super) order: Order,
    /// Nanoseconds in one unit of the fraction field.
    nanos: i64,
    /// Length of a record's header, bytes.
    record_header: usize,
}

impl Layout {
    /// What the magic number says, or nothing where it is not pcap's.
    pub(super) fn of(magic: [u8; 4]) -> Option<Layout> {
        let big = |order, magic| match magic {
            0xa1b2_c3d4 => Some(Layout { order, nanos: 1_000, record_header: 16 }),
            0xa1b2_3c4d => Some(Layout { order, nanos: 1, record_header: 16 }),
            // Kuznetsov's patched libpcap of early Red Hat adds interface, protocol and packet type to each record.
            0xa1b2_cd34 => Some(Layout { order, nanos: 1_000, record_header: 24 }),
            _ => None,
        };
        big(Order::Big, u32::from_be_bytes(magic)).or_else(|| big(Order::Little, u32::from_le_bytes(magic)))
    }
}

/// Reader of a classic pcap file.
pub(super) struct Pcap {
    layout: Layout,
    link: LinkType,
    /// Written before version 2.4, when some writers put a record's two lengths the other way round.
    old: bool,
    /// Most bytes that a record can hold.
    limit: u32,
    packets: u64,
}

impl Pcap {
    /// Reads the file header.
    pub(super) fn open(layout: Layout, stream: &mut Stream) -> Result<Pcap, CaptureError> {
        stream.need(FILE_HEADER)?;
        let Some([_, version, _, _, snap_length, link]) = layout.order.words(stream.buffered()) else {
            return Err(stream.ends_inside("the file header", FILE_HEADER as u64, PacketNo(1)));
        };
        stream.take(FILE_HEADER);
        let [_, minor] = layout.order.halves(version);
        // The upper half of the link type field tells of frame check sequences, which no length here includes.
        let link = LinkType(link as u16);
        let limit = snap_length.clamp(USUAL_SNAP_LENGTH, RECORD_LIMIT);
        Ok(Pcap { layout, link, old: minor < CURRENT_MINOR, limit, packets: 0 })
    }

    /// The file's only link type.
    pub(super) fn link(&self) -> &LinkType {
        &self.link
    }

    /// The next record.
    #[inline]
    pub(super) fn next<'a>(&mut self, stream: &'a mut Stream) -> Result<Option<Item<'a>>, CaptureError> {
        let header = self.layout.record_header;
        let packet = PacketNo(self.packets + 1);
        if !stream.need(header)? && stream.buffered().is_empty() {
            return stream.end(packet);
        }
        let fields = self.layout.order.words(stream.buffered());
        let Some([seconds, fraction, mut captured, mut wire]) = fields else {
            return Err(stream.ends_inside("the record header", header as u64, packet));
        };
        if self.old && captured > wire {
            (captured, wire) = (wire, captured);
        }
        if captured > self.limit {
            return Err(self.impossible(captured, stream));
        }
        let record = header + captured as usize;
        if !stream.need(record)? {
            return Err(stream.ends_inside("the record", record as u64, packet));
        }
        self.packets += 1;
        // A fraction of a second or more occurs in files of broken writers and simply adds up.
        let nanos = i64::from(seconds) * 1_000_000_000 + i64::from(fraction) * self.layout.nanos;
        Ok(Some(Item::Frame(Frame {
            packet,
            time: Nanos(nanos),
            link: self.link,
            bytes: stream.take(record).get(header..).unwrap_or_default(),
            // Some writers leave the length on the wire 0.
            wire_length: wire.max(captured),
        })))
    }

    #[cold]
    fn impossible(&self, captured: u32, stream: &mut Stream) -> CaptureError {
        let limit = self.limit;
        let what = format!("the record header claims {captured} captured bytes, at most {limit} are possible");
        stream.damaged(what, PacketNo(self.packets + 1))
    }
}

#[cfg(test)]
mod tests;
