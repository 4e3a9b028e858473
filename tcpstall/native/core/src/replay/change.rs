//! One change of a host, a path or an application, by its name on the command line.

use serde::Serialize;

use super::record::Record;
use super::recover::{Refusal, shares};
use super::setup::{
    BufferLevel, Earlier, HostSetup, LARGEST_WINDOW, QueueDepth, Reuse, Setup, UNLIMITED, WindowGrowth, WindowOpening,
};
use crate::causes::Cause;
use crate::flow::End;
use crate::sender::timers::TICK;
use crate::time::Nanos;

/// Assumption about the unknown effects of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum View {
    /// The best case.
    Hopeful,
    /// The likeliest case.
    Likely,
    /// The worst case.
    Doubtful,
}

impl View {
    /// All three views.
    pub const ALL: [View; 3] = [View::Hopeful, View::Likely, View::Doubtful];

    fn pick<T>(self, hopeful: T, likely: T, doubtful: T) -> T {
        match self {
            View::Hopeful => hopeful,
            View::Likely => likely,
            View::Doubtful => doubtful,
        }
    }
}

/// Names of changes, with their units and the meaning of `None` (`auto`).
pub const NAMES: [&str; 11] = [
    "initcwnd",
    "sndbuf",
    "rcvbuf",
    "slow-start-after-idle",
    "rtt",
    "rate",
    "nodelay",
    "delayed-ack",
    "reuse-connection",
    "loss",
    "think",
];

/// A change; its value is in bytes, nanoseconds, bytes per second, or 0 and 1.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Change {
    /// One of [`NAMES`].
    pub name: &'static str,
    /// `None` for `auto`: the kernel's own choice.
    pub value: Option<i64>,
}

/// Largest window field without a scale, with which a connection begins (the middle value of Linux's tcp_rmem gives as
/// much).
const FIRST_WINDOW: i64 = 65_535;
/// Longest time of a reader for data that has arrived.
const READ_AT_ONCE: Nanos = Nanos::from_millis(2);
/// Segments of a round trip beyond which Linux lets a window grow (tcp_init_buffer_space).
const FIRST_FLIGHT: i64 = 10;
/// Largest buffer of one TSO frame (Linux GSO_LEGACY_MAX_SIZE): once begun it is filled, whatever the limit.
const LARGEST_FRAME: i64 = 65_536;
/// Payload in flight per byte of SO_SNDBUF on a kernel with one segment per buffer: 2 · 1448 / 2304, one segment more
/// or less.
const ONE_SEGMENT_EACH: f64 = 1.27;
/// Idle period that lowers any window to the initial one, if idle periods lower it at all.
const LONG_IDLE: Nanos = Nanos::from_millis(60_000);
/// Share of payload in Ethernet frames: 1448 of 1538 bytes with preamble and gap.
const PAYLOAD_SHARE: f64 = 1448.0 / 1538.0;

impl Change {
    /// A change by its name; `None` if there is no such change or it does not take this value.
    pub fn new(name: &str, value: Option<i64>) -> Option<Change> {
        let name = NAMES.into_iter().find(|known| *known == name)?;
        let fits = match (name, value) {
            ("sndbuf" | "rcvbuf", None) => true,
            (_, None) => false,
            ("initcwnd" | "rtt" | "rate" | "sndbuf" | "rcvbuf", Some(value)) => value > 0,
            ("loss", Some(value)) => value == 0,
            ("slow-start-after-idle" | "nodelay" | "reuse-connection", Some(value)) => value == 0 || value == 1,
            (_, Some(value)) => value >= 0,
        };
        fits.then_some(Change { name, value })
    }

