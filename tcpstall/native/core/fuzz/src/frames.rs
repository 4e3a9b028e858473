//! A capture of two connections out of a fuzzer's bytes, so that mutations reach the state machines and not only the readers.
//!
//! A head of [`HEAD`] bytes sets the stage, then each [`RECORD`] bytes are a segment. Its numbers are told from where its
//! connection stands ("the next byte", "three segments back"), since numbers drawn at random would nearly all be absurd.

/// Bytes of the head.
const HEAD: usize = 8;
/// Bytes of a segment.
const RECORD: usize = 12;
/// More segments only make a round slower.
const MOST: usize = 400;

/// Segments are this long where the record does not say otherwise.
const MSS: u32 = 1_448;

/// One end's place in its sequence space.
#[derive(Clone, Copy, Default)]
struct Sequence {
    /// After the highest byte sent.
    next: u32,
    /// First byte of the segment sent last.
    last: u32,
    /// Highest acknowledgement from the other end.
    acked: u32,
}

/// The capture: raw IP, nanoseconds.
pub fn capture_of(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(24 + bytes.len() / RECORD * 90);
    let head: [u8; HEAD] = std::array::from_fn(|at| bytes.get(at).copied().unwrap_or_default());
    for word in [0xa1b2_3c4d_u32, 0x0004_0002, 0, 0, 65_535, 101] {
        out.extend_from_slice(&word.to_le_bytes());
    }
    let isn = |from: &[u8]| u32::from_be_bytes([from[0], from[1], 0xff, 0xf0]);
    let start = |isn: u32| Sequence { next: isn, last: isn, acked: isn };
    let mut ends = [[start(isn(&head[0..2])), start(isn(&head[2..4]))]; 2];
    let mut stage = Stage { clock: i64::from(head[4]) << 24, cut: head[5], ip_id: 0, ends: &mut ends };
    for record in bytes.get(HEAD..).unwrap_or_default().chunks_exact(RECORD).take(MOST) {
        let record: &[u8; RECORD] = record.first_chunk().expect("chunks are as long as a record");
        stage.plays(record, &mut out);
    }
    out
}

struct Stage<'a> {
    clock: i64,
    /// Where each packet is cut, if at all.
    cut: u8,
    ip_id: u16,
    ends: &'a mut [[Sequence; 2]; 2],
}

