//! Reads the classic pcap file: one header, one link type, records.

mod boundary;
mod plausible;

pub use self::boundary::whole_records;

use super::error::CaptureError;
use super::link::LinkType;
use super::losses::{Losses, seek};
use super::order::ByteOrder;
use super::stream::{RECORD_LIMIT, Stream};
use super::{Frame, Item, Recording, Takes};
use crate::packet_no::PacketNo;
use crate::time::Nanos;

/// Length of the file header, bytes.
const FILE_HEADER: usize = 24;

/// Length of a record's header, bytes, except in one old layout.
const HEADER: usize = 16;

/// Minor version of the format for decades; the major version was always 2.
const CURRENT_MINOR: u16 = 4;

/// Largest snap length that tcpdump sets by default, bytes. Files whose header states less hold longer packets too
/// (tools that merge and rewrite forget the field), so packets up to this length are accepted in any file.
const USUAL_SNAP_LENGTH: u32 = 262_144;

/// The three layouts of the same shape, distinguished by the magic number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    /// Byte order of the file.
    pub(super) order: ByteOrder,
    /// Nanoseconds in one unit of the fraction field.
    nanos: i64,
    /// Length of a record's header, bytes.
    record_header: usize,
}

impl Layout {
    /// The layout for a magic number, `None` where it is not pcap's.
    pub(super) fn of(magic: [u8; 4]) -> Option<Layout> {
        let big = |order, magic| match magic {
            0xa1b2_c3d4 => Some(Layout { order, nanos: 1_000, record_header: HEADER }),
            0xa1b2_3c4d => Some(Layout { order, nanos: 1, record_header: HEADER }),
            // Kuznetsov's patched libpcap of early Red Hat adds interface, protocol and packet type to each record.
            0xa1b2_cd34 => Some(Layout { order, nanos: 1_000, record_header: 24 }),
            _ => None,
        };
        big(ByteOrder::Big, u32::from_be_bytes(magic)).or_else(|| big(ByteOrder::Little, u32::from_le_bytes(magic)))
    }

    /// A record's time. Broken writers give fractions of a second or more, which are simply added.
    #[inline(always)]
    fn time(self, seconds: u32, fraction: u32) -> Nanos {
        Nanos(i64::from(seconds) * 1_000_000_000 + i64::from(fraction) * self.nanos)
    }
}

/// Reader of a classic pcap file.
pub(super) struct PcapReader {
    layout: Layout,
    /// The link type of the file, after those of the files that it was appended to.
    links: Vec<LinkType>,
    link: LinkType,
    /// Version before 2.4, when some writers exchanged a record's two lengths.
    old: bool,
    /// Snap length of the header, bytes.
    snap_length: u32,
    /// Largest number of bytes in a record.
    limit: u32,
    packets: u64,
    /// Time of the last record, seconds.
    last_second: Option<u32>,
    losses: Losses,
}

/// Meaning of a record header of zero or impossible length.
enum Odd {
    /// A record without bytes.
    Record,
    /// The header of another file that was appended to this one.
    Header,
    /// Damage.
    Damage,
}

impl PcapReader {
    /// Reads the file header.
    pub(super) fn open(layout: Layout, stream: &mut Stream) -> Result<PcapReader, CaptureError> {
        stream.need(FILE_HEADER)?;
        let mut pcap = PcapReader {
            layout,
            links: Vec::new(),
            link: LinkType::ETHERNET,
            old: false,
            snap_length: 0,
            limit: USUAL_SNAP_LENGTH,
            packets: 0,
            last_second: None,
            losses: Losses::default(),
        };
        if pcap.follow(layout, stream.buffered()).is_none() {
            return Err(stream.ends_inside("the file header", FILE_HEADER as u64, PacketNo(1)));
        }
        stream.take(FILE_HEADER);
        Ok(pcap)
    }

    /// Applies the parameters of this file header.
    fn follow(&mut self, layout: Layout, header: &[u8]) -> Option<()> {
        let [_, version, _, _, snap_length, link] = layout.order.words(header)?;
        let [_, minor] = layout.order.halves(version);
        self.layout = layout;
        // The upper half of the link type field describes frame check sequences, which no length here includes.
        self.link = LinkType(link as u16);
        if !self.links.contains(&self.link) {
            self.links.push(self.link);
        }
        self.old = minor < CURRENT_MINOR;
        self.snap_length = snap_length;
        self.limit = snap_length.clamp(USUAL_SNAP_LENGTH, RECORD_LIMIT);
        Some(())
    }

    /// The link types of its headers.
    pub(super) fn links(&self) -> &[LinkType] {
        &self.links
    }

    /// Recording parameters of its latest header.
    pub(super) fn recording(&self) -> Recording {
        Recording { tick: Nanos(self.layout.nanos), snap_length: self.snap_length }
    }

