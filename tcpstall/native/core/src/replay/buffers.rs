//! Send and receive buffers of another size: the data that they hold, and the windows that they announce.

use super::setup::{
    BufferLevel, FrameBuffer, HostSetup, LARGEST_FRAME, LARGEST_WINDOW, UNLIMITED, WindowGrowth, WindowOpening,
};
use super::view::View;
use crate::time::Nanos;

/// Largest window field without a scale, with which a connection begins (the middle value of Linux's tcp_rmem gives as
/// much).
const FIRST_WINDOW: i64 = 65_535;
/// Longest time of a reader for data that has arrived.
const READ_AT_ONCE: Nanos = Nanos::from_millis(2);
/// Segments of a round trip beyond which Linux lets a window grow (tcp_init_buffer_space).
const FIRST_FLIGHT: i64 = 10;
/// Payload in flight per byte of SO_SNDBUF on a kernel with one segment per buffer: 2 · 1448 / 2304, one segment more
/// or less.
pub(super) const ONE_SEGMENT_EACH: f64 = 1.27;

/// Growth of a window that its receiver tunes: as in the capture, or as Linux does it.
pub(super) fn tuned(end: &HostSetup) -> Option<WindowGrowth> {
    let enough = FIRST_FLIGHT * end.mss;
    let usual = WindowGrowth { first: FIRST_WINDOW, enough, slope: 2.0, most: LARGEST_WINDOW };
    let seen = |seen: WindowGrowth| WindowGrowth {
        first: seen.first.max(FIRST_WINDOW),
        most: seen.most.max(LARGEST_WINDOW),
        ..seen
    };
    let pauses = end.reads.is_some() || end.openings.iter().any(|opening| opening.after > READ_AT_ONCE);
    Some(end.growth.map_or(usual, seen)).filter(|_| !pauses)
}

/// Levels at which the writer was blocked, the lowest first.
pub(super) fn levels(end: &HostSetup) -> Vec<&BufferLevel> {
    let mut known: Vec<&BufferLevel> = end.send_buffer.iter().filter(|level| level.full < UNLIMITED).collect();
    known.sort_by_key(|level| level.full);
    known
}

/// Level for a value of SO_SNDBUF, which is doubled and counts truesize: with one segment per buffer a little over half
/// of that is payload, with large frames nearly all, and one more frame may be begun.
pub(super) fn send_buffer(end: &HostSetup, size: i64, view: View) -> BufferLevel {
    let least = (size as f64 * ONE_SEGMENT_EACH) as i64;
    let known = levels(end);
    let now = known.get(known.len() / 2);
    let old = now.is_some_and(|level| level.full < LARGEST_FRAME * 2 / 3);
    // Large frames exceeded the buffer by irregular amounts: a larger buffer may not limit the sender at all.
    let erratic = known.first().zip(known.last()).is_some_and(|(low, high)| high.full > 2 * low.full);
    let full = match (view, old) {
        (View::Hopeful, false) if erratic => UNLIMITED,
        (View::Doubtful, _) | (View::Likely, true) => least,
        // A buffer that never filled was filled with large frames, or the doubtful view decides.
        (View::Likely, false) if known.is_empty() => 2 * size + LARGEST_FRAME,
        (View::Likely, false) => (size * 7 / 4).max(LARGEST_FRAME),
        (View::Hopeful, true) => least + 2 * end.mss,
        (View::Hopeful, false) => 2 * size + LARGEST_FRAME,
    };
    let woken = now.map_or(2.0 / 3.0, |level| (level.wake as f64 / level.full.max(1) as f64).min(2.0 / 3.0));
    BufferLevel { until: i64::MAX, full: full.max(end.mss), wake: (full as f64 * woken) as i64 }
}

/// The buffer of large frames for a value of SO_SNDBUF, which is doubled.
pub(super) fn frame_buffer(now: FrameBuffer, size: i64, view: View) -> FrameBuffer {
    // Linux sk_stream_write_space: a third must be free of what frames and their overhead take.
    let woken = 2 * size * 2 / 3;
    FrameBuffer { wake: view.pick(woken, woken * 9 / 10, woken * 3 / 4), ..now }
}

/// Level of a small send buffer that a small window would hide: SO_SNDBUF 16 KB, the smallest in common use.
pub(super) fn hidden_buffer(end: &HostSetup) -> BufferLevel {
    let full = ((16_384.0 * ONE_SEGMENT_EACH) as i64).max(end.most_out);
    BufferLevel { until: i64::MAX, full, wake: full * 2 / 3 }
}

/// A buffer's size as Linux announces it: a whole number of segments.
fn whole_segments(size: i64, mss: i64) -> i64 {
    size.saturating_add(mss - 1) / mss * mss
}

/// Window of a buffer that holds segments of 1,448 bytes, each in 2,304 bytes and the rest of a page: 157 of 256 bytes of the
/// doubled option are payload (Linux tcp_measure_rcv_mss, tcp_win_from_space since 6.6), in whole segments.
fn usual_window(size: i64, mss: i64) -> i64 {
    (size.saturating_mul(157) / 128 / mss * mss).max(mss)
}

/// Replaces the buffer that held the reader's backlog by another; unread data remains unread, and fills the same share
/// of a smaller buffer.
pub(super) fn receive_buffer(openings: &mut [WindowOpening], size: Option<i64>, mss: i64, view: View) {
    let mut largest = 0;
    let mut reached = 0;
    for opening in openings {
        let window = opening.edge - opening.arrived;
        largest = largest.max(window);
        let unread = largest - window;
        let full = match size {
            // socket(7) doubles the option; half to three quarters of that is window, depending on truesize.
            Some(size) => view.pick(size * 3 / 2, usual_window(size, mss), whole_segments(size, mss)),
            // Linux tcp_rcv_space_adjust: twice the data of the last round trip, which slow start doubles.
            None => view.pick(LARGEST_WINDOW, FIRST_WINDOW.max(2 * opening.arrived), FIRST_WINDOW.max(opening.arrived)),
        };
        let full = full.min(LARGEST_WINDOW.max(size.map_or(0, |size| usual_window(size, mss))));
        let open = if full < largest { full * window / largest } else { full - unread };
        reached = (opening.arrived + open.max(0)).max(reached);
        opening.edge = reached;
    }
}
