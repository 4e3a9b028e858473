//! Marks of packets that were left out of all flows at once.

use super::Table;

impl Table {
    /// Marks that packets of any flow were left out here: by a paste, or because a file is missing. Each flow learns of
    /// the mark at its next segment.
    pub(in crate::engine) fn left_out(&mut self) {
        self.marks += 1;
    }

    #[cold]
    pub(super) fn learns(&mut self, found: Option<u32>) {
        let Some(slot) = found else { return };
        if self.entries[slot as usize].as_ref().is_some_and(|entry| entry.marks != self.marks) {
            self.follow(slot);
        }
        if let Some(entry) = &mut self.entries[slot as usize] {
            entry.learns_of(self.marks, &mut self.spare);
        }
    }
}
