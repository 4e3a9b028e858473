//! Flows of which only the first segments are kept, or those since they rest.

use super::{Ended, Flow, RESTING_BYTES, Table, TablePlace};
use crate::time::Nanos;
use crate::wire::{Flags, Segment};

/// Memory of resting flows up to which their segments are kept: the rest is for states, so that no flow goes for another's
/// segments.
const RESTING_KEPT: usize = RESTING_BYTES / 8 * 7;

impl Table {
    /// Keeps the segment, if it is one of the first of its flow and the flow need not be followed yet.
    #[inline(always)]
    pub(super) fn keeps(&mut self, slot: u32, segment: &Segment, done: &mut Vec<Ended>) -> bool {
        let Some(Some(entry)) = self.entries.get_mut(slot as usize) else { return false };
        match &mut entry.flow {
            Flow::Begun(beginning) if beginning.is_half_open() => self.keeps_third(slot, segment, done),
            Flow::Begun(beginning) => {
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
            Flow::Resting(_) => self.keeps_at_rest(slot, segment),
            Flow::Followed(_) => false,
        }
    }

    /// Keeps the first segment after the SYN and the answer, if the segment is that.
    #[inline(never)]
    fn keeps_third(&mut self, slot: u32, segment: &Segment, done: &mut Vec<Ended>) -> bool {
        if segment.flags.has(Flags::SYN) {
            return false;
        }
        self.opens(slot, segment.time, done);
        self.keeps(slot, segment, done)
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

    /// Makes room for the first segment after the SYN and the answer.
    fn opens(&mut self, slot: u32, now: Nanos, done: &mut Vec<Ended>) {
        let Some(entry) = &mut self.entries[slot as usize] else { return };
        let place = TablePlace { since: entry.last(), slot, id: entry.id };
        if let Flow::Begun(beginning) = &mut entry.flow {
            beginning.is_opened(&mut self.spare);
        }
        let memory = entry.beginning_memory();
        self.half_open.leaves();
        self.begun.enters_with(place, memory);
        self.tidy(slot, now, done);
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
