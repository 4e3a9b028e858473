//! Anonymises the payload of IP: the headers of TCP, UDP, ICMP and of tunnels stay, and their payload is removed.

use super::checksum::ChecksumDelta;
use super::packet::FrameRewrite;
use super::{link, options};
use crate::wire::tunnel::{TunnelProtocol, entrance};

const ICMP: u8 = 1;
const TCP: u8 = 6;
const UDP: u8 = 17;
const GRE: u8 = 47;
const ICMPV6: u8 = 58;

impl FrameRewrite<'_> {
    /// Anonymises the protocol header at `at`, where `pseudo` is the change of the addresses; returns the end of the
    /// part that may stay.
    pub(super) fn carried(&mut self, protocol: u8, at: usize, depth: u8, pseudo: ChecksumDelta) -> usize {
        match protocol {
            TCP => self.tcp(at, pseudo),
            ICMP => self.icmp(at, depth),
            ICMPV6 => self.icmpv6(at, depth, pseudo),
            UDP => self.udp(at, depth, pseudo),
            _ => self.tunnel(protocol, at, depth).unwrap_or(at),
        }
    }

    fn tcp(&mut self, at: usize, pseudo: ChecksumDelta) -> usize {
        const FIXED: usize = 20;
        const CHECKSUM: usize = 16;
        let length = self.read::<1>(at + 12).map_or(0, |[offset]| usize::from(offset >> 4) * 4);
        let end = (at + length.max(FIXED)).min(self.old.len());
        if let Some(options) = self.new.get_mut(at + FIXED..end) {
            options::blank(options);
        }
        self.mend(at + CHECKSUM, at, end, pseudo);
        end
    }

    fn udp(&mut self, at: usize, depth: u8, pseudo: ChecksumDelta) -> usize {
        const HEADER: usize = 8;
        const CHECKSUM: usize = 6;
        let end = self.tunnel(UDP, at, depth).unwrap_or(at + HEADER).min(self.old.len());
        // Zero says that there is no checksum (RFC 768).
        if self.read::<2>(at + CHECKSUM) != Some([0, 0]) {
            self.mend(at + CHECKSUM, at, end, pseudo);
        }
        end
    }

    /// Offset of the inner packet, if this is a tunnel with IP in it.
    fn tunnel(&mut self, protocol: u8, at: usize, depth: u8) -> Option<usize> {
        /// Length of UDP's header and Geneve's before its options, bytes.
        const BEFORE_OPTIONS: usize = 16;
        const CHECKSUM_PRESENT: u8 = 0x80;
        let inner = entrance(protocol, self.old.get(at..)?)?;
        let ip = at + inner.at;
        if inner.kind == TunnelProtocol::Geneve {
            let words = self.read::<1>(at + 8).map_or(0, |[first]| usize::from(first & 0x3f));
            self.blank(at + BEFORE_OPTIONS, at + BEFORE_OPTIONS + 4 * words);
        }
        if let Some(frame) = inner.frame {
            link::ethernet(self, at + frame, Some(ip));
        }
        let end = self.ip(ip, depth + 1);
        if protocol == GRE && self.read::<1>(at).is_some_and(|[flags]| flags & CHECKSUM_PRESENT != 0) {
            self.mend(at + 4, at, end, ChecksumDelta::default());
        }
        Some(end)
    }

    fn icmp(&mut self, at: usize, depth: u8) -> usize {
        const REDIRECT: u8 = 5;
        let end = match self.read::<8>(at) {
            Some([REDIRECT, ..]) => {
                self.address_v4(at + 4);
                self.ip(at + 8, depth + 1)
            }
            // Messages with a returned packet: unreachable, quench, time exceeded, parameter problem.
            Some([3 | 4 | 11 | 12, ..]) => self.ip(at + 8, depth + 1),
            Some([0 | 8, ..]) => at + 8,
            _ => at + 4,
        };
        let end = end.min(self.old.len());
        self.mend(at + 2, at, end, ChecksumDelta::default());
        end
    }

    fn icmpv6(&mut self, at: usize, depth: u8, pseudo: ChecksumDelta) -> usize {
        let end = match self.read::<8>(at) {
            // Messages with a returned packet: unreachable, too big, time exceeded, parameter problem.
            Some([1..=4, ..]) => self.ip(at + 8, depth + 1),
            Some([128 | 129, ..]) => at + 8,
            // Neighbour discovery contains IP and MAC addresses.
            _ => at + 4,
        };
        let end = end.min(self.old.len());
        self.mend(at + 2, at, end, pseudo);
        end
    }
}
