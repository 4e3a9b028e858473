//! First bytes of each end of a flow, where they begin a request line, the line that answers it, or a TLS hello.

use super::announced::Announced;
use super::end::End;

/// Bytes kept of one start: a request line with its Host, or a TLS hello up to its server name (RFC 6066 §3), which
/// most clients put within the first kilobyte.
const START_KEPT: usize = 1024;
/// Bytes read of an answer: most heads are shorter.
const HEAD_KEPT: usize = 768;
/// Bytes kept of the first answer: the version and the status (RFC 9112 §4).
const STATUS_KEPT: usize = "HTTP/1.1 200".len();
/// First bytes of an answer.
const ANSWER: &[u8] = b"HTTP/1.";

/// First bytes of a TLS handshake record, version 3.x (RFC 8446 §5.1).
const TLS_HANDSHAKE: [u8; 2] = [22, 3];
/// Type of a TLS handshake message 1, ClientHello (RFC 8446 §4), after the record's header of five bytes.
const CLIENT_HELLO: u8 = 1;

/// The start of each direction, empty where none was recognised.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct FirstPayloads {
    starts: [Vec<u8>; 2],
    /// Place of the client's start in its data.
    client_at: i64,
    announced: Announced,
}

impl FirstPayloads {
    /// True if payload begins a known protocol element; cheap, because it runs for every packet.
    #[inline]
    pub fn is_one(payload: &[u8]) -> bool {
        match payload.first() {
            Some(b'G' | b'P' | b'H' | b'D' | b'O' | b'C' | b'T') => is_method(payload) || payload.starts_with(ANSWER),
            Some(22) => payload.starts_with(&TLS_HANDSHAKE) && payload.get(5).is_none_or(|kind| *kind == CLIENT_HELLO),
            _ => false,
        }
    }

    /// The part of such payload that is read.
    pub fn kept(payload: &[u8]) -> &[u8] {
        let most = if payload.starts_with(ANSWER) { HEAD_KEPT } else { START_KEPT };
        &payload[..payload.len().min(most)]
    }

    /// Keeps the first start of a direction, and the head of the latest answer; `offset` is the start's place in its
    /// sender's data.
    pub fn keep(&mut self, sender: End, payload: &[u8], offset: i64) {
        self.announced.starts(sender, payload, offset);
        let start = &mut self.starts[sender];
        if start.is_empty() {
            let most = if payload.starts_with(ANSWER) { STATUS_KEPT } else { START_KEPT };
            start.extend_from_slice(&payload[..payload.len().min(most)]);
            if sender == End::Client {
                self.client_at = offset;
            }
        }
    }

    /// The same without the head of the latest answer.
    pub fn of_the_first(&self) -> FirstPayloads {
        FirstPayloads { announced: Announced::default(), starts: self.starts.clone(), ..*self }
    }

    /// Head of the latest answer.
    pub fn announced(&self) -> &Announced {
        &self.announced
    }

    /// First bytes of that end.
    pub fn of(&self, sender: End) -> &[u8] {
        &self.starts[sender]
    }

    /// The client sends the content of its first request when the server has allowed it, or a timer of its own runs out (RFC
    /// 9110 §10.1.1).
    pub fn expect_continue(&self) -> bool {
        const EXPECT: &[u8] = b"\r\nexpect: 100-continue\r\n";
        let head = &self.starts[End::Client];
        // PATCH, POST and PUT have content.
        head.starts_with(b"P") && head.windows(EXPECT.len()).any(|line| line.eq_ignore_ascii_case(EXPECT))
    }

    /// The client began with a request of HTTP, and the server did not change to another protocol (RFC 9110 §15.2.2).
    pub fn speak_http(&self) -> bool {
        const SWITCHES: &[u8] = b"HTTP/1.1 101";
        is_method(&self.starts[End::Client]) && !self.starts[End::Server].starts_with(SWITCHES)
    }

    /// The client began with a TLS hello.
    pub fn speak_tls(&self) -> bool {
        self.starts[End::Client].starts_with(&TLS_HANDSHAKE)
    }

    /// The first byte of the client's data began a TLS hello.
    pub fn begin_with_tls(&self) -> bool {
        const FIRST: i64 = 1;
        self.speak_tls() && self.client_at == FIRST
    }
}

/// Methods of RFC 9110 §9.3 and RFC 5789 with the space that follows them.
fn is_method(payload: &[u8]) -> bool {
    const METHODS: [&[u8]; 9] =
        [b"GET ", b"POST ", b"PUT ", b"HEAD ", b"DELETE ", b"OPTIONS ", b"CONNECT ", b"PATCH ", b"TRACE "];
    METHODS.iter().any(|method| payload.starts_with(method))
}

#[cfg(test)]
mod tests {
    use super::{FirstPayloads, START_KEPT};
    use crate::flow::End;

    #[test]
    fn only_what_has_a_name_is_a_start() {
        for yes in
            [&b"GET / HTTP/1.1"[..], b"POST /x", b"HTTP/1.1 200", b"\x16\x03\x01\x02\x00\x01\x00", b"\x16\x03\x01"]
        {
            assert!(FirstPayloads::is_one(yes), "{yes:?}");
        }
        for no in [&b""[..], b"G", b"GETS", b"HTTP/2", b"\x16\x02\x01", b"\x16\x03\x01\x02\x00\x02", b"\0\0\0\0\0"] {
            assert!(!FirstPayloads::is_one(no), "{no:?}");
        }
    }

    #[test]
    fn a_request_may_wait_for_permission() {
        let expects = |head: &[u8]| {
            let mut starts = FirstPayloads::default();
            starts.keep(End::Client, head, 0);
            starts.expect_continue()
        };
        assert!(expects(b"PUT / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n\r\n"));
        assert!(!expects(b"PUT / HTTP/1.1\r\nHost: expect: 100-continue\r\n\r\n"));
        assert!(!expects(b"GET / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n\r\n"));
    }

    #[test]
    fn the_first_start_stays_and_is_cut() {
        let mut starts = FirstPayloads::default();
        starts.keep(End::Client, &[b'a'; 2 * START_KEPT], 0);
        starts.keep(End::Client, b"GET /", 0);
        assert_eq!(starts.of(End::Client), [b'a'; START_KEPT]);
        assert!(starts.of(End::Server).is_empty());
        starts.keep(End::Server, b"HTTP/1.1 404 Not Found\r\n", 0);
        assert_eq!(starts.of(End::Server), b"HTTP/1.1 404");
    }
}
