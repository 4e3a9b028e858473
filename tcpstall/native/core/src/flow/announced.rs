//! Length of the latest HTTP answer, as its head announces it.

use super::end::End;

/// Head of the latest answer; its length is read at the flow's end, where the server closed.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Announced {
    /// The latest request asks for no content (RFC 9110 §9.3.2, §9.3.6).
    bare: bool,
    /// First bytes of the answer; empty while there is none with content.
    head: Vec<u8>,
    /// Place of the answer in the server's data.
    from: i64,
}

impl Announced {
    /// Takes in a start at that offset of its sender's data: a request, or an answer.
    pub fn starts(&mut self, sender: End, payload: &[u8], offset: i64) {
        // An informational answer precedes the one that counts (RFC 9110 §15.2).
        if sender == End::Server && payload.starts_with(b"HTTP/1.") && payload.get(STATUS.start) == Some(&b'1') {
            return;
        }
        self.head.clear();
        match sender {
            End::Client => self.bare = [&b"HEAD "[..], b"CONNECT "].iter().any(|method| payload.starts_with(method)),
            End::Server if self.bare => {}
            End::Server => {
                self.head.extend_from_slice(payload);
                self.from = offset;
            }
        }
    }

    /// Bytes of the content that came, and its whole length, if the server's data ends at `end`, amid the content.
    pub fn cut_at(&self, end: i64) -> Option<(u64, u64)> {
        let (head, bytes) = length(&self.head)?;
        let came = end - self.from - head;
        (0..bytes).contains(&came).then_some((came as u64, bytes as u64))
    }
}

/// Place of the status in an answer (RFC 9112 §4).
const STATUS: std::ops::Range<usize> = 9..12;

/// Lengths of the head and of the content; `None` where the head is not whole, or announces no length (RFC 9112 §6.3).
fn length(answer: &[u8]) -> Option<(i64, i64)> {
    const END: &[u8] = b"\r\n\r\n";
    let status = answer.get(STATUS)?;
    let head = answer.windows(END.len()).position(|bytes| bytes == END)?;
    if status == b"204" || status == b"304" {
        return None;
    }
    let mut found = None;
    for line in answer[..head].split(|byte| *byte == b'\n').skip(1) {
        let (name, value) = line.split_at(line.iter().position(|byte| *byte == b':')?);
        if name.eq_ignore_ascii_case(b"transfer-encoding") {
            return None;
        }
        if name.eq_ignore_ascii_case(b"content-length") {
            found = std::str::from_utf8(&value[1..]).ok()?.trim().parse().ok();
        }
    }
    found.filter(|bytes| *bytes >= 0).map(|bytes| ((head + END.len()) as i64, bytes))
}

#[cfg(test)]
mod tests {
    use super::{Announced, End};

    fn cut(request: &[u8], answer: &[u8], end: i64) -> Option<(u64, u64)> {
        let mut announced = Announced::default();
        announced.starts(End::Client, request, 0);
        announced.starts(End::Server, answer, 100);
        announced.cut_at(end)
    }

    #[test]
    fn content_that_ends_early_is_cut() {
        const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\nabc";
        let begins = 100 + ANSWER.len() as i64 - 3;
        assert_eq!(cut(b"GET / HTTP/1.1", ANSWER, begins + 3), Some((3, 500)));
        assert_eq!(cut(b"GET / HTTP/1.1", ANSWER, begins + 500), None);
        assert_eq!(cut(b"HEAD / HTTP/1.1", ANSWER, begins), None);
    }

    #[test]
    fn unknown_lengths_are_never_cut() {
        for answer in [
            &b"HTTP/1.1 304 Not Modified\r\nContent-Length: 500\r\n\r\n"[..],
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 500\r\n\r\n",
            b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\nX-Cut: ",
            b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n",
            b"HTTP/1.1 200 OK\r\n\r\n",
            b"HTTP/1.1",
        ] {
            assert_eq!(cut(b"GET / HTTP/1.1", answer, 100 + answer.len() as i64), None);
        }
    }
}
