//! A window that was shut, or as good as shut, while a gap lasted: how far, and who asked after it.

/// What the sender asked and the peer answered.
#[derive(Clone, Copy, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Shut {
    /// The smallest window while it was shut: 0, or less than the sender may use.
    pub window: Option<i64>,
    /// Payload of the probes, 0 or 1 byte.
    pub probe_bytes: Option<u32>,
    /// Probes that an ACK of the peer followed before the next one.
    pub answered: u32,
    /// Probes since the peer was last heard.
    pub unheard: u32,
}

impl Shut {
    /// The peer says that its window is shut.
    pub(super) fn at(&mut self, window: i64) {
        self.window = Some(self.window.map_or(window, |least| least.min(window)));
    }

    /// The sender probed.
    pub(super) fn probed(&mut self, payload: u32) {
        self.probe_bytes = Some(self.probe_bytes.map_or(payload, |most| most.max(payload)));
        self.unheard += 1;
    }

    /// The peer was heard.
    #[inline]
    pub(super) fn heard(&mut self) {
        self.answered += u32::from(self.unheard > 0);
        self.unheard = 0;
    }
}