impl Stage<'_> {
    fn plays(&mut self, record: &[u8; RECORD], out: &mut Vec<u8>) {
        let [who, when, place, l0, l1, ack_place, w0, w1, options, x0, x1, x2] = *record;
        let (flow, side) = (usize::from(who & 2 != 0), usize::from(who & 1));
        self.passes(when);
        let flags = [0x10, 0x18, 0x02, 0x12, 0x11, 0x04, 0x14, x2][usize::from(who >> 2 & 7)];
        let length = u32::from(u16::from_be_bytes([l0, l1]));
        // Small numbers are so many whole segments, as most are.
        let length = if length < 16 { length * MSS } else { length };
        let (own, peer) = (self.ends[flow][side], self.ends[flow][1 - side]);
        let far = u32::from_be_bytes([x0, x1, x2, 0]);
        let seq = around(place, own.next, own.last, own.acked, far);
        let ack = around(ack_place, peer.next, peer.acked, peer.last, far);
        let after = seq.wrapping_add(length).wrapping_add(u32::from(flags & 3 != 0));
        let end = &mut self.ends[flow][side];
        end.last = seq;
        if after.wrapping_sub(end.next) as i32 > 0 {
            end.next = after;
        }
        if flags & 0x10 != 0 && ack.wrapping_sub(peer.acked) as i32 > 0 {
            self.ends[flow][1 - side].acked = ack;
        }
        let mut header = [0_u8; 20];
        let ports = [[40_000_u16 + flow as u16, 443], [443, 40_000 + flow as u16]][side];
        header[0..2].copy_from_slice(&ports[0].to_be_bytes());
        header[2..4].copy_from_slice(&ports[1].to_be_bytes());
        header[4..8].copy_from_slice(&seq.to_be_bytes());
        header[8..12].copy_from_slice(&ack.to_be_bytes());
        header[13] = flags;
        header[14..16].copy_from_slice(&[w0, w1]);
        let options = self.options(options, flags, own, peer, [x0, x1, x2]);
        header[12] = ((20 + options.len()) as u8 / 4) << 4;
        let kept = if who & 0x20 != 0 { b"GET / HTTP/1.1\r\n\r\n".as_slice() } else { &[] };
        let kept = &kept[..kept.len().min(length as usize)];
        self.stores([&header, &options, kept], length, side, who & 0x40 != 0, out);
    }

    /// A byte's upper half is the order of magnitude; its highest values turn the clock back or far ahead.
    fn passes(&mut self, when: u8) {
        let span = i64::from(when & 0x0f);
        self.clock = match when >> 4 {
            15 if when == 0xff => self.clock.saturating_add(span << 36),
            15 => self.clock - (span << 20),
            magnitude => self.clock.saturating_add(span << (2 * magnitude + 6)),
        };
        self.clock = self.clock.clamp(0, i64::from(u32::MAX) * 1_000_000_000);
    }

    fn options(&self, which: u8, flags: u8, own: Sequence, peer: Sequence, extra: [u8; 3]) -> Vec<u8> {
        let mut options = Vec::new();
        if which & 1 != 0 {
            options.extend_from_slice(&[1, 1, 8, 10]);
            options.extend_from_slice(&((self.clock >> 20) as u32).to_be_bytes());
            options.extend_from_slice(&((self.clock >> 20) as u32).wrapping_sub(u32::from(extra[2])).to_be_bytes());
        }
        if flags & 2 != 0 {
            options.extend_from_slice(&[2, 4, extra[0], extra[1]]);
            options.extend_from_slice(if which & 2 != 0 { &[1, 3, 3, 7] } else { &[1, 1, 1, 1] });
            options.extend_from_slice(if which & 4 != 0 { &[4, 2, 1, 1] } else { &[] });
        } else if which & 6 != 0 {
            let blocks = u32::from(which >> 1 & 3);
            options.extend_from_slice(&[1, 1, 5, 2 + 8 * blocks as u8]);
            for block in 0..blocks {
                let back = (u32::from(extra[block as usize % 3]) + block) * MSS;
                let left = if which & 0x80 != 0 { own.next } else { peer.acked }.wrapping_add(back);
                options.extend_from_slice(&left.to_be_bytes());
                options.extend_from_slice(&left.wrapping_add((u32::from(which >> 3 & 7) + 1) * MSS).to_be_bytes());
            }
        }
        options.truncate(40);
        options
    }

    fn stores(&mut self, parts: [&[u8]; 3], length: u32, side: usize, again: bool, out: &mut Vec<u8>) {
        let held: usize = 20 + parts.iter().map(|part| part.len()).sum::<usize>();
        let whole = 20 + parts[0].len() as u32 + parts[1].len() as u32 + length;
        self.ip_id = self.ip_id.wrapping_add(u16::from(!again));
        let mut ip = [0x45, 0, 0, 0, 0, 0, 0x40, 0, 64 - side as u8, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];
        // Longer than the field can say: 0, as segmentation offload leaves it.
        ip[2..4].copy_from_slice(&u16::try_from(whole).unwrap_or(0).to_be_bytes());
        ip[4..6].copy_from_slice(&self.ip_id.to_be_bytes());
        (ip[15], ip[19]) = [(1, 2), (2, 1)][side];
        let cut = if self.cut < 40 { held } else { held.min(usize::from(self.cut)) };
        let (seconds, nanos) = (self.clock / 1_000_000_000, self.clock % 1_000_000_000);
        for word in [seconds as u32, nanos as u32, cut as u32, whole] {
            out.extend_from_slice(&word.to_le_bytes());
        }
        let packet: Vec<u8> = ip.iter().chain(parts.into_iter().flatten()).copied().take(cut).collect();
        out.extend_from_slice(&packet);
    }
}

/// A number near one of three places, or far from all.
fn around(place: u8, next: u32, last: u32, acked: u32, far: u32) -> u32 {
    let steps = u32::from(place & 0x0f);
    match place >> 4 {
        0..=4 => next.wrapping_add(steps * MSS),
        5 | 6 => next.wrapping_sub(steps * MSS),
        7 => next.wrapping_sub(steps),
        8 => next.wrapping_add(steps),
        9 => last,
        10 => acked.wrapping_add(steps * MSS),
        11 => acked.wrapping_sub(steps),
        12 => last.wrapping_add(steps * MSS),
        13 => next.wrapping_add(steps << 28),
        _ => far.wrapping_add(steps),
    }
}
