//! Writes the classic pcap file.

use std::io::{self, Write};

use super::blocks::{self, Blocks};
use super::{Chosen, Failure};
use crate::capture::{ByteOrder, LinkType, Recording};

const SECOND: i64 = 1_000_000_000;
const MICROSECOND: i64 = 1_000;
/// Snap length of a file made from a capture without a limit, bytes: tcpdump's default.
const USUAL_SNAP_LENGTH: u32 = 262_144;

/// A pcap file being written, in little-endian order.
#[derive(Default)]
pub(super) struct PcapWriter {
    /// Its link type and time unit, nanoseconds, once its header is written.
    header: Option<(LinkType, i64)>,
    /// An interface so far has a finer clock than microseconds.
    fine: bool,
    blocks: Blocks,
}

impl PcapWriter {
    /// Notes the byte order of the next section.
    pub(super) fn enters(&mut self, order: ByteOrder) {
        self.blocks = Blocks::of(order);
    }

    /// Takes in a block without a packet, which this format cannot hold; true if nothing is lost with it.
    pub(super) fn hears(&mut self, block: &[u8]) -> bool {
        match self.blocks.kind(block) {
            blocks::INTERFACE => {
                self.fine |= self.blocks.resolution(block).is_some_and(|resolution| resolution != blocks::MICROSECONDS);
                true
            }
            kind => kind == blocks::SECTION,
        }
    }

    /// Writes the header, if it is not written yet; returns the file's link type and time unit.
    pub(super) fn begin(
        &mut self,
        link: LinkType,
        recording: Option<Recording>,
        out: &mut dyn Write,
    ) -> io::Result<(LinkType, i64)> {
        const NANOSECONDS: u32 = 0xa1b2_3c4d;
        const MICROSECONDS: u32 = 0xa1b2_c3d4;
        const VERSION: u32 = 4 << 16 | 2;
        if let Some(header) = self.header {
            return Ok(header);
        }
        let fine = if self.fine { 1 } else { MICROSECOND };
        let tick = recording.map_or(fine, |recording| recording.tick.0);
        let magic = if tick == 1 { NANOSECONDS } else { MICROSECONDS };
        let snap_length = recording.map(|recording| recording.snap_length).filter(|length| *length > 0);
        for word in [magic, VERSION, 0, 0, snap_length.unwrap_or(USUAL_SNAP_LENGTH), u32::from(link.0)] {
            out.write_all(&word.to_le_bytes())?;
        }
        self.header = Some((link, tick));
        Ok((link, tick))
    }

    pub(super) fn packet(
        &mut self,
        chosen: &Chosen,
        bytes: &[u8],
        recording: Option<Recording>,
        out: &mut dyn Write,
    ) -> Result<(), Failure> {
        let (link, tick) = self.begin(chosen.link, recording, out)?;
        if chosen.link != link {
            let (one, other) = (link.name(), chosen.link.name());
            return Err(Failure::Form(format!(
                "the packets are of more than one link type ({one}, {other}), which pcap cannot hold; give the output a name that ends in .pcapng"
            )));
        }
        let (seconds, rest) = (chosen.time.0.div_euclid(SECOND), chosen.time.0.rem_euclid(SECOND));
        let Some(seconds) = u32::try_from(seconds).ok().filter(|_| rest % tick == 0) else {
            return Err(Failure::Form(
                "a packet has a time that pcap cannot hold; give the output a name that ends in .pcapng".into(),
            ));
        };
        let mut head = [0; 16];
        let words = [seconds, (rest / tick) as u32, bytes.len() as u32, chosen.wire_length];
        head.as_chunks_mut::<4>().0.iter_mut().zip(words).for_each(|(place, word)| *place = word.to_le_bytes());
        out.write_all(&head)?;
        Ok(out.write_all(bytes)?)
    }
}
