//! Writes the pcapng file: the blocks of another one with remarks, or blocks made from records.

use std::io::{self, Write};

use super::Chosen;
use super::blocks::{
    Blocks, COMMENT, INTERFACE, MICROSECONDS, NANOSECONDS, ORDER_MAGIC, PACKET, RESOLUTION, SECTION, SIMPLE_PACKET,
    STATISTICS,
};
use crate::anonymise::bare;
use crate::capture::{ByteOrder, LinkType, Recording};
use crate::time::Nanos;

/// Code of the application that wrote a section.
const APPLICATION: u16 = 4;

/// A pcapng file being written.
pub(super) struct PcapngWriter {
    about: String,
    /// Blocks other than packets, sections and interfaces are kept too.
    whole: bool,
    /// Names are removed.
    shared: bool,
    /// A section has begun.
    begun: bool,
    /// The number of the section that is copied.
    section: u64,
    /// The interfaces made from records.
    interfaces: Vec<(LinkType, Nanos)>,
    blocks: Blocks,
    body: Vec<u8>,
}

impl PcapngWriter {
    pub(super) fn new(about: String, whole: bool, shared: bool) -> PcapngWriter {
        let (blocks, body) = (Blocks::default(), Vec::new());
        PcapngWriter { about, whole, shared, begun: false, section: 0, interfaces: Vec::new(), blocks, body }
    }

    /// Starts the section with that number and order. Its own header follows, unless that was damaged.
    pub(super) fn enters(
        &mut self,
        (number, order): (u64, ByteOrder),
        header: bool,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        if self.section == number {
            return Ok(());
        }
        (self.section, self.blocks, self.begun) = (number, Blocks::of(order), false);
        if header { Ok(()) } else { self.begin(out) }
    }

    /// Writes a section's header, unless there is one.
    pub(super) fn begin(&mut self, out: &mut dyn Write) -> io::Result<()> {
        if self.begun {
            return Ok(());
        }
        self.body.clear();
        self.blocks.put_number(&mut self.body, ORDER_MAGIC);
        // Version 1.0, of unstated length.
        self.body.extend_from_slice(&self.blocks.short_bytes(1));
        self.body.extend_from_slice(&[0; 2]);
        self.body.extend_from_slice(&[0xff; 8]);
        let application = concat!("tcpstall ", env!("CARGO_PKG_VERSION"));
        self.blocks.put_option(&mut self.body, APPLICATION, application.as_bytes());
        self.close_section(out)
    }

    fn close_section(&mut self, out: &mut dyn Write) -> io::Result<()> {
        const FIXED: usize = 16;
        let about = std::mem::take(&mut self.about);
        if !about.is_empty() {
            self.blocks.put_option(&mut self.body, COMMENT, about.as_bytes());
        }
        self.blocks.close_options(&mut self.body, FIXED);
        self.begun = true;
        self.put(SECTION, out)
    }

    fn put(&self, kind: u32, out: &mut dyn Write) -> io::Result<()> {
        let (head, tail) = self.blocks.around(kind, &self.body);
        out.write_all(&head)?;
        out.write_all(&self.body)?;
        out.write_all(&tail)
    }

    /// Writes a packet from a record.
    pub(super) fn record(
        &mut self,
        chosen: &Chosen,
        bytes: &[u8],
        recording: Option<Recording>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        self.begin(out)?;
        let recording = recording.unwrap_or(Recording { tick: Nanos(1), snap_length: 0 });
        let number = self.interface(chosen.link, recording, out)?;
        let ticks = (chosen.time.0 / recording.tick.0) as u64;
        self.body.clear();
        for word in [number, (ticks >> 32) as u32, ticks as u32, bytes.len() as u32, chosen.wire_length] {
            self.blocks.put_number(&mut self.body, word);
        }
        self.put_packet(bytes, &[], &chosen.remarks);
        self.put(PACKET, out)
    }

    /// The number of an interface with that link type and clock, which is described if it is new.
    fn interface(&mut self, link: LinkType, recording: Recording, out: &mut dyn Write) -> io::Result<u32> {
        const FIXED: usize = 8;
        if let Some(number) = self.interfaces.iter().position(|known| *known == (link, recording.tick)) {
            return Ok(number as u32);
        }
        self.body.clear();
        self.blocks.put_number(&mut self.body, u32::from(link.0));
        self.blocks.put_number(&mut self.body, recording.snap_length);
        let resolution = if recording.tick == Nanos(1) { NANOSECONDS } else { MICROSECONDS };
        self.blocks.put_option(&mut self.body, RESOLUTION, &[resolution]);
        self.blocks.close_options(&mut self.body, FIXED);
        self.put(INTERFACE, out)?;
        self.interfaces.push((link, recording.tick));
        Ok(self.interfaces.len() as u32 - 1)
    }

