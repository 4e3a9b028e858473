//! Anonymises IP headers: addresses get pseudonyms, options and extension headers keep their lengths only.

use super::checksum::ChecksumDelta;
use super::packet::FrameRewrite;

/// Deepest nesting of packets that is followed; deeper packets are removed.
const DEEPEST: u8 = 8;

impl FrameRewrite<'_> {
    /// Anonymises the IP packet at `at`, nested `depth` deep; returns the end of the part of the frame that may stay.
    pub(super) fn ip(&mut self, at: usize, depth: u8) -> usize {
        match self.read::<1>(at) {
            Some([first]) if depth <= DEEPEST => match first >> 4 {
                4 => self.ipv4(at, depth),
                6 => self.ipv6(at, depth),
                _ => at,
            },
            _ => at,
        }
    }

    fn ipv4(&mut self, at: usize, depth: u8) -> usize {
        const FIXED: usize = 20;
        const CHECKSUM: usize = 10;
        const SOURCE: usize = 12;
        const OFFSET: u16 = 0x1fff;
        let Some(header) = self.read::<FIXED>(at) else { return at };
        let length = usize::from(header[0] & 0x0f) * 4;
        if length < FIXED {
            return at;
        }
        let end = (at + length).min(self.old.len());
        self.address_v4(at + SOURCE);
        self.address_v4(at + SOURCE + 4);
        // Options record routes; zeros end the list of options (RFC 791 §3.1).
        self.blank(at + FIXED, end);
        let pseudo = self.change(at + SOURCE, at + FIXED);
        let is_later = u16::from_be_bytes([header[6], header[7]]) & OFFSET != 0;
        let total = usize::from(u16::from_be_bytes([header[2], header[3]]));
        // After the packet's own length there is padding. Offloading leaves the length 0.
        let limit = if total < length { usize::MAX } else { at + total };
        let kept = if is_later { end } else { self.carried(header[9], end, depth, pseudo).min(limit) };
        self.mend(at + CHECKSUM, at, end, ChecksumDelta::default());
        kept
    }

    fn ipv6(&mut self, at: usize, depth: u8) -> usize {
        const FIXED: usize = 40;
        const SOURCE: usize = 8;
        let Some(header) = self.read::<FIXED>(at) else { return at };
        self.address_v6(at + SOURCE);
        self.address_v6(at + SOURCE + 16);
        let pseudo = self.change(at + SOURCE, at + FIXED);
        let kept = self.behind_ipv6(header[6], at + FIXED, depth, pseudo);
        match usize::from(u16::from_be_bytes([header[4], header[5]])) {
            // A jumbogram, or offloading.
            0 => kept,
            length => kept.min(at + FIXED + length),
        }
    }

    /// Walks through the extension headers to the next protocol.
    fn behind_ipv6(&mut self, mut next: u8, mut end: usize, depth: u8, pseudo: ChecksumDelta) -> usize {
        const HOP_BY_HOP: u8 = 0;
        const ROUTING: u8 = 43;
        const FRAGMENT: u8 = 44;
        const AUTHENTICATION: u8 = 51;
        /// Destination options, mobility, host identity, shim.
        const OTHERS: [u8; 4] = [60, 135, 139, 140];
        const OFFSET: u16 = 0xfff8;
        loop {
            let Some([following, units, a, b]) = self.read::<4>(end) else { return end.min(self.old.len()) };
            let length = match next {
                FRAGMENT => 8,
                AUTHENTICATION => 4 * (usize::from(units) + 2),
                HOP_BY_HOP | ROUTING => 8 * (usize::from(units) + 1),
                other if OTHERS.contains(&other) => 8 * (usize::from(units) + 1),
                _ => return self.carried(next, end, depth, pseudo),
            };
            let start = end;
            end = (start + length).min(self.old.len());
            match next {
                FRAGMENT if u16::from_be_bytes([a, b]) & OFFSET != 0 => return end,
                FRAGMENT => {}
                HOP_BY_HOP => self.jumbo_alone(start + 2, end),
                // Type and segments left stay; addresses or an integrity check's value follow.
                ROUTING => self.blank(start + 4, end),
                AUTHENTICATION => self.blank(start + 12, end),
                _ => self.blank(start + 2, end),
            }
            next = following;
        }
    }

    /// Of hop-by-hop options only the length of a jumbogram stays (RFC 2675 §2); zeros are padding (RFC 8200 §4.2).
    fn jumbo_alone(&mut self, from: usize, to: usize) {
        const PAD1: u8 = 0;
        const JUMBO: u8 = 0xc2;
        const LENGTH: usize = 6;
        self.blank(from, to);
        let mut at = from;
        while at + LENGTH <= to {
            at += match self.read::<LENGTH>(at) {
                Some([PAD1, ..]) => 1,
                Some(option @ [JUMBO, 4, ..]) => return self.write(at, &option),
                Some([_, length, ..]) => 2 + usize::from(length),
                None => return,
            };
        }
    }
}