    /// Applies the change to a setup, in one view of its unknown effects.
    pub fn apply(&self, setup: &mut Setup, view: View) {
        if view == View::Doubtful {
            // Nothing says that much more would have fitted into the queue than once stood there.
            for queue in setup.ends.iter_mut().filter_map(|end| end.queue.as_mut()).filter(|queue| !queue.overflowed) {
                *queue = QueueDepth { bytes: queue.bytes + queue.bytes / 4, overflowed: true };
            }
        }
        let value = self.value.unwrap_or(0);
        let each = |setup: &mut Setup, change: &dyn Fn(&mut HostSetup)| setup.ends.iter_mut().for_each(change);
        if view == View::Hopeful && self.widens() {
            setup.ends.iter_mut().filter(|end| end.is_irregular()).for_each(|end| end.send_buffer.clear());
        }
        match self.name {
            "initcwnd" => each(setup, &|end| end.initial_window = value.clamp(1, 1 << 20) as u32),
            "sndbuf" => each(setup, &|end| {
                end.send_buffer = self.value.map(|size| send_buffer(end, size, view)).into_iter().collect()
            }),
            "rcvbuf" => each(setup, &|end| {
                let size = self.value.map(|size| whole_segments(size, end.mss));
                receive_buffer(&mut end.openings, size, view);
                end.growth = tuned(end).filter(|_| size.is_none() && view == View::Likely);
                if view == View::Doubtful && end.send_buffer.is_empty() && end.most_out < LARGEST_FRAME {
                    end.send_buffer = vec![hidden_buffer(end)];
                }
            }),
            "slow-start-after-idle" => each(setup, &|end| end.idle_restart = value == 1),
            "rtt" => setup.rtt = Nanos(value.max(2)),
            "rate" => each(setup, &|end| end.rate = Some(value as f64 * PAYLOAD_SHARE)),
            "nodelay" => each(setup, &|end| {
                end.nagle = value == 0;
                if end.nagle {
                    // Each segment that is held waits for a timer whose phase is unknown.
                    end.delayed_ack += view.pick(Nanos(-TICK.0), Nanos::ZERO, TICK);
                }
            }),
            "delayed-ack" => each(setup, &|end| end.delayed_ack = Nanos(value)),
            "reuse-connection" if value == 1 => setup.reuse = reuse(setup, view),
            "loss" => {
                each(setup, &|end| {
                    end.losses.clear();
                    end.queue = None;
                });
                setup.lost_handshakes = 0;
            }
            "think" => each(setup, &|end| {
                end.steps.iter_mut().for_each(|step| step.pause = step.pause.min(Nanos(value)));
            }),
            _ => {}
        }
    }

    /// Reason why the capture cannot show the effect of the change, whatever the replay gives.
    pub fn refused(&self, record: &Record, setup: &Setup) -> Option<Refusal> {
        match (self.name, self.value) {
            ("reuse-connection", Some(0)) if setup.spans.len() > 1 => Some(Refusal::NewConnections),
            ("rate", _) if End::BOTH.into_iter().any(|end| shares(record, end)) => Some(Refusal::SharedLine),
            // What a larger window meets is not known where large frames filled the buffer by irregular amounts.
            _ if self.widens() && End::BOTH.into_iter().any(|end| fills_irregularly(record, setup, end)) => {
                Some(Refusal::HiddenLimit)
            }
            // Without Nagle's rule more and smaller buffers fill a full send buffer, and less data fits.
            ("nodelay", Some(1)) if setup.ends.iter().any(|end| end.nagle && !end.send_buffer.is_empty()) => {
                Some(Refusal::HiddenLimit)
            }
            _ => None,
        }
    }

    /// True if the change sets or meets a limit that the capture does not show, so that its effect is a guess.
    pub fn sets_hidden_limit(&self, setup: &Setup) -> bool {
        // Large frames filled the buffer by irregular amounts, known where the capture had them and nowhere else.
        let sized = self.name == "sndbuf" && self.value.is_some();
        if (sized || self.widens()) && setup.ends.iter().any(HostSetup::is_irregular) {
            return true;
        }
        let Some(size) = self.value.filter(|_| self.name == "sndbuf") else { return false };
        let binds =
            |end: &HostSetup| end.send_buffer.is_empty() && (size as f64 * ONE_SEGMENT_EACH) < end.most_out as f64;
        setup.ends.iter().any(binds)
    }

    /// True if the change lets a sender send more at once.
    fn widens(&self) -> bool {
        matches!((self.name, self.value), ("initcwnd" | "reuse-connection", _) | ("slow-start-after-idle", Some(0)))
    }

