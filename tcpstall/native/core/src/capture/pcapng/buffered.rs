//! The short way of packets in a row: Enhanced Packet Blocks of one interface, whole in the buffer.

use super::{HEAD, PACKET, PcapngReader, TAIL};
use crate::capture::stream::Stream;
use crate::capture::{Frame, Takes};
use crate::packet_no::PacketNo;
use crate::time::Nanos;

/// Block type, length, interface, time, captured and original length, bytes.
const BEFORE_BYTES: usize = HEAD + 20;

impl PcapngReader {
    /// See [`crate::capture::Capture::buffered`]: frames of the interface of the last one.
    #[inline(always)]
    pub(in crate::capture) fn buffered<T: Takes>(
        &mut self,
        stream: &mut Stream,
        room: &mut [T::Place],
        from: Nanos,
    ) -> usize {
        let Some(interface) = self.interfaces.get(self.at.0).filter(|interface| interface.key == self.at.1) else {
            return 0;
        };
        let mut buffered = stream.buffered();
        let (all, mut last, mut count) = (buffered.len(), from, 0);
        for (place, packet) in room.iter_mut().zip(self.packets + 1..) {
            let Some([kind, length, at, high, low, captured, wire]) = self.order.words(buffered) else { break };
            let Some(block) = buffered.get(..length as usize) else { break };
            if kind != PACKET || at as usize != self.at.0 || length % 4 != 0 {
                break;
            }
            let Some((before_tail, tail)) = block.split_last_chunk::<TAIL>() else { break };
            let Some(bytes) = before_tail.get(BEFORE_BYTES..BEFORE_BYTES + captured as usize) else { break };
            let time = interface.clock.time(u64::from(high) << 32 | u64::from(low));
            if self.order.u32(*tail) != length || time < last || time > Nanos::LATEST {
                break;
            }
            let frame =
                Frame { packet: PacketNo(packet), time, link: interface.link, bytes, wire_length: wire.max(captured) };
            if !T::takes(&frame, place) {
                break;
            }
            (last, count) = (time, count + 1);
            buffered = &buffered[block.len()..];
        }
        let read = all - buffered.len();
        stream.take(read);
        if count > 0 {
            self.last = last;
        }
        self.packets += count as u64;
        count
    }
}