    /// Appends packet data, then options: the packet's own, and remarks.
    fn put_packet(&mut self, bytes: &[u8], options: &[u8], remarks: &[String]) {
        self.body.extend_from_slice(bytes);
        self.body.resize(self.body.len().next_multiple_of(4), 0);
        let start = self.body.len();
        self.body.extend_from_slice(options);
        for remark in remarks {
            self.blocks.put_option(&mut self.body, COMMENT, remark.as_bytes());
        }
        self.blocks.close_options(&mut self.body, start);
    }

    /// Writes the packet of that block again; returns the number of its remarks that could not be written.
    pub(super) fn again(
        &mut self,
        chosen: &Chosen,
        bytes: &[u8],
        block: &[u8],
        out: &mut dyn Write,
    ) -> io::Result<usize> {
        let kind = self.blocks.kind(block);
        // It has neither a captured length nor options.
        let simple = kind == SIMPLE_PACKET;
        if !chosen.changed && (simple || chosen.remarks.is_empty()) {
            out.write_all(block)?;
            return Ok(chosen.remarks.len());
        }
        let body = self.blocks.body(block);
        if simple {
            const FIXED: usize = 4;
            self.body.clear();
            self.blocks.put_number(&mut self.body, chosen.wire_length);
            self.body.extend_from_slice(bytes);
            self.body.resize(body.len().max(FIXED), 0);
            self.put(kind, out)?;
            return Ok(chosen.remarks.len());
        }
        const LENGTH: usize = 12;
        const FIXED: usize = 20;
        let kept = self.blocks.number(body, LENGTH).map_or(0, |kept| kept as usize);
        let options = self.kept_options(body, FIXED + kept.next_multiple_of(4), chosen.changed);
        self.body.clear();
        self.body.extend_from_slice(body.get(..LENGTH).unwrap_or_default());
        self.blocks.put_number(&mut self.body, bytes.len() as u32);
        self.blocks.put_number(&mut self.body, chosen.wire_length);
        self.put_packet(bytes, &options, &chosen.remarks);
        self.put(kind, out)?;
        Ok(0)
    }

    /// The packet's options that remain true and are safe to share.
    fn kept_options(&self, body: &[u8], fixed: usize, changed: bool) -> Vec<u8> {
        const FLAGS: u16 = 2;
        const HASH: u16 = 3;
        const DROPS: u16 = 4;
        let stays = |code: u16| match code {
            FLAGS | DROPS => true,
            HASH => !changed,
            _ => !self.shared,
        };
        let options = self.blocks.options(body, fixed).filter(|(code, _)| stays(*code));
        options.flat_map(|(_, option)| option).copied().collect()
    }

    /// Takes in a block without a packet: false if it is left out.
    pub(super) fn block(&mut self, block: &[u8], out: &mut dyn Write) -> io::Result<bool> {
        let body = self.blocks.body(block);
        match self.blocks.kind(block) {
            SECTION => {
                const FIXED: usize = 16;
                let shared = self.shared;
                self.filtered(body, FIXED, |_| !shared);
                // Blocks grow and are left out, so the length of the section is not stated.
                self.body.get_mut(8..FIXED).unwrap_or_default().fill(0xff);
                self.close_section(out)?;
            }
            INTERFACE if self.shared => {
                const FIXED: usize = 8;
                const CHECK_SEQUENCE: u16 = 13;
                const OFFSET: u16 = 14;
                self.filtered(body, FIXED, |code| matches!(code, RESOLUTION | CHECK_SEQUENCE | OFFSET));
                let link = self.body.first_chunk().map_or(0, |two| self.blocks.short(*two));
                let link = self.blocks.short_bytes(bare(LinkType(link)).0);
                self.body.get_mut(..2).unwrap_or_default().copy_from_slice(&link);
                self.blocks.close_options(&mut self.body, FIXED);
                self.put(INTERFACE, out)?;
            }
            STATISTICS if self.shared && self.whole => {
                const FIXED: usize = 12;
                const COUNTS: std::ops::RangeInclusive<u16> = 2..=8;
                self.filtered(body, FIXED, |code| COUNTS.contains(&code));
                self.blocks.close_options(&mut self.body, FIXED);
                self.put(STATISTICS, out)?;
            }
            kind if kind != INTERFACE && (self.shared || !self.whole) => return Ok(false),
            _ => out.write_all(block)?,
        }
        Ok(true)
    }

    /// Builds a body from a block's fixed part and the wanted options.
    fn filtered(&mut self, body: &[u8], fixed: usize, wanted: impl Fn(u16) -> bool) {
        let options = self.blocks.options(body, fixed).filter(|(code, _)| wanted(*code));
        let options: Vec<u8> = options.flat_map(|(_, option)| option).copied().collect();
        self.body.clear();
        self.body.extend_from_slice(&body[..fixed.min(body.len())]);
        self.body.extend_from_slice(&options);
    }
}
