//! Reads at a tap away from the sender in how many frames a flight left: Linux marks the end of each frame of several
//! segments with PSH (`__tcp_transmit_skb`, since 5.5).

use super::Facts;
use crate::sender::cwnd::{CongestionPhase, INITIAL_WINDOW};

/// Nanoseconds of the pacing rate that Linux puts into one frame: `tcp_tso_autosize` shifts it by `sk_pacing_shift`, 10.
const IN_A_FRAME: f64 = 1e9 / 1_024.0;
/// Pacing rate in slow start, in windows per round trip: Linux `tcp_pacing_ss_ratio`, 200 %.
const PACED_IN_SLOW_START: f64 = 2.0;
/// The same after slow start: Linux `tcp_pacing_ca_ratio`, 120 %.
const PACED: f64 = 1.2;
/// Segments in such a frame, from which a smaller one is no accident.
const MORE: f64 = 3.0;
/// Share of such a frame up to which the frames are smaller.
const SMALLER: f64 = 0.75;
/// Segments in a frame, on average, from which not every segment is marked: here and there one leaves alone.
const SEVERAL: f64 = 1.6;
/// Headers of such a frame at most, bytes (Linux `MAX_TCP_HEADER`, 320).
const LARGEST_HEADERS: u32 = 320;
/// Largest IP packet before segmentation offload, bytes: Linux `GSO_LEGACY_MAX_SIZE`.
const LARGEST_FRAME: u32 = 65_536;
/// Divisor of a send buffer: the part that must be free before a writer is woken (Linux `sk_stream_write_space`).
const WOKEN: f64 = 3.0;

/// Segments of a frame that Linux fills at any rate (`sysctl_tcp_min_tso_segs`, 2): a larger one shows the pacing rate.
const LEAST_FRAME: u32 = 2;
/// Divisor of the congestion window: room from which no frame is kept back (Linux `sysctl_tcp_tso_win_divisor`, 3).
const KEPT_BACK: u32 = 3;

/// Divisor of the round trip, microseconds, that halves what Linux adds to a frame: `sysctl_tcp_tso_rtt_log`, 9.
const HALVES: f64 = 512.0;
/// Share by which the sender's smallest round trip may differ from the tap's.
const ROUGHLY: f64 = 0.05;
/// Microseconds by which it may differ away from the sender: what either host takes from its card to its TCP.
const HOSTS: f64 = 100.0;

impl Facts {
    /// The last clump is of whole segments, as many as Linux cuts into one frame at this `pace`, bytes per second: a millisecond's
    /// data, and more on a short path (`tcp_tso_autosize`), or half the congestion window, if that is less (`tcp_cwnd_test`). The
    /// first flight doubles that window, and a pace need not fill it again: half of it is an initial one. No estimate is as exact, away
    /// from the sender or where the capture lacks packets.
    pub fn is_paced_frame(&self, pace: f64) -> bool {
        let (bytes, mss) = (self.before.clump.bytes, u64::from(self.mss.max(1)));
        if !self.mss_known || bytes <= mss || !bytes.is_multiple_of(mss) {
            return false;
        }
        let first = u64::from(INITIAL_WINDOW);
        let half = if self.near_sender() { u64::from(self.cwnd / 2) } else { first };
        let halves = [half, if self.from_start { first } else { half }];
        let round_trip = self.rtt().0 as f64 / 1e3;
        let roughly = (round_trip * ROUGHLY).max(if self.near_sender() { 0.0 } else { HOSTS });
        let (least, most) = ((round_trip - roughly) / HALVES, (round_trip + roughly) / HALVES);
        (least as i32..=most as i32).any(|halvings| {
            let near = f64::from(LARGEST_FRAME) / 2f64.powi(halvings);
            let frame = (pace * IN_A_FRAME / 1e9 + near).min(f64::from(LARGEST_FRAME - LARGEST_HEADERS));
            let segments = ((frame / mss as f64) as u64).max(u64::from(LEAST_FRAME));
            (bytes / mss).abs_diff(segments) <= 1 || halves.contains(&(bytes / mss)) && bytes / mss < segments
        })
    }

    /// The last frame was as large as a frame can be: a burst of such frames stops where the window has no room for another.
    pub fn fills_frames(&self) -> bool {
        self.before.last_frame <= LARGEST_FRAME && self.before.last_frame + self.mss > LARGEST_FRAME - LARGEST_HEADERS
    }

    /// The last frame held several segments, and the congestion window has no room for another like it: while ACKs are to come
    /// that make room, Linux sends no smaller frame unless a third of the window is free (`tcp_tso_should_defer`).
    pub fn keeps_a_frame_back(&self) -> bool {
        let frame = self.before.last_frame / self.mss.max(1);
        let room = self.cwnd.saturating_sub(self.segments_held);
        let known = self.cwnd_known && self.losses == 0 && !self.flight_unknown && self.near_sender();
        known && frame > LEAST_FRAME && room < frame && KEPT_BACK * room <= self.cwnd && self.released_at_once()
    }

    /// The flight before the pause left in frames that are smaller than those of a writer that a buffer blocked: woken
    /// for a third of it, that writer fills frames as large as the pacing rate allows. So each ACK released a frame of
    /// its own, as a window does: in pairs where the peer acknowledges every second segment (RFC 5681 §4.2).
    /// `None` where the frames show nothing.
    pub(in super::super) fn left_in_small_frames(&self) -> Option<bool> {
        let (burst, mss) = (&self.before, u64::from(self.mss));
        let whole = mss > 0 && burst.bytes.is_multiple_of(mss) && burst.pushes > 0 && !self.short_segment_out;
        let known = self.cwnd_known && self.losses == 0;
        if self.first || !whole || !known || self.near_sender() {
            return None;
        }
        let round_trip = self.srtt.unwrap_or(self.rtt()).0.max(1) as f64;
        let later = self.phase == CongestionPhase::CongestionAvoidance;
        let windows = if later { PACED } else { PACED_IN_SLOW_START };
        let paced = windows * f64::from(self.cwnd) * IN_A_FRAME / round_trip;
        let woken = f64::from(self.segments_at_start) / WOKEN;
        let filled = paced.min(woken);
        // Where each segment is marked the writes are as small, or the stack marks all.
        let in_frame = burst.bytes as f64 / mss as f64 / f64::from(burst.pushes);
        (filled >= MORE && in_frame >= SEVERAL).then_some(in_frame <= SMALLER * filled)
    }
}
