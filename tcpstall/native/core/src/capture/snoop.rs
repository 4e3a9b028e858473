//! Reads Solaris's snoop files (RFC 1761): one header, one link type, records, all of it big-endian.

use super::error::CaptureError;
use super::link::LinkType;
use super::order::ByteOrder;
use super::stream::{RECORD_LIMIT, Stream};
use super::{Frame, Item, Recording};
use crate::packet_no::PacketNo;
use crate::time::Nanos;

/// First bytes of a file.
pub(super) const MAGIC: &[u8; 8] = b"snoop\0\0\0";

/// Length of the file header and of a record's header, bytes.
const FILE_HEADER: usize = 16;
const RECORD_HEADER: usize = 24;

/// Microseconds, and no stated snap length.
pub(super) const RECORDING: Recording = Recording { tick: Nanos(1_000), snap_length: 0 };

/// Reader of a snoop file.
pub(super) struct Snoop {
    link: LinkType,
    packets: u64,
    /// Drops that were reported already; each record counts from the start of the capture.
    dropped: u32,
}

impl Snoop {
    /// Reads the file header.
    pub(super) fn open(stream: &mut Stream) -> Result<Snoop, CaptureError> {
        const VERSION: u32 = 2;
        const IEEE_802_3: u32 = 0;
        const ETHERNET: u32 = 4;
        const FDDI: u32 = 8;
        stream.need(FILE_HEADER)?;
        let Some([_, _, version, link]) = ByteOrder::Big.words(stream.buffered()) else {
            return Err(stream.ends_inside("the file header", FILE_HEADER as u64, PacketNo(1)));
        };
        let link = match (version, link) {
            (VERSION, IEEE_802_3 | ETHERNET) => LinkType::ETHERNET,
            (VERSION, FDDI) => LinkType::FDDI,
            _ => {
                let what = format!(
                    "a snoop capture of version {version} and link type {link}; convert it first: editcap -F pcap FILE NEW.pcap"
                );
                return Err(CaptureError::NotACapture { what });
            }
        };
        stream.take(FILE_HEADER);
        Ok(Snoop { link, packets: 0, dropped: 0 })
    }

    /// The file's only link type.
    pub(super) fn link(&self) -> &LinkType {
        &self.link
    }

    /// The next record, or the drops that it reports.
    pub(super) fn next<'a>(&mut self, stream: &'a mut Stream) -> Result<Option<Item<'a>>, CaptureError> {
        let packet = PacketNo(self.packets + 1);
        if !stream.need(RECORD_HEADER)? && stream.buffered().is_empty() {
            return stream.end(packet);
        }
        let fields = ByteOrder::Big.words(stream.buffered());
        let Some([wire, captured, record, dropped, seconds, micros]) = fields else {
            return Err(stream.ends_inside("the record header", RECORD_HEADER as u64, packet));
        };
        let least = u64::from(captured) + RECORD_HEADER as u64;
        if u64::from(record) < least || record > RECORD_LIMIT {
            let what = format!("a record of {record} bytes cannot hold a packet of {captured}");
            return Err(stream.damaged(what, packet));
        }
        if !stream.need(record as usize)? {
            return Err(stream.ends_inside("the record", u64::from(record), packet));
        }
        if dropped > self.dropped {
            let new = dropped - self.dropped;
            self.dropped = dropped;
            return Ok(Some(Item::Dropped(u64::from(new))));
        }
        self.packets += 1;
        let end = RECORD_HEADER + captured as usize;
        Ok(Some(Item::Frame(Frame {
            packet,
            time: Nanos(i64::from(seconds) * 1_000_000_000 + i64::from(micros) * 1_000),
            link: self.link,
            bytes: stream.take(record as usize).get(RECORD_HEADER..end).unwrap_or_default(),
            wire_length: wire.max(captured),
        })))
    }
}

#[cfg(test)]
mod tests {
    use crate::capture::tests::items;

    /// A file of these records: bytes on the wire, drops so far, second, bytes kept.
    fn file(link: u32, records: &[(u32, u32, u32, &[u8])]) -> Vec<u8> {
        let mut bytes = super::MAGIC.to_vec();
        bytes.extend([2, link].into_iter().flat_map(u32::to_be_bytes));
        for (wire, dropped, second, data) in records {
            let record = 24 + data.len().next_multiple_of(4);
            let words = [*wire, data.len() as u32, record as u32, *dropped, *second, 7];
            bytes.extend(words.into_iter().flat_map(u32::to_be_bytes));
            bytes.extend_from_slice(data);
            bytes.resize(bytes.len().next_multiple_of(4), 0);
        }
        bytes
    }

    fn read(bytes: &[u8]) -> Vec<String> {
        items(bytes, |error| error.to_string())
    }

    #[test]
    fn records_may_be_padded_and_bring_drops() {
        let bytes = file(4, &[(60, 0, 1, &[1, 2, 3]), (9, 2, 2, &[4, 5, 6, 7]), (9, 5, 3, &[])]);
        let expected = [
            "#1 1000007000 EN10MB [1, 2, 3]/60",
            "dropped 2",
            "#2 2000007000 EN10MB [4, 5, 6, 7]/9",
            "dropped 3",
            "#3 3000007000 EN10MB []/9",
        ];
        assert_eq!(read(&bytes), expected);
        assert_eq!(read(&file(8, &[(1, 0, 1, &[9])])), ["#1 1000007000 FDDI [9]/1"]);
    }

    #[test]
    fn a_file_cut_anywhere_gives_its_whole_records_and_says_where_it_ends() {
        let whole = file(4, &[(60, 0, 1, &[1; 50]), (60, 0, 2, &[2; 50])]);
        for length in super::MAGIC.len()..whole.len() {
            let lines = read(&whole[..length]);
            let complete = [16 + 76, 16 + 152].iter().filter(|end| **end <= length).count();
            let clean = usize::from(length >= 16 && (length - 16) % 76 == 0);
            assert_eq!(lines.len() + clean, complete + 1, "cut to {length} bytes");
            assert!(clean == 1 || lines.last().is_some_and(|line| line.starts_with("capture ends early")));
        }
    }

    #[test]
    fn impossible_lengths_and_unread_variants_are_said() {
        let mut bytes = file(4, &[(60, 0, 1, &[1; 50])]);
        bytes[24..28].copy_from_slice(&20u32.to_be_bytes());
        let damaged = "capture is damaged at packet 1, byte 16: a record of 20 bytes cannot hold a packet of 50";
        assert_eq!(read(&bytes), [damaged]);
        let line = read(&file(9, &[])).join("");
        assert!(line.contains("a snoop capture of version 2 and link type 9; convert it first: editcap"), "{line}");
    }
}
