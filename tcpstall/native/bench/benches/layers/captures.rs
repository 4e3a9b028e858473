//! Two captures made in memory: long flows whose rounds fill the receiver's window, and short ones of 13 packets.

const ACK: u8 = 0x10;
const PSH_ACK: u8 = 0x18;
const FIN_ACK: u8 = 0x11;
const SYN: u8 = 0x02;
const SYN_ACK: u8 = 0x12;
const MSS: u32 = 1448;
const SERVER: ([u8; 4], u16) = ([10, 0, 0, 2], 80);

/// A capture, and how many packets are in it.
pub(crate) struct Bytes {
    pub(crate) pcap: Vec<u8>,
    pub(crate) packets: u64,
}

/// A packet of the connection to `client`'s address and port.
struct Packet {
    time_us: u64,
    client: ([u8; 4], u16),
    from_client: bool,
    flags: u8,
    seq: u32,
    ack: u32,
    payload: u32,
}

impl Bytes {
    fn new(snap: u32) -> Bytes {
        let mut pcap = Vec::new();
        for word in [0xa1b2_c3d4, 4 << 16 | 2, 0, 0, snap, 1] {
            pcap.extend_from_slice(&u32::to_le_bytes(word));
        }
        Bytes { pcap, packets: 0 }
    }

    /// Ethernet, IPv4, TCP with timestamps, and as much payload as `snap` leaves.
    fn push(&mut self, packet: &Packet, snap: u32) {
        let (source, destination) = if packet.from_client { (packet.client, SERVER) } else { (SERVER, packet.client) };
        let ip_length = 52 + packet.payload;
        let kept = snap.min(14 + ip_length);
        let time = 1_700_000_000_000_000 + packet.time_us;
        let record = [(time / 1_000_000) as u32, (time % 1_000_000) as u32, kept, 14 + ip_length];
        record.iter().for_each(|word| self.pcap.extend_from_slice(&word.to_le_bytes()));
        let end = self.pcap.len() + kept as usize;
        self.pcap.extend_from_slice(&[2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 8, 0, 0x45, 0]);
        self.pcap.extend_from_slice(&(ip_length as u16).to_be_bytes());
        self.pcap.extend_from_slice(&(self.packets as u16).to_be_bytes());
        self.pcap.extend_from_slice(&[0x40, 0, 64, 6, 0, 0]);
        self.pcap.extend_from_slice(&source.0);
        self.pcap.extend_from_slice(&destination.0);
        self.pcap.extend_from_slice(&source.1.to_be_bytes());
        self.pcap.extend_from_slice(&destination.1.to_be_bytes());
        self.pcap.extend_from_slice(&packet.seq.to_be_bytes());
        self.pcap.extend_from_slice(&packet.ack.to_be_bytes());
        // The window scale is unknown without the option, so the window is what it says.
        self.pcap.extend_from_slice(&[8 << 4, packet.flags, 0xff, 0xff, 0, 0, 0, 0, 1, 1, 8, 10]);
        let clock = (packet.time_us / 1_000) as u32;
        self.pcap.extend_from_slice(&clock.to_be_bytes());
        self.pcap.extend_from_slice(&clock.saturating_sub(20).to_be_bytes());
        self.pcap.resize(end, b'x');
        self.packets += 1;
    }
}

/// Segments of 1448 bytes in a window of 65,535 bytes, even in number: an ACK releases two.
const WINDOW: u32 = 44;
const ROUND_US: u64 = 20_000;

/// Sixteen downloads over 20 ms, 96 bytes of each packet.
pub(crate) fn long(packets: u64) -> Bytes {
    const FLOWS: u64 = 16;
    let mut bytes = Bytes::new(96);
    let client = |flow: u64| ([10, 0, 0, 1], 40_000 + flow as u16);
    let mut say = |time_us, flow, from_client, flags, seq, ack, payload| {
        let packet = Packet { time_us, client: client(flow), from_client, flags, seq, ack, payload };
        bytes.push(&packet, 96);
        bytes.packets
    };
    for flow in 0..FLOWS {
        say(flow * 1_000, flow, true, SYN, 99, 0, 0);
        say(flow * 1_000 + 5, flow, false, SYN_ACK, 999, 100, 0);
    }
    for flow in 0..FLOWS {
        say(ROUND_US + flow * 1_000, flow, true, ACK, 100, 1_000, 0);
        say(ROUND_US + flow * 1_000 + 1, flow, true, PSH_ACK, 100, 1_000, 100);
    }
    for round in 1_u32.. {
        for flow in 0..FLOWS {
            for pair in 0..WINDOW / 2 {
                let time = u64::from(round) * ROUND_US + flow * 1_000 + 2 + 3 * u64::from(pair);
                let released = 1_000_u32.wrapping_add(((round - 1) * WINDOW + 2 * pair).wrapping_mul(MSS));
                if round > 1 {
                    let acked = released.wrapping_sub((WINDOW - 2) * MSS);
                    say(time, flow, true, ACK, 200, acked, 0);
                }
                say(time + 1, flow, false, ACK, released, 200, MSS);
                if say(time + 2, flow, false, ACK, released.wrapping_add(MSS), 200, MSS) >= packets {
                    return bytes;
                }
            }
        }
    }
    bytes
}

/// µs after the SYN, the client's?, flags, sequence number, ACK, payload.
const SHORT: [(u64, bool, u8, u32, u32, u32); 13] = [
    (0, true, SYN, 999, 0, 0),
    (1, false, SYN_ACK, 4_999, 1_000, 0),
    (20_002, true, ACK, 1_000, 5_000, 0),
    (20_003, true, PSH_ACK, 1_000, 5_000, 147),
    (20_004, false, ACK, 5_000, 1_147, 0),
    (20_405, false, ACK, 5_000, 1_147, MSS),
    (20_406, false, ACK, 6_448, 1_147, MSS),
    (20_407, false, PSH_ACK, 7_896, 1_147, 1_104),
    (40_408, true, ACK, 1_147, 7_896, 0),
    (40_409, true, ACK, 1_147, 9_000, 0),
    (40_410, false, FIN_ACK, 9_000, 1_147, 0),
    (60_411, true, FIN_ACK, 1_147, 9_001, 0),
    (60_412, false, ACK, 9_001, 1_148, 0),
];

/// A connection each 20 µs, so that some 3,000 are open at a time; 128 bytes of each packet.
pub(crate) fn short(packets: u64) -> Bytes {
    const EVERY_US: u64 = 20;
    let mut bytes = Bytes::new(128);
    for slot in 0.. {
        for (after, from_client, flags, seq, ack, payload) in SHORT {
            let Some(flow) = u64::checked_sub(slot, after / EVERY_US) else { continue };
            let [_, a, b, c] = (flow as u32).to_be_bytes();
            let client = ([10, 1 + a, b, c], 10_000);
            let time_us = slot * EVERY_US + after % EVERY_US;
            bytes.push(&Packet { time_us, client, from_client, flags, seq, ack, payload }, 128);
            if bytes.packets == packets {
                return bytes;
            }
        }
    }
    bytes
}
