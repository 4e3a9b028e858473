//! A window that was shut, or as good as shut, during a pause: its smallest size and the sender's probes.

use super::super::packed::packed;

/// Probes of the sender and answers of the peer.
#[derive(Clone, Copy, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Persist {
    /// The smallest window while it was shut: 0, or less than the sender may use.
    pub window: Option<i64>,
    /// Payload of the probes, 0 or 1 byte.
    pub probe_bytes: Option<u32>,
    /// Probes that an ACK of the peer followed before the next probe.
    pub answered: u32,
    /// Probes since the peer was last heard.
    pub unheard: u32,
}

packed!(Persist { window, probe_bytes, answered, unheard });

impl Persist {
    /// Takes in the peer's announcement that its window is shut.
    pub(in super::super) fn at(&mut self, window: i64) {
        self.window = Some(self.window.map_or(window, |least| least.min(window)));
    }

    /// Takes in a probe of the sender.
    pub(in super::super) fn probed(&mut self, payload: u32) {
        self.probe_bytes = Some(self.probe_bytes.map_or(payload, |most| most.max(payload)));
        self.unheard += 1;
    }

    /// Takes in a segment of the peer.
    #[inline]
    pub(in super::super) fn heard(&mut self) {
        self.answered += u32::from(self.unheard > 0);
        self.unheard = 0;
    }
}
