//! Numbers about the peer's receiver: a reader that lags, a window that shut, unanswered probes.

use crate::causes::details;
use crate::causes::{Cause, PausePart};
use crate::json::row;
use crate::pause::Pause;
use crate::time::Nanos;

row! {
    /// Numbers about the peer's window and its reader. Absent where they do not apply.
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    pub struct Receiver {
        /// The largest window so far, where a reader lagged behind it, bytes.
        #[json(if_any)]
        pub window_plateau_bytes: Option<u64>,
        /// Bytes that the peer's application had not read when the wait ended.
        #[json(if_any)]
        pub unread_bytes: Option<u64>,
        /// Rate at which the peer's application read while it lagged, over the whole flow, bytes per second.
        #[json(if_any)]
        pub drain_bytes_per_s: Option<u64>,
        /// Time within the wait for which the window was shut.
        #[json(if_any)]
        pub closed_ns: Option<Nanos>,
        /// The smallest window in that time: 0, or less than a segment, bytes.
        #[json(if_any)]
        pub closed_window_bytes: Option<u64>,
        /// Payload of the sender's window probes: 0 or 1, bytes.
        #[json(if_any)]
        pub probe_bytes: Option<u64>,
        /// Window probes that no ACK of the peer followed before the next probe.
        #[json(if_any)]
        pub probes_unanswered: Option<u64>,
        /// Probes since the peer was last heard, for a wait that never ended.
        #[json(if_any)]
        pub probes_since_heard: Option<u64>,
    }
}

impl Receiver {
    /// Numbers of a stall at a shut window, or because of a slow reader.
    pub fn of(pause: &Pause, part: &PausePart) -> Receiver {
        let size = |bytes: i64| Some(bytes.max(0) as u64);
        match (part.cause, part.proof.detail) {
            (Cause::ZeroWindow, _) => {
                let (closed, reopened) = (pause.closed.unwrap_or(part.start), pause.reopened.unwrap_or(part.end));
                Receiver {
                    closed_ns: Some((reopened.min(part.end) - closed.max(part.start)).or_zero()),
                    closed_window_bytes: pause.persist.window.and_then(size),
                    probe_bytes: pause.persist.probe_bytes.map(u64::from),
                    probes_unanswered: (pause.probes > 0).then_some(u64::from(pause.probes - pause.persist.answered)),
                    probes_since_heard: (pause.probes > 0 && !pause.ended).then_some(u64::from(pause.persist.unheard)),
                    ..Receiver::default()
                }
            }
            (Cause::RwndLimited, details::SLOW_READER) => Receiver {
                window_plateau_bytes: size(pause.reading.plateau),
                unread_bytes: size(pause.reading.unread),
                drain_bytes_per_s: pause.context.drain,
                ..Receiver::default()
            },
            _ => Receiver::default(),
        }
    }
}
