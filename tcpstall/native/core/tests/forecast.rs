//! A forecast plays no more events than there is room for.

use std::net::Ipv4Addr;
use std::{env, fs, process};

use tcpstall_core::capture::Expansion;
use tcpstall_core::causes::Limits;
use tcpstall_core::engine::{Filter, Opener, RunOptions, Sets, records};
use tcpstall_core::replay::forecast::{MOST_EVENTS, forecast, forecast_within};
use tcpstall_core::replay::recover::Refusal;
use tcpstall_core::results::Wanted;
use tcpstall_core::time::Nanos;

const CLIENT: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 1);
const SERVER: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 2);

/// A packet at a time (ms), from the client or not, with flags, numbers and so much payload, which is cut off.
fn packet(at: u32, client: bool, flags: u8, (seq, ack): (u32, u32), payload: u16) -> Vec<u8> {
    let (from, to, ports) = if client { (CLIENT, SERVER, [40_000, 80]) } else { (SERVER, CLIENT, [80, 40_000_u16]) };
    let total = 40 + payload;
    let mut ip = vec![0x45, 0];
    ip.extend(total.to_be_bytes());
    ip.extend([0, 0, 0, 0, 64, 6, 0, 0]);
    ip.extend(from.octets());
    ip.extend(to.octets());
    ip.extend(ports.into_iter().flat_map(u16::to_be_bytes));
    ip.extend([seq, ack].into_iter().flat_map(u32::to_be_bytes));
    ip.extend([5 << 4, flags, 0xff, 0xff, 0, 0, 0, 0]);
    let header = [at / 1_000, at % 1_000 * 1_000, ip.len() as u32, u32::from(total)];
    header.into_iter().flat_map(u32::to_le_bytes).chain(ip).collect()
}

/// A handshake, a request and responses of 1,000 bytes, 20 ms each.
fn capture() -> Vec<u8> {
    const SYN: u8 = 2;
    const ACK: u8 = 16;
    let mut bytes: Vec<u8> = Vec::new();
    bytes.extend([0xa1b2_c3d4, 0x0004_0002, 0, 0, 65_535, 101_u32].into_iter().flat_map(u32::to_le_bytes));
    bytes.extend(packet(0, true, SYN, (0, 0), 0));
    bytes.extend(packet(20, false, SYN | ACK, (0, 1), 0));
    bytes.extend(packet(20, true, ACK, (1, 1), 0));
    bytes.extend(packet(20, true, ACK, (1, 1), 100));
    for turn in 0..20 {
        bytes.extend(packet(40 + 20 * turn, false, ACK, (1 + 1_000 * turn, 101), 1_000));
        bytes.extend(packet(40 + 20 * turn, true, ACK, (101, 1_001 + 1_000 * turn), 0));
    }
    bytes
}

fn options() -> RunOptions {
    RunOptions {
        filter: Filter::default(),
        limits: Limits::default(),
        wanted: Wanted { bursts: false, exchanges: true, least_stall: Nanos::ZERO },
        expansion: Expansion::default(),
        names: None,
        sets: Sets::default(),
        opener: Opener::default(),
        threads: None,
    }
}

#[test]
fn a_flow_that_needs_more_events_than_there_is_room_for_is_refused() {
    let path = env::temp_dir().join(format!("tcpstall-forecast-{}.pcap", process::id()));
    fs::write(&path, capture()).expect("there is room for a small file");
    let found = records(&[path.to_string_lossy().into_owned()], &[0], &options());
    fs::remove_file(&path).expect("it was just written");
    let found = found.expect("it is a capture");
    let record = found[0].as_ref().expect("its flow");
    let whole = forecast(record, &[]);
    assert_eq!(whole.refused, None);
    assert!(!whole.outcomes.is_empty() && MOST_EVENTS > 1_000);
    let short = forecast_within(record, &[], 100);
    assert_eq!(short.refused, Some(Refusal::TooLong));
    assert!(short.outcomes.is_empty() && short.captured.is_some());
}
