//! Locates the packet in the three kinds of packet block.

use super::interface::Interface;
use crate::capture::order::ByteOrder;

/// A packet inside the body of its block; its bytes are known to be inside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BlockPacket {
    /// Number of the interface in its section.
    pub(super) interface: u32,
    /// Its time in the interface's unit, which simple packets lack.
    pub(super) ticks: Option<u64>,
    /// Offset of the packet in the body.
    pub(super) start: usize,
    /// Bytes kept.
    pub(super) captured: u32,
    /// Bytes on the wire.
    pub(super) wire: u32,
}

impl BlockPacket {
    /// Packet of an Enhanced Packet Block.
    #[inline]
    pub(super) fn enhanced(order: ByteOrder, body: &[u8]) -> Option<BlockPacket> {
        let [interface, high, low, captured, wire] = order.words(body)?;
        let ticks = Some(u64::from(high) << 32 | u64::from(low));
        BlockPacket { interface, ticks, start: 20, captured, wire }.within(body)
    }

    /// Packet of a Packet Block, where a count of drops takes half of the interface's field.
    pub(super) fn old(order: ByteOrder, body: &[u8]) -> Option<BlockPacket> {
        let found = BlockPacket::enhanced(order, body)?;
        let [interface, _drops] = order.halves(found.interface);
        Some(BlockPacket { interface: u32::from(interface), ..found })
    }

    /// Packet of a Simple Packet Block, which always belongs to the first interface and does not state its captured
    /// length.
    pub(super) fn simple(order: ByteOrder, body: &[u8], interfaces: &[Interface]) -> Option<BlockPacket> {
        let [wire] = order.words(body)?;
        let room = (body.len() - 4) as u32;
        let kept = match interfaces.first() {
            Some(interface) if interface.snap_length > 0 => wire.min(interface.snap_length),
            _ => wire,
        };
        Some(BlockPacket { interface: 0, ticks: None, start: 4, captured: kept.min(room), wire })
    }

    #[inline]
    fn within(self, body: &[u8]) -> Option<BlockPacket> {
        (self.captured as usize <= body.len() - self.start).then_some(self)
    }
}
