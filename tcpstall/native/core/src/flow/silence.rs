//! Data that one end sent again while its peer was not heard at all.

use crate::time::Nanos;

/// What one end sent again since its peer was last heard.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Silence {
    /// The latest segment of the peer.
    pub heard: Option<Nanos>,
    /// Times that the first unacknowledged byte was sent again since then.
    pub attempts: u32,
    /// The last of those attempts.
    pub last_attempt: Option<Nanos>,
}

impl Silence {
    /// The peer was heard.
    #[inline]
    pub(super) fn is_broken(&mut self, now: Nanos) {
        *self = Silence { heard: Some(now), ..Silence::default() };
    }

    /// Data was sent again; only the first unacknowledged byte makes it an attempt, since one repair may hold many segments.
    pub(super) fn lasts(&mut self, now: Nanos, at_left_edge: bool) {
        if at_left_edge {
            self.attempts = self.attempts.saturating_add(1);
            self.last_attempt = Some(now);
        }
    }
}
