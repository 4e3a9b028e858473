//! Flows of which only the first segments are kept, or those since they rest.

use super::{Ended, Flow, RESTING_BYTES, Table, TablePlace};
use crate::wire::{Flags, Segment};

/// Memory of resting flows up to which their segments are kept: the rest is for states, so that no flow goes for another's
/// segments.
const RESTING_KEPT: usize = RESTING_BYTES / 8 * 7;

impl Table {
    /// Keeps the segment, if it is one of the first of its flow and the flow need not be followed yet.
    #[inline]
    pub(super) fn keeps(&mut self, slot: u32, segment: &Segment, done: &mut Vec<Ended>) -> bool {
        let Some(Some(entry)) = self.entries.get(slot as usize) else { return false };
        match &entry.flow {
            Flow::Begun(beginning) => {
                let opened = !beginning.is_half_open() || self.opens(slot, segment, done);
                opened && self.keeps_begun(slot, segment)
            }
            Flow::Resting(_) => self.keeps_at_rest(slot, segment),
            Flow::Followed(_) => false,
        }
    }

    /// Keeps a further segment of a flow of which more than the SYN and the answer are kept.
    #[inline(always)]
    fn keeps_begun(&mut self, slot: u32, segment: &Segment) -> bool {
        let Some(Some(entry)) = self.entries.get_mut(slot as usize) else { return false };
        let Flow::Begun(beginning) = &mut entry.flow else { return false };
        let before = beginning.memory();
        let kept = beginning.keeps(segment, &entry.key);
        if !entry.lingers {
            self.begun.weighs(before, beginning.memory());
            if kept && beginning.is_over() {
                entry.lingers = true;
                self.begun.leaves_with(beginning.memory());
                self.lingering.enters(TablePlace { since: segment.time, slot, id: entry.id });
            }
        }
        kept
    }

    /// Keeps the segment of a flow that rests, if the flow need not wake yet.
    #[inline(never)]
    fn keeps_at_rest(&mut self, slot: u32, segment: &Segment) -> bool {
        let room = self.resting.weight() < RESTING_KEPT;
        let Some(entry) = self.entries[slot as usize].as_mut().filter(|_| room) else { return false };
        let before = entry.resting_memory();
        let kept = entry.keeps_at_rest(segment);
        self.resting.weighs(before, entry.resting_memory());
        kept
    }

    /// Makes room for the first segment after the SYN and the answer; false if the segment is none.
    #[inline(never)]
    fn opens(&mut self, slot: u32, segment: &Segment, done: &mut Vec<Ended>) -> bool {
        let Some(entry) = self.entries[slot as usize].as_mut().filter(|_| !segment.flags.has(Flags::SYN)) else {
            return false;
        };
        let place = TablePlace { since: entry.last(), slot, id: entry.id };
        if let Flow::Begun(beginning) = &mut entry.flow {
            beginning.is_opened(&mut self.spare);
        }
        let memory = entry.beginning_memory();
        self.half_open.leaves();
        self.begun.enters_with(place, memory);
        self.tidy(slot, segment.time, done);
        true
    }

    /// Notes that the payload of the segment just kept begins a known protocol element.
    #[cold]
    pub(super) fn keeps_start(&mut self, segment: &Segment, payload: &[u8]) {
        if let Some(slot) = self.find(segment)
            && let Some(entry) = &mut self.entries[slot as usize]
            && let Some(kept) = entry.kept_segments()
        {
            self.starts_held += usize::from(kept.begins_with(payload));
        }
    }
}

#[cfg(test)]
mod tests;
