//! Fields of a connection's SYNs, one row per end.

use crate::flow::{Connection, End};

/// SYNs of the client, or SYN-ACKs of the server; their fields are `None` where none was captured.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SynRow {
    /// Number of SYNs or SYN-ACKs sent.
    pub count: u32,
    /// IPv4 TTL or IPv6 hop limit at the tap.
    pub ttl: Option<u8>,
    /// The window field, which is not scaled.
    pub window_bytes: Option<u16>,
    /// The MSS option; `None` also where it is absent, or where the snap length may have cut it off.
    pub mss_bytes: Option<u16>,
    /// The SACK-permitted option; `None` also where the snap length may have cut it off.
    pub sack_permitted: Option<bool>,
    /// The timestamps option; `None` also where the snap length may have cut it off.
    pub timestamps: Option<bool>,
    /// ECN: offered by the client, accepted by the server.
    pub ecn: Option<bool>,
}

impl SynRow {
    pub(in super::super) fn of(connection: &Connection, end: End) -> SynRow {
        let handshake = &connection.handshake;
        let count = match end {
            End::Client => handshake.syns,
            End::Server => handshake.syn_acks,
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
