//! One change of a host, a path or an application, by its name on the command line.

use serde::Serialize;

use super::buffers::{ONE_SEGMENT_EACH, frame_buffer, hidden_buffer, levels, receive_buffer, send_buffer, tuned};
use super::setup::{Control, Earlier, HostSetup, LARGEST_FRAME, QueueDepth, Reuse, Setup};
use super::view::View;
use crate::flow::End;
use crate::sender::timers::TICK;
use crate::time::Nanos;

/// Names of changes. Those of hosts, data and their way may be made at one end: `server.initcwnd`.
pub const NAMES: [&str; 14] = [
    "initcwnd",
    "sndbuf",
    "rcvbuf",
    "slow-start-after-idle",
    "rtt",
    "rate",
    "queue",
    "queue-packets",
    "nodelay",
    "delayed-ack",
    "reuse-connection",
    "loss",
    "think",
    "cc",
];
/// Those that have no end.
const OF_BOTH: [&str; 2] = ["rtt", "reuse-connection"];

/// Values of `cc`, in their order.
const CONTROLS: [Control; 4] = [Control::Reno, Control::Cubic, Control::Bbr, Control::Bbr3];

/// A change; its value is in bytes, packets, nanoseconds, bytes per second, parts per million, a place in `CONTROLS`,
/// or 0 and 1.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Change {
    /// One of [`NAMES`].
    pub name: &'static str,
    /// `None` for `auto`: the kernel's own choice.
    pub value: Option<i64>,
    /// The one end of the change, of data and path their sender; `None` for both.
    pub end: Option<End>,
}

/// Idle period that lowers any window to the initial one, if idle periods lower it at all.
const LONG_IDLE: Nanos = Nanos::from_millis(60_000);
/// Share of payload in Ethernet frames: 1448 of 1538 bytes with preamble and gap.
const PAYLOAD_SHARE: f64 = 1448.0 / 1538.0;
/// Headers of a segment in a queue: Ethernet, IP, TCP with timestamps, bytes.
const HEADERS: i64 = 66;
/// Every packet, in the parts of `loss`.
pub(super) const ALL_LOST: i64 = 1_000_000;

impl Change {
    /// A change by its name, after its end and a dot where it has one; `None` if there is no such change or it does not
    /// take this value.
    pub fn new(name: &str, value: Option<i64>) -> Option<Change> {
        let (end, name) = match name.split_once('.') {
            Some(("client", name)) => (Some(End::Client), name),
            Some(("server", name)) => (Some(End::Server), name),
            Some(_) => return None,
            None => (None, name),
        };
        let name = NAMES.into_iter().find(|known| *known == name)?;
        let fits = match (name, value) {
            ("sndbuf" | "rcvbuf", None) => true,
            (_, None) => false,
            ("initcwnd" | "rtt" | "rate" | "sndbuf" | "rcvbuf" | "queue" | "queue-packets", Some(value)) => value > 0,
            ("loss", Some(value)) => (0..ALL_LOST).contains(&value),
            ("cc", Some(value)) => (0..CONTROLS.len() as i64).contains(&value),
            ("slow-start-after-idle" | "nodelay" | "reuse-connection", Some(value)) => value == 0 || value == 1,
            (_, Some(value)) => value >= 0,
        };
        (fits && !(end.is_some() && OF_BOTH.contains(&name))).then_some(Change { name, value, end })
    }

    /// True if the change is made at this end.
    pub(super) fn is_at(&self, end: End) -> bool {
        self.end.is_none_or(|own| own == end)
    }

