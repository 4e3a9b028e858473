//! Reads the pcapng file: blocks in sections, each section with its own byte order and list of interfaces.

mod buffered;
mod interface;
mod options;
mod packet;
mod plausible;

use self::interface::Interface;
use self::packet::BlockPacket;
use super::error::CaptureError;
use super::link::LinkType;
use super::losses::{Losses, seek};
use super::order::ByteOrder;
use super::stream::{RECORD_LIMIT, Stream};
use super::{Frame, Item};
use crate::packet_no::PacketNo;
use crate::time::Nanos;

/// Section Header Block; its type is the same in both byte orders.
const SECTION: u32 = 0x0a0d_0d0a;
/// Interface Description Block.
const INTERFACE: u32 = 1;
/// The Packet Block that the Enhanced Packet Block replaced.
const OLD_PACKET: u32 = 2;
/// Simple Packet Block.
const SIMPLE_PACKET: u32 = 3;
/// Interface Statistics Block.
const STATISTICS: u32 = 5;
/// Enhanced Packet Block.
const PACKET: u32 = 6;

/// Type that marks an unreadable place; the format reserves it, and no block of that type is returned.
const LOST: u32 = 0;

/// Magic number that shows a section's byte order.
const ORDER_MAGIC: u32 = 0x1a2b_3c4d;
/// Largest number of interfaces in a section: Linux numbers its own up to 2^31, but no host has had this many, and each
/// is kept until the section ends.
const INTERFACE_LIMIT: usize = 1 << 16;
/// Link types listed for the report; packets of further types are read, or counted as not read, all the same.
const LINK_LIMIT: usize = 64;

/// Type and length before a block's body, bytes.
const HEAD: usize = 8;
/// Repeated length after a block's body, bytes.
const TAIL: usize = 4;

/// Reader of a pcapng file.
pub(super) struct PcapngReader {
    order: ByteOrder,
    /// Interfaces of this section, by their number in it.
    interfaces: Vec<Interface>,
    /// Link types of all sections, each once.
    links: Vec<LinkType>,
    packets: u64,
    untimed: u64,
    last: Nanos,
    losses: Losses,
    /// Blocks without a packet are returned too.
    keeps_blocks: bool,
    /// Section headers so far, including damaged ones.
    sections: u64,
    /// Interfaces with a name so far.
    named: u64,
    /// Number in its section and key of the last packet's interface.
    at: (usize, u64),
}

/// One block that is whole in the buffer.
#[derive(Clone, Copy)]
struct Block {
    kind: u32,
    length: usize,
}

impl Block {
    /// The bytes between the block's two lengths.
    #[inline]
    fn body(self, stream: &Stream) -> &[u8] {
        stream.buffered().get(HEAD..self.length - TAIL).unwrap_or_default()
    }
}

impl PcapngReader {
    /// A reader before the first section header.
    pub(super) fn open(keeps_blocks: bool) -> PcapngReader {
        PcapngReader {
            order: ByteOrder::Little,
            interfaces: Vec::new(),
            links: Vec::new(),
            packets: 0,
            untimed: 0,
            last: Nanos::ZERO,
            losses: Losses::default(),
            keeps_blocks,
            sections: 0,
            named: 0,
            at: (0, 0),
        }
    }

    /// Key of the last packet's interface: another one for each named interface, 0 where it has no name.
    #[inline]
    pub(super) fn interface_key(&self) -> u64 {
        self.at.1
    }

    /// Name of the last packet's interface.
    pub(super) fn interface_name(&self) -> Option<&str> {
        self.interfaces.get(self.at.0)?.name.as_deref()
    }

    /// The number of the present section, counting from 1, and its byte order.
    pub(super) fn section_now(&self) -> (u64, ByteOrder) {
        (self.sections, self.order)
    }

