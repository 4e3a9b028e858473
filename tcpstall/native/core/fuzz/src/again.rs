//! Captures written again and read back.

use std::io::Cursor;
use std::ops::ControlFlow;

use tcpstall_core::anonymise::Pseudonyms;
use tcpstall_core::capture::{Capture, CaptureError, Item};
use tcpstall_core::copy::{Choice, Copied, Form, Remarks, Wish, copy};

/// Bytes through every kind of copy: each packet that was read is there again, at its time.
pub fn copied(bytes: &[u8]) {
    let times = times(bytes);
    for (form, payload, names) in [
        (Form::Pcapng, true, None),
        (Form::Pcapng, false, None),
        (Form::Pcapng, false, Some(Pseudonyms::new(&[7; 32]))),
        (Form::Pcap, true, Some(Pseudonyms::new(&[7; 32]))),
    ] {
        let mut remarks = Remarks::default();
        (1..9).for_each(|packet| remarks.at(packet, "here".into()));
        let wish = Wish { form, choice: Choice::Everything, remarks, about: "all".into(), payload, names };
        let Some((out, copied)) = write(bytes, wish) else { continue };
        assert_eq!(copied.written, copied.packets);
        // In a pcap, a packet of nothing may be taken for zeros that a file system left.
        if form == Form::Pcapng {
            assert_eq!(self::times(&out), times, "payload: {payload}");
        }
    }
}

fn write(bytes: &[u8], wish: Wish) -> Option<(Vec<u8>, Copied)> {
    let mut out = Vec::new();
    let capture = Capture::from_reader(Box::new(Cursor::new(bytes.to_vec())));
    let copied = copy(capture, wish, &mut out, &mut |_, _| ControlFlow::Continue(())).ok()?;
    Some((out, copied))
}

/// When each packet passed, as far as the capture can be read.
fn times(bytes: &[u8]) -> Vec<i64> {
    let mut capture = Capture::from_reader(Box::new(Cursor::new(bytes.to_vec())));
    let mut times = Vec::new();
    loop {
        match capture.next() {
            Ok(Some(Item::Frame(frame))) => times.push(frame.time.0),
            // Unpacking may be waited for.
            Ok(Some(_)) | Err(CaptureError::Interrupted) => {}
            Ok(None) | Err(_) => return times,
        }
    }
}
