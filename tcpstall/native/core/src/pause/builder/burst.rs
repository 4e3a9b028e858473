//! Lengthens a sender's burst with new data, which ends the notes on a pause.

use super::Builder;
use crate::flow::Half;
use crate::pause::LEAST_PAUSE;
use crate::pause::burst::{Burst, Clump};
use crate::time::Nanos;
use crate::wire::{Flags, Segment};

impl Builder {
    /// Starts a burst with new data.
    pub fn start_burst(&mut self, segment: &Segment) {
        // After packets that were left out the burst begins whatever its time, but not within the burst before.
        let start = if self.sending { segment.time.max(self.burst.end) } else { segment.time };
        let clump = Clump { start, count: 1, ..Clump::default() };
        let first_pushed = segment.flags.has(Flags::PSH);
        let first_frame = segment.payload;
        self.burst = Burst { start, end: start, first_frame, first_pushed, clump, ..Burst::default() };
    }

    /// Nothing rare happened since the sender's last new data, and no pause is prepared for.
    #[inline]
    pub(in crate::pause) fn is_plain(&self) -> bool {
        self.left.is_none() && self.open.rare_ones().is_none()
    }

    /// Besides, the sender has received nothing.
    #[inline]
    pub(in crate::pause) fn is_quiet(&self) -> bool {
        self.is_plain() && !self.open.has_begun()
    }

    /// Adds new data that follows at once; `half` is the state after it. The peer may have `answered` the data before.
    #[inline(always)]
    pub(in crate::pause) fn goes_on(&mut self, segment: &Segment, bytes: u32, half: &Half, answered: bool) {
        if self.full {
            self.full_for += (segment.time - self.burst.end).or_zero();
        }
        if answered {
            self.extend(segment, bytes, half);
        } else {
            self.lengthen(segment, bytes, half);
        }
    }

    /// Adds new data to the current burst; `half` is the state after it.
    #[inline(always)]
    pub fn extend(&mut self, segment: &Segment, bytes: u32, half: &Half) {
        self.sending = true;
        if let Some(bottleneck) = &mut self.bottleneck {
            bottleneck.on_data(segment.time);
        }
        let burst = &mut self.burst;
        let silence = segment.time - burst.end;
        if silence > LEAST_PAUSE {
            let clump = &mut burst.clump;
            let longest_silence = clump.longest_silence.max(silence);
            *clump = Clump { start: segment.time, bytes: 0, count: clump.count + 1, longest_silence, ..*clump };
        }
        burst.acks += self.open.acks;
        burst.breaks_off |= self.open.acks > 0 && burst.frames > 0 && !burst.pushed;
        self.lengthen(segment, bytes, half);
        if self.open.rare_ones().is_some() {
            self.ends_rare(segment.time, half);
        } else if self.open.has_begun() {
            self.restart(segment.time);
        }
    }

    #[inline(always)]
    fn lengthen(&mut self, segment: &Segment, bytes: u32, half: &Half) {
        let burst = &mut self.burst;
        burst.clump.bytes += u64::from(bytes);
        burst.clump.first_bytes += if burst.clump.count == 1 { u64::from(bytes) } else { 0 };
        burst.end = segment.time.max(burst.start);
        burst.bytes += u64::from(bytes);
        burst.frames += 1;
        burst.in_flight = half.flight() as u64;
        burst.ends_with(segment);
        self.full = half.room().is_some_and(|room| room < i64::from(half.mss().min(bytes)));
        if self.initial_open {
            self.initial_flight = Some(self.initial_flight.unwrap_or(0) + u64::from(bytes));
        }
    }

    /// Forgets the events of the pause that new data at `time` ended, if it was one.
    #[inline(always)]
    fn restart(&mut self, time: Nanos) {
        // If the capture holds the segment too late, the peer's payload after it belongs to the next pause.
        self.open.restart(time);
        self.reading.next_pause();
        self.train = None;
    }

    /// Forgets the rare events before new data at `time`, which ends a closed window. A window of 0 may have stayed closed
    /// over the new data if that was a probe.
    #[cold]
    fn ends_rare(&mut self, time: Nanos, half: &Half) {
        let rare = self.open.rare();
        let (shut, window) = (rare.persist.window, half.window.unwrap_or(0));
        let closed = rare.closed.filter(|_| rare.reopened.is_none() && window == 0);
        if self.open.has_begun() || rare.overtaken > Nanos::ZERO || rare.left_out.is_some() {
            self.restart(time);
        }
        if closed.is_some() {
            let rare = self.open.rare_mut();
            rare.closed = closed;
            rare.persist.window = shut;
        }
    }
}
