//! The two ends of a connection.

use std::ops::{Index, IndexMut};

/// One end of a connection. Where it names data, the end is the sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum End {
    /// The end that opened the connection: it sent the SYN.
    Client = 0,
    /// The end that accepted the connection.
    Server = 1,
}

impl End {
    /// Both ends, the client first.
    pub const BOTH: [End; 2] = [End::Client, End::Server];

    /// The other end.
    pub const fn peer(self) -> End {
        match self {
            End::Client => End::Server,
            End::Server => End::Client,
        }
    }

    /// Name in the report.
    pub const fn name(self) -> &'static str {
        match self {
            End::Client => "client",
            End::Server => "server",
        }
    }
}

/// The value of `end` and that of its peer.
#[inline]
pub fn split<T>([client, server]: &mut [T; 2], end: End) -> (&mut T, &mut T) {
    match end {
        End::Client => (client, server),
        End::Server => (server, client),
    }
}

/// A pair holds the client's value, then the server's.
impl<T> Index<End> for [T; 2] {
    type Output = T;

    #[inline]
    fn index(&self, end: End) -> &T {
        &self[end as usize]
    }
}

impl<T> IndexMut<End> for [T; 2] {
    #[inline]
    fn index_mut(&mut self, end: End) -> &mut T {
        &mut self[end as usize]
    }
}