    /// True if the change only lifts a limit, so that nothing takes longer than before.
    pub fn only_lifts(&self, setup: &Setup) -> bool {
        let Some(size) = self.value else { return true };
        let largest = |windows: &mut dyn Iterator<Item = i64>| windows.max().unwrap_or(0);
        setup.ends.iter().all(|end| match self.name {
            "sndbuf" => {
                // Whatever large frames made of it, the present option is no larger than the lowest level.
                let lowest = levels(end).first().map(|level| level.full);
                lowest.is_some_and(|lowest| send_buffer(end, size, View::Doubtful).full >= lowest)
            }
            "rcvbuf" => size >= largest(&mut end.openings.iter().map(|opening| opening.edge - opening.arrived)),
            _ => false,
        } || self.name == "sndbuf" && end.send_buffer.is_empty())
            && !self.sets_hidden_limit(setup)
    }
}

/// Growth of a window that its receiver tunes: as in the capture, or as Linux does it.
fn tuned(end: &HostSetup) -> Option<WindowGrowth> {
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

/// True if a sender of large frames waited for its send buffer, and no one level of it explains the waits.
fn fills_irregularly(record: &Record, setup: &Setup, end: End) -> bool {
    let blocked = record.silences[end].iter().any(|silence| silence.cause == Cause::SndbufLimited);
    let large = record.passings.iter().any(|own| own.sender == end && own.bytes > record.mss[end]);
    blocked && large && setup.ends[end].send_buffer.len() != 1
}

fn reuse(setup: &Setup, view: View) -> Option<Reuse> {
    match setup.earlier {
        Earlier::None => None,
        Earlier::Ended(idle) => Some(Reuse { idle }),
        Earlier::Unknown => Some(Reuse { idle: view.pick(Nanos::ZERO, LONG_IDLE, LONG_IDLE) }),
    }
}

/// Levels at which the writer was blocked, the lowest first.
fn levels(end: &HostSetup) -> Vec<&BufferLevel> {
    let mut known: Vec<&BufferLevel> = end.send_buffer.iter().filter(|level| level.full < UNLIMITED).collect();
    known.sort_by_key(|level| level.full);
    known
}

/// Level for a value of SO_SNDBUF, which is doubled and counts truesize: with one segment per buffer a little over half
/// of that is payload, with large frames nearly all, and one more frame may be begun.
fn send_buffer(end: &HostSetup, size: i64, view: View) -> BufferLevel {
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

/// Level of a small send buffer that a small window would hide: SO_SNDBUF 16 KB, the smallest in common use.
fn hidden_buffer(end: &HostSetup) -> BufferLevel {
    let full = ((16_384.0 * ONE_SEGMENT_EACH) as i64).max(end.most_out);
    BufferLevel { until: i64::MAX, full, wake: full * 2 / 3 }
}

/// A buffer's size as Linux announces it: a whole number of segments.
fn whole_segments(size: i64, mss: i64) -> i64 {
    size.saturating_add(mss - 1) / mss * mss
}

/// Replaces the buffer that held the reader's backlog by another; unread data remains unread, and fills the same share
/// of a smaller buffer.
fn receive_buffer(openings: &mut [WindowOpening], size: Option<i64>, view: View) {
    let mut largest = 0;
    let mut reached = 0;
    for opening in openings {
        let window = opening.edge - opening.arrived;
        largest = largest.max(window);
        let unread = largest - window;
        let full = match size {
            // socket(7) doubles the option; half to three quarters of that is window, depending on truesize.
            Some(size) => view.pick(size * 3 / 2, size, size),
            // Linux tcp_rcv_space_adjust: twice the data of the last round trip, which slow start doubles.
            None => view.pick(LARGEST_WINDOW, FIRST_WINDOW.max(2 * opening.arrived), FIRST_WINDOW.max(opening.arrived)),
        };
        let full = full.min(LARGEST_WINDOW.max(size.unwrap_or(0)));
        let open = if full < largest { full * window / largest } else { full - unread };
        reached = (opening.arrived + open.max(0)).max(reached);
        opening.edge = reached;
    }
}
