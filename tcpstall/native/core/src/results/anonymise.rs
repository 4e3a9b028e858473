//! Anonymises a flow's row: pseudonyms replace addresses, and the flow's content is removed.

use super::FlowRow;
use crate::anonymise::Pseudonyms;

impl FlowRow {
    /// Makes the row safe to share.
    pub fn anonymise(&mut self, names: &Pseudonyms) {
        for end in [&mut self.client, &mut self.server] {
            end.address = names.address(end.address);
        }
        self.tunnel = self.tunnel.take().map(|tunnel| tunnel.readdressed(|address| names.address(address)));
        // Labels are read from these bytes.
        self.first_payloads = None;
        (self.label, self.label_source, self.names) = (None, None, None);
    }
}
