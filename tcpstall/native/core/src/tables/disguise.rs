//! A flow's row with pseudonyms in place of addresses and without what it carries.

use super::FlowRow;
use crate::disguise::Pseudonyms;

impl FlowRow {
    /// Makes it one that may be shared.
    pub fn disguise(&mut self, names: &Pseudonyms) {
        for end in [&mut self.client, &mut self.server] {
            end.address = names.address(end.address);
        }
        self.tunnel = self.tunnel.take().map(|tunnel| tunnel.readdressed(|address| names.address(address)));
        // What a label would be read in.
        self.starts = None;
        (self.label, self.label_source, self.names) = (None, None, None);
    }
}
