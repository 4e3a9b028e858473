//! What the SYNs of a connection said, an end at a time.

use super::columns::{Column, integers, known_flags, signed};
use super::rows::FlowRow;
use crate::flow::{Connection, Direction};

/// The SYNs of the client, or the SYN-ACKs of the server; what they said is `None` where none was captured.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SynRow {
    /// How many it sent.
    pub count: u32,
    /// IPv4 TTL or IPv6 hop limit, as it passed the tap.
    pub ttl: Option<u8>,
    /// The window field, which is not scaled.
    pub window_bytes: Option<u16>,
    /// The MSS option; `None` too where there is none, or where the snap length may have cut it off.
    pub mss_bytes: Option<u16>,
    /// The option SACK-permitted; `None` too where the snap length may have cut it off.
    pub sack_permitted: Option<bool>,
    /// The option timestamps; `None` as before.
    pub timestamps: Option<bool>,
    /// ECN was offered by the client, accepted by the server.
    pub ecn: Option<bool>,
}

impl SynRow {
    pub(super) fn of(connection: &Connection, direction: Direction) -> SynRow {
        let (handshake, end) = (&connection.handshake, direction as usize);
        let count = match direction {
            Direction::Client => handshake.syns,
            Direction::Server => handshake.syn_acks,
        };
        let Some(said) = handshake.said[end] else { return SynRow { count, ..SynRow::default() } };
        let whole = |option: bool| (option || !handshake.options_cut).then_some(option);
        SynRow {
            count,
            ttl: said.ttl,
            window_bytes: Some(said.window),
            mss_bytes: handshake.mss[end],
            sack_permitted: whole(handshake.sack[end]),
            timestamps: whole(said.timestamps),
            ecn: Some(said.ecn),
        }
    }
}

pub(super) fn columns(end: &str, rows: &[FlowRow], of: impl Fn(&FlowRow) -> &SynRow) -> [Column; 7] {
    let name = |field: &str| format!("{end}_{field}");
    [
        integers(&name("syns"), rows, |row| signed(of(row).count.into())),
        integers(&name("syn_ttl"), rows, |row| of(row).ttl.map(i64::from)),
        integers(&name("syn_window_bytes"), rows, |row| of(row).window_bytes.map(i64::from)),
        integers(&name("syn_mss_bytes"), rows, |row| of(row).mss_bytes.map(i64::from)),
        known_flags(&name("sack_permitted"), rows, |row| of(row).sack_permitted),
        known_flags(&name("timestamps"), rows, |row| of(row).timestamps),
        known_flags(&name("ecn"), rows, |row| of(row).ecn),
    ]
}