    /// The block consumed last: consumed bytes stay in the buffer until more is read, and the block's length is at its
    /// end.
    pub(super) fn last_block<'a>(&self, stream: &'a Stream) -> Option<&'a [u8]> {
        let length = self.order.u32(*stream.consumed(TAIL)?.first_chunk()?);
        stream.consumed(length as usize)
    }

    /// The link types of the interfaces described so far.
    pub(super) fn links(&self) -> &[LinkType] {
        &self.links
    }

    /// Packets so far without a time.
    pub(super) fn untimed(&self) -> u64 {
        self.untimed
    }

    /// The next packet or count of drops.
    #[inline]
    pub(super) fn next<'a>(&mut self, stream: &'a mut Stream) -> Result<Option<Item<'a>>, CaptureError> {
        loop {
            let Some(block) = self.block(stream)? else {
                return Ok(None);
            };
            match block.kind {
                // Separate, because one exit for all kinds of packet costs a copy of every packet's description.
                PACKET => {
                    let found = BlockPacket::enhanced(self.order, block.body(stream));
                    return self.frame(block, found, stream);
                }
                OLD_PACKET | SIMPLE_PACKET => return self.rare_packet(block, stream),
                LOST => return Ok(Some(Item::LeftOut)),
                _ => {
                    let dropped = self.describe(block, stream)?;
                    stream.take(block.length);
                    if self.keeps_blocks {
                        return Ok(Some(Item::Block));
                    }
                    if let Some(dropped) = dropped {
                        return Ok(Some(Item::Dropped(dropped)));
                    }
                }
            }
        }
    }

    #[cold]
    fn rare_packet<'a>(&mut self, block: Block, stream: &'a mut Stream) -> Result<Option<Item<'a>>, CaptureError> {
        let body = block.body(stream);
        let found = match block.kind {
            OLD_PACKET => BlockPacket::old(self.order, body),
            _ => BlockPacket::simple(self.order, body, &self.interfaces),
        };
        self.frame(block, found, stream)
    }

    #[inline]
    fn frame<'a>(
        &mut self,
        block: Block,
        found: Option<BlockPacket>,
        stream: &'a mut Stream,
    ) -> Result<Option<Item<'a>>, CaptureError> {
        let Some(found) = found else {
            return self.unusable("the packet does not fit into its block".into(), block, stream);
        };
        let Some(interface) = self.interfaces.get(found.interface as usize) else {
            let what = format!("the packet names interface {}, which no block describes", found.interface);
            return self.unusable(what, block, stream);
        };
        self.at = (found.interface as usize, interface.key);
        match found.ticks {
            Some(ticks) => self.last = interface.clock.time(ticks),
            None => self.untimed += 1,
        }
        self.packets += 1;
        let start = HEAD + found.start;
        let bytes = stream.take(block.length).get(start..start + found.captured as usize);
        Ok(Some(Item::Frame(Frame {
            packet: PacketNo(self.packets),
            time: self.last,
            link: interface.link,
            bytes: bytes.unwrap_or_default(),
            wire_length: found.wire.max(found.captured),
        })))
    }

    /// Skips to the next block with a meaning here; `None` at the end of the file.
    #[inline]
    fn block(&mut self, stream: &mut Stream) -> Result<Option<Block>, CaptureError> {
        loop {
            if !stream.need(HEAD)? && stream.buffered().is_empty() {
                let coming = self.coming();
                return self.losses.end(coming, stream);
            }
            let Some([kind, mut length]) = self.order.words(stream.buffered()) else {
                let error = stream.ends_inside("the block header", HEAD as u64, self.coming());
                return Err(self.losses.report().unwrap_or(error));
            };
            if kind == SECTION {
                length = self.section(stream)?;
            }
            if length < (HEAD + TAIL) as u32 || length % 4 != 0 {
                return self.recover(format!("a block cannot be {length} bytes long"), stream);
            }
            if matches!(kind, PACKET | SIMPLE_PACKET | OLD_PACKET | INTERFACE | STATISTICS | SECTION) {
                return self.whole(Block { kind, length: length as usize }, stream);
            }
            let block = Block { kind, length: length as usize };
            if self.keeps_blocks && kind != LOST && self.is_whole(block, stream)? {
                return Ok(Some(block));
            }
            self.skip(length, stream)?;
        }
    }

    /// True if the whole block is in the buffer: a block without a meaning here may be damaged without harm.
    #[cold]
    fn is_whole(&self, block: Block, stream: &mut Stream) -> Result<bool, CaptureError> {
        let whole = block.length <= RECORD_LIMIT as usize && stream.need(block.length)?;
        Ok(whole && self.order.words(&stream.buffered()[block.length - TAIL..]) == Some([block.length as u32]))
    }

    /// Buffers the whole block and compares its two lengths.
    #[inline]
    fn whole(&mut self, block: Block, stream: &mut Stream) -> Result<Option<Block>, CaptureError> {
        if block.length > RECORD_LIMIT as usize {
            let what = format!("the block claims {} bytes, at most {RECORD_LIMIT} are possible", block.length);
            return self.recover(what, stream);
        }
        if !stream.need(block.length)? {
            let error = stream.ends_inside("the block", block.length as u64, self.coming());
            return Err(self.losses.report().unwrap_or(error));
        }
        let tail = self.order.words(&stream.buffered()[block.length - TAIL..]);
        if tail != Some([block.length as u32]) {
            let what = format!("the block's length is {} before its body and different after", block.length);
            return self.recover(what, stream);
        }
        Ok(Some(block))
    }

    /// Continues after damage where blocks are recognisable again.
    #[cold]
    fn recover(&mut self, what: String, stream: &mut Stream) -> Result<Option<Block>, CaptureError> {
        let (offset, coming) = (stream.offset(), self.coming());
        self.losses.note(offset, coming, what);
        match seek(stream, |stream, at| self.resumes(stream, at))? {
            Some(bytes) => {
                self.losses.skipped(bytes);
                Ok(Some(Block { kind: LOST, length: 0 }))
            }
            None => {
                stream.close();
                self.losses.report().map_or(Ok(None), Err)
            }
        }
    }

    /// Stops, because nothing after this point can be understood; earlier losses are reported first.
    #[cold]
    fn stop(&mut self, what: String, stream: &mut Stream) -> CaptureError {
        let error = stream.damaged(what, self.coming());
        self.losses.report().unwrap_or(error)
    }

    /// Skips a block with valid lengths and unusable content.
    #[cold]
    fn unusable<'a>(
        &mut self,
        what: String,
        block: Block,
        stream: &mut Stream,
    ) -> Result<Option<Item<'a>>, CaptureError> {
        self.losses.note(stream.offset(), self.coming(), what);
        self.losses.skipped(block.length as u64);
        stream.take(block.length);
        Ok(Some(Item::LeftOut))
    }

    /// Starts a section: its byte order, and the length of its header block.
    #[cold]
    fn section(&mut self, stream: &mut Stream) -> Result<u32, CaptureError> {
        const NEEDED: usize = HEAD + 8;
        stream.need(NEEDED)?;
        let Some([_, length, magic, _]) = ByteOrder::Little.words(stream.buffered()) else {
            let error = stream.ends_inside("the section header", NEEDED as u64, self.coming());
            return Err(self.losses.report().unwrap_or(error));
        };
        self.order = match magic {
            ORDER_MAGIC => ByteOrder::Little,
            _ if magic.swap_bytes() == ORDER_MAGIC => ByteOrder::Big,
            _ => return Err(self.stop("the section header shows no byte order".into(), stream)),
        };
        self.interfaces.clear();
        self.sections += 1;
        Ok(self.order.u32(length.to_le_bytes()))
    }

    /// Takes in a block without a packet; returns the number of packets that it reports as newly dropped, if it reports
    /// any.
    #[cold]
    fn describe(&mut self, block: Block, stream: &mut Stream) -> Result<Option<u64>, CaptureError> {
        let body = block.body(stream);
        match block.kind {
            SECTION => {
                let major = body.get(4..).and_then(|rest| rest.first_chunk()).map(|field| self.order.u16(*field));
                if major != Some(1) {
                    return Err(self.stop("the section is not of pcapng version 1".into(), stream));
                }
            }
            INTERFACE => match Interface::described(self.order, body) {
                Some(_) if self.interfaces.len() >= INTERFACE_LIMIT => {
                    let what = format!("the section describes more than {INTERFACE_LIMIT} interfaces");
                    return Err(self.stop(what, stream));
                }
                Some(mut interface) => {
                    if interface.name.is_some() {
                        self.named += 1;
                        interface.key = self.named;
                    }
                    if self.links.len() < LINK_LIMIT && !self.links.contains(&interface.link) {
                        self.links.push(interface.link);
                    }
                    self.interfaces.push(interface);
                }
                None => {
                    return Err(self.stop("the interface description is too short".into(), stream));
                }
            },
            STATISTICS => {
                if let Some([interface]) = self.order.words(body)
                    && let Some(interface) = self.interfaces.get_mut(interface as usize)
                {
                    return Ok(interface.newly_dropped(self.order, body));
                }
            }
            _ => {}
        }
        Ok(None)
    }

    #[cold]
    fn skip(&mut self, length: u32, stream: &mut Stream) -> Result<(), CaptureError> {
        let offset = stream.offset();
        match stream.discard(u64::from(length))? {
            had if had == u64::from(length) => Ok(()),
            had => {
                let error = stream.cut("the block", self.coming(), offset, u64::from(length), had);
                Err(self.losses.report().unwrap_or(error))
            }
        }
    }

    /// The number of the packet that an error keeps from being read.
    fn coming(&self) -> PacketNo {
        PacketNo(self.packets + 1)
    }
}

#[cfg(test)]
mod tests;
