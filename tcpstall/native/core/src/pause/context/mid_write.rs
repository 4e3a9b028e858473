//! PSH marks the end of what was written; a burst that ends without it ended in the middle of a write.

use super::super::burst::Burst;
use super::super::evidence::Facts;
use super::super::pauses::Pause;
use crate::sender::timers;
use crate::wire::{Flags, Segment};

/// Length of the timestamps option in each segment, padded (RFC 7323 appendix A), bytes.
pub(super) const TIMESTAMPS: u32 = 12;
/// Bytes of an initial window of segments of 1,095 to 2,190 bytes (RFC 3390 §1, RFC 5681 §3.1).
pub(super) const RFC_3390: i64 = 4_380;

impl Burst {
    /// Takes in the burst's newest frame.
    pub(in super::super) fn ends_with(&mut self, frame: &Segment) {
        (self.last_frame, self.pushed) = (frame.payload, frame.flags.has(Flags::PSH));
        self.closes = frame.flags.has(Flags::FIN);
        self.pushes += u32::from(self.pushed);
        self.last_packet = frame.packet;
    }

    /// The burst ended with a full segment, or with a frame of full segments.
    pub fn ends_whole(&self, mss: u32) -> bool {
        self.last_frame.is_multiple_of(mss.max(1))
    }

    /// The last frame was full and had no PSH.
    pub fn is_cut(&self, mss: u32) -> bool {
        !self.pushed && self.ends_whole(mss)
    }
}

impl Facts {
    /// ACKs released several segments at a time, and the last of them alone carried PSH: each time the sender sent all that its
    /// buffer held (4.4BSD `tcp_output`, which wakes a writer once `SO_SNDLOWAT` bytes are free, perhaps at every second ACK).
    /// A window would have kept some of it back. A frame of several segments shows nothing, because Linux marks its frames.
    pub fn sent_all(&self) -> bool {
        let burst = &self.before;
        let marked = burst.pushed && !burst.breaks_off && u64::from(burst.pushes) < burst.frames;
        let once = burst.pushes <= burst.acks.max(1);
        marked && once && self.near_sender() && burst.bytes <= burst.frames * u64::from(self.mss)
    }

    /// The write broke off: away from the sender all data was acknowledged in the middle of a write, whose end carries
    /// PSH (RFC 9293 §3.9.1.2), and after a timeout a single segment followed (RFC 5681 §3.1). The data between was
    /// lost before the tap; where the sender numbers its packets, the numbers lack it.
    pub fn broke_off(&self) -> bool {
        let single = self.after.bytes <= u64::from(self.mss);
        let lost = !self.numbered || self.lost_before_tap > 0 && self.hole_before == 0;
        lost && self.before.is_cut(self.mss) && single && self.may_hide_timeout()
    }

    /// Away from the sender all data was acknowledged, and new data came after a timer's time.
    fn may_hide_timeout(&self) -> bool {
        let silent = || self.after_ack().is_some_and(|after| after >= timers::shortest_rto(self.srtt));
        let behind = self.ended && !self.first && !self.is_turn() && !self.near_sender();
        behind && self.left_in_flight == 0 && silent()
    }

    /// One whole segment was out, without PSH, and its ACK let more go: more was queued, and the window was one segment.
    pub(in super::super) fn was_alone(&self) -> bool {
        let one = self.before.bytes == u64::from(self.mss) && self.flight_at_start == i64::from(self.mss);
        one && self.before.is_cut(self.mss) && self.released_soon() && self.after.bytes > 0
    }
}

/// Each segment has PSH, also where several left at once with nothing in flight before: then PSH shows neither the end of a write nor
/// that of a frame. Linux, which wakes a blocked writer only once a third of its buffer is free, marks the ends alone.
pub(super) fn pushes_each(pauses: &[Facts]) -> bool {
    // Of a burst in several clumps not each PSH is counted.
    let whole = |burst: &Burst| burst.clump.count == 1 && burst.bytes == burst.in_flight;
    let several = |(burst, _): &(&Burst, u32)| burst.frames >= SEVERAL && whole(burst);
    let mut bursts = pauses.iter().map(|pause| (&pause.before, pause.mss)).filter(several).peekable();
    let each = |burst: &Burst, mss: u32| {
        u64::from(burst.pushes) == burst.frames && burst.bytes <= burst.frames * u64::from(mss)
    };
    bursts.peek().is_some() && bursts.all(|(burst, mss)| each(burst, mss))
}

/// Segments of a burst from which PSH on each is no accident.
const SEVERAL: u64 = 3;

impl Pause<'_> {
    /// Away from the sender all data was acknowledged, and after a timer's time a window of one segment was left of a larger one: a
    /// timeout's (RFC 5681 §3.1), because an idle period leaves the initial window (§4.1). What the timer had waited for was lost
    /// before the tap.
    pub fn collapsed(&self) -> bool {
        let begins = self.context.begins_with_several && self.before.is_cut(self.mss);
        let initial = begins || self.context.traits.initial_window.value.is_some_and(|initial| initial > 1);
        let several = self.flight_at_start > 2 * i64::from(self.mss);
        self.context.goes_on_alone && initial && several && self.may_hide_timeout()
    }

    /// The flight is as long as whole segments to the byte, although it ends with a short one. A congestion window, which counts bytes
    /// (RFC 5681 §2), may have cut that; it counts the options of each segment as well where the segment that it counts by is the
    /// announced one (RFC 6691).
    pub fn fills_byte_window(&self) -> bool {
        let whole = |mss: u32| self.flight_at_start % i64::from(mss.max(1)) == 0;
        let announced = || self.short_segment_out && !self.before.pushed && whole(self.mss + TIMESTAMPS);
        let cut = whole(self.mss) || announced() || !self.before.pushed && self.fills_initial_window();
        self.segments_at_start > 1 && self.mss_known && !self.flight_unknown && cut
    }

    /// The first flight is as large as RFC 3390 §1 lets an initial window be, or as the whole segments of it.
    pub fn fills_initial_window(&self) -> bool {
        let mss = i64::from(self.mss.max(1));
        let most = (4 * mss).min((2 * mss).max(RFC_3390));
        let fills = self.flight_at_start == most || self.flight_at_start == most - most % mss;
        self.from_start && self.mss_known && self.context.read.most_before == 0 && fills
    }

    /// The last segment was a full one without PSH, from a sender that marks the end of its data: more was queued. No
    /// window holds that back for longer than the retransmission timer.
    pub fn in_mid_write(&self) -> bool {
        let marks = self.context.traits.push.learnt().is_some();
        let queued = marks && !self.first && self.before.is_cut(self.mss);
        queued && self.after_ack().is_none_or(|after| after < timers::rto(self.srtt))
    }
}
