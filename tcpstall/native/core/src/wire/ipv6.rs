//! IPv6 headers (RFC 8200).

use super::{Address, Envelope, Skip};

const HOP_BY_HOP: u8 = 0;
const TCP: u8 = 6;
const ROUTING: u8 = 43;
const FRAGMENT: u8 = 44;
const DESTINATION: u8 = 60;
/// Length of the fixed header, bytes.
const FIXED: usize = 40;

/// Reads the header at the start of `packet`, which had `on_wire` bytes on the wire, with its extension headers.
#[inline]
pub(super) fn open(packet: &[u8], on_wire: u32) -> Result<Envelope<'_>, Skip> {
    let header: &[u8; FIXED] = packet.first_chunk().ok_or(Skip::CutShort)?;
    let next = header[6];
    let behind = &packet[FIXED..];
    let chain = if next == TCP { Chain::default() } else { Chain::walk(next, behind)? };
    let length = match u16::from_be_bytes([header[4], header[5]]) {
        // A jumbogram (RFC 2675), or segmentation offload and BIG TCP without the jumbo payload option.
        0 => chain.jumbo.unwrap_or(on_wire.saturating_sub(FIXED as u32)),
        length => u32::from(length),
    };
    let [_, _, _, _, _, _, _, ttl, addresses @ ..] = header;
    let [source, destination] = addresses.as_chunks::<16>().0 else {
        return Err(Skip::CutShort);
    };
    Ok(Envelope {
        source: Address::v6(*source),
        destination: Address::v6(*destination),
        ip_id: None,
        ttl: *ttl,
        fragmented: chain.fragmented,
        length: length.checked_sub(chain.length as u32).ok_or(Skip::CutShort)?,
        segment: behind.get(chain.length..).ok_or(Skip::CutShort)?,
    })
}

/// The extension headers between the fixed header and TCP.
#[derive(Default)]
struct Chain {
    length: usize,
    fragmented: bool,
    jumbo: Option<u32>,
}

impl Chain {
    #[cold]
    fn walk(mut next: u8, behind: &[u8]) -> Result<Chain, Skip> {
        let mut chain = Chain::default();
        while next != TCP {
            let header = behind.get(chain.length..).unwrap_or_default();
            if !matches!(next, HOP_BY_HOP | ROUTING | FRAGMENT | DESTINATION) {
                return Err(Skip::NotTcp);
            }
            let unit: &[u8; 8] = header.first_chunk().ok_or(Skip::CutShort)?;
            let mut length = 8 * (1 + usize::from(unit[1]));
            match next {
                FRAGMENT => {
                    chain.read_fragment(unit)?;
                    length = unit.len();
                }
                HOP_BY_HOP => chain.jumbo = jumbo_payload(header.get(2..length).ok_or(Skip::CutShort)?),
                _ => {}
            }
            next = unit[0];
            chain.length += length;
        }
        Ok(chain)
    }

    fn read_fragment(&mut self, header: &[u8; 8]) -> Result<(), Skip> {
        const OFFSET: u16 = 0xfff8;
        const MORE: u16 = 1;
        let field = u16::from_be_bytes([header[2], header[3]]);
        if field & OFFSET != 0 {
            // What a later fragment calls its next header is only the first one of the part that was fragmented.
            let may_be_tcp = matches!(header[0], TCP | ROUTING | DESTINATION);
            return Err(if may_be_tcp { Skip::IpFragment } else { Skip::NotTcp });
        }
        self.fragmented = field & MORE != 0;
        Ok(())
    }
}

/// The jumbo payload option among hop-by-hop options: the length of what follows the fixed header (RFC 2675 §2).
fn jumbo_payload(mut options: &[u8]) -> Option<u32> {
    const PAD1: u8 = 0;
    const JUMBO: u8 = 0xc2;
    loop {
        options = match options {
            [PAD1, rest @ ..] => rest,
            [JUMBO, 4, a, b, c, d, ..] => return Some(u32::from_be_bytes([*a, *b, *c, *d])),
            [_, length, rest @ ..] => rest.get(usize::from(*length)..)?,
            _ => return None,
        };
    }
}