    /// The setups of the ends at which the change is made.
    pub(super) fn of<'a>(&self, setup: &'a Setup) -> impl Iterator<Item = &'a HostSetup> {
        let own = self.end;
        End::BOTH.into_iter().filter(move |end| own.is_none_or(|own| own == *end)).map(|end| &setup.ends[end])
    }

    /// True if the change is of the path, which all flows between the hosts share.
    pub(super) fn is_of_path(&self) -> bool {
        matches!(self.name, "rtt" | "rate" | "queue" | "queue-packets" | "loss")
    }

    /// True if packets are lost by chance after the change, so that replays differ.
    pub(super) fn is_drawn(&self) -> bool {
        self.name == "loss" && self.value > Some(0)
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
        if view == View::Hopeful && self.widens() {
            setup.ends.iter_mut().filter(|end| end.is_irregular()).for_each(|end| end.send_buffer.clear());
        }
        match self.name {
            "rtt" => setup.rtt = Nanos(value.max(2)),
            "reuse-connection" if value == 1 => setup.reuse = reuse(setup, view),
            "loss" if self.end.is_none() && value == 0 && setup.lost_handshake => setup.opening = Nanos::ZERO,
            _ => {}
        }
        for end in End::BOTH.into_iter().filter(|end| self.is_at(*end)) {
            self.apply_to(&mut setup.ends[end], view);
            let peer = &mut setup.ends[end.peer()];
            if self.name == "rcvbuf" && view == View::Doubtful && !peer.is_buffered() && peer.most_out < LARGEST_FRAME {
                peer.send_buffer = vec![hidden_buffer(peer)];
            }
        }
    }

    fn apply_to(&self, end: &mut HostSetup, view: View) {
        let value = self.value.unwrap_or(0);
        match self.name {
            "initcwnd" => end.initial_window = value.clamp(1, 1 << 20) as u32,
            "sndbuf" => {
                end.frames = self.value.zip(end.frames).map(|(size, now)| frame_buffer(now, size, view));
                end.send_buffer = self.value.map(|size| send_buffer(end, size, view)).into_iter().collect();
            }
            "rcvbuf" => {
                receive_buffer(&mut end.openings, self.value, end.mss, view);
                end.growth = tuned(end).filter(|_| self.value.is_none() && view == View::Likely);
            }
            "slow-start-after-idle" => end.idle_restart = value == 1,
            "rate" => (end.rate, end.speed) = (Some(value as f64 * PAYLOAD_SHARE), None),
            "queue" => {
                let payload = value as f64 * end.mss as f64 / (end.mss + HEADERS) as f64;
                end.queue = Some(QueueDepth { bytes: payload as i64, overflowed: true });
            }
            "queue-packets" => {
                end.queue = Some(QueueDepth { bytes: value.saturating_mul(end.mss), overflowed: true });
            }
            "nodelay" => {
                end.nagle = value == 0;
                if end.nagle {
                    // Each segment that is held waits for a timer whose phase is unknown.
                    end.delayed_ack += view.pick(Nanos(-TICK.0), Nanos::ZERO, TICK);
                }
            }
            "delayed-ack" => end.delayed_ack = Nanos(value),
            "loss" => {
                end.loses_nothing();
                end.loss_share = value as f64 / ALL_LOST as f64;
                if value == 0 {
                    end.queue = None;
                }
            }
            "think" => end.steps.iter_mut().for_each(|step| step.pause = step.pause.min(Nanos(value))),
            "cc" => end.control = CONTROLS[value as usize],
            _ => {}
        }
    }

    /// True if the change sets or meets a limit that the capture does not show, so that its effect is a guess.
    pub fn sets_hidden_limit(&self, setup: &Setup) -> bool {
        // Large frames filled the buffer by irregular amounts, known where the capture had them and nowhere else.
        let sized = self.name == "sndbuf" && self.value.is_some();
        if (sized || self.widens()) && self.of(setup).any(HostSetup::is_irregular) {
            return true;
        }
        let Some(size) = self.value.filter(|_| self.name == "sndbuf") else { return false };
        let binds = |end: &HostSetup| !end.is_buffered() && (size as f64 * ONE_SEGMENT_EACH) < end.most_out as f64;
        self.of(setup).any(binds)
    }

    /// True if the change lets a sender send more at once.
    pub(super) fn widens(&self) -> bool {
        matches!((self.name, self.value), ("initcwnd" | "reuse-connection", _) | ("slow-start-after-idle", Some(0)))
    }

    /// True if the sender's window follows the change.
    pub(super) fn sizes_window(&self) -> bool {
        matches!(self.name, "initcwnd" | "reuse-connection" | "cc" | "loss" | "queue" | "queue-packets")
    }

    /// True if the change only lifts a limit, so that nothing takes longer than before.
    pub fn only_lifts(&self, setup: &Setup) -> bool {
        let Some(size) = self.value else { return true };
        let largest = |windows: &mut dyn Iterator<Item = i64>| windows.max().unwrap_or(0);
        self.of(setup).all(|end| match self.name {
            "sndbuf" if let Some(frames) = end.frames => frame_buffer(frames, size, View::Doubtful).wake >= frames.wake,
            "sndbuf" => {
                // Whatever large frames made of it, the present option is no larger than the lowest level.
                let lowest = levels(end).first().map(|level| level.full);
                lowest.is_some_and(|lowest| send_buffer(end, size, View::Doubtful).full >= lowest)
            }
            "rcvbuf" => size >= largest(&mut end.openings.iter().map(|opening| opening.edge - opening.arrived)),
            _ => false,
        } || self.name == "sndbuf" && !end.is_buffered())
            && !self.sets_hidden_limit(setup)
    }
}

fn reuse(setup: &Setup, view: View) -> Option<Reuse> {
    match setup.earlier {
        Earlier::None => None,
        Earlier::Ended { idle, uses } => Some(Reuse { idle, uses, window: 1.0 }),
        Earlier::Unknown => Some(Reuse { idle: view.pick(Nanos::ZERO, LONG_IDLE, LONG_IDLE), uses: 1, window: 1.0 }),
    }
}