    /// The next record.
    #[inline(always)]
    pub(super) fn next<'a>(&mut self, stream: &'a mut Stream) -> Result<Option<Item<'a>>, CaptureError> {
        let header = self.layout.record_header;
        let packet = PacketNo(self.packets + 1);
        if !stream.need(header)? && stream.buffered().is_empty() {
            return self.losses.end(packet, stream);
        }
        let fields = self.layout.order.words(stream.buffered());
        let Some([seconds, fraction, mut captured, mut wire]) = fields else {
            return Err(self.ends_inside("the record header", header, stream));
        };
        if self.old && captured > wire {
            (captured, wire) = (wire, captured);
        }
        // One comparison for both special lengths: zero, and too large.
        if captured.wrapping_sub(1) >= self.limit {
            match self.odd([seconds, fraction, captured, wire], stream)? {
                Odd::Record => {}
                Odd::Header => return self.again(stream),
                Odd::Damage => return Ok(Some(Item::LeftOut)),
            }
        }
        let record = header + captured as usize;
        if !stream.need(record)? {
            return Err(self.ends_inside("the record", record, stream));
        }
        self.packets += 1;
        self.last_second = Some(seconds);
        Ok(Some(Item::Frame(Frame {
            packet,
            time: self.layout.time(seconds, fraction),
            link: self.link,
            bytes: stream.take(record).get(header..).unwrap_or_default(),
            // Some writers set the length on the wire to 0.
            wire_length: wire.max(captured),
        })))
    }

    /// See [`super::Capture::buffered`].
    #[inline(always)]
    pub(super) fn buffered<T: Takes>(&mut self, stream: &mut Stream, room: &mut [T::Place], from: Nanos) -> usize {
        if self.old || self.layout.record_header != HEADER {
            return 0;
        }
        let mut buffered = stream.buffered();
        let (all, link, mut last, mut count) = (buffered.len(), self.link, from, 0);
        for (place, packet) in room.iter_mut().zip(self.packets + 1..) {
            let Some([seconds, fraction, captured, wire]) = self.layout.order.words(buffered) else { break };
            let record = HEADER + captured as usize;
            let time = self.layout.time(seconds, fraction);
            if captured.wrapping_sub(1) >= self.limit || wire < captured || time < last {
                break;
            }
            let Some(bytes) = buffered.get(HEADER..record) else { break };
            if !T::takes(&Frame { packet: PacketNo(packet), time, link, bytes, wire_length: wire }, place) {
                break;
            }
            (last, count) = (time, count + 1);
            self.last_second = Some(seconds);
            buffered = &buffered[record..];
        }
        let read = all - buffered.len();
        stream.take(read);
        self.packets += count as u64;
        count
    }

    /// The next record, in a call that is not inlined.
    #[cold]
    #[inline(never)]
    fn again<'a>(&mut self, stream: &'a mut Stream) -> Result<Option<Item<'a>>, CaptureError> {
        self.next(stream)
    }

    #[cold]
    fn ends_inside(&mut self, record: &str, needed: usize, stream: &mut Stream) -> CaptureError {
        let error = stream.ends_inside(record, needed as u64, PacketNo(self.packets + 1));
        self.losses.report().unwrap_or(error)
    }

    #[cold]
    fn odd(&mut self, [seconds, fraction, captured, wire]: [u32; 4], stream: &mut Stream) -> Result<Odd, CaptureError> {
        let mut headers = 0;
        while stream.need(FILE_HEADER)?
            && let Some(magic) = stream.buffered().first_chunk()
            && let Some(layout) = Layout::of(*magic)
            && let Some([_, _, 0, 0]) = layout.order.words(stream.buffered())
            && self.follow(layout, stream.buffered()).is_some()
        {
            stream.take(FILE_HEADER);
            headers += 1;
        }
        if headers > 0 {
            return Ok(Odd::Header);
        }
        // Zeros are a block that a file system lost, or a record without bytes of the first of January 1970.
        let zeros = seconds == 0 && fraction == 0 && wire == 0;
        if captured == 0 && !(zeros && self.last_second.is_none_or(|last| last > 0)) {
            return Ok(Odd::Record);
        }
        let what = if captured == 0 {
            "there are zeros where a record header should be".to_owned()
        } else {
            format!("the record header claims {captured} captured bytes, at most {} are possible", self.limit)
        };
        self.losses.note(stream.offset(), PacketNo(self.packets + 1), what);
        match seek(stream, |stream, at| self.resumes(stream, at))? {
            Some(bytes) => {
                self.losses.skipped(bytes);
                Ok(Odd::Damage)
            }
            None => {
                stream.close();
                Err(self.losses.report().unwrap_or(CaptureError::Interrupted))
            }
        }
    }
}

#[cfg(test)]
mod tests;
