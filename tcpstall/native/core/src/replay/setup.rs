//! Input of the model: what the applications do, the properties of the path, the limits of each end.

use crate::time::Nanos;

/// One write of an application, with the data that it waited for and its own time before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriteStep {
    /// Offset up to which the peer's data must have arrived; 0 where the write waits only for the application's last
    /// write.
    pub heard: i64,
    /// Time from then, and from the end of the last write, to this write.
    pub pause: Nanos,
    /// Bytes written.
    pub bytes: i64,
}

/// More than any buffer holds (RFC 7323 §2.3 limits the flight to 1 GiB).
pub const UNLIMITED: i64 = 1 << 30;

/// Largest window of Linux: half of tcp_rmem's largest value, 6 MB.
pub const LARGEST_WINDOW: i64 = 3 << 20;

/// Largest buffer of one TSO frame (Linux GSO_LEGACY_MAX_SIZE): once begun it is filled, whatever the limit.
pub const LARGEST_FRAME: i64 = 65_536;

/// Observed levels of a send buffer during part of the data: a writer fills it, and is woken when enough is free.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BufferLevel {
    /// Offset in the written data up to which the level holds.
    pub until: i64,
    /// Payload at which a writer is blocked, bytes.
    pub full: i64,
    /// Payload at or below which the writer is woken, bytes (Linux sk_stream_write_space: two thirds).
    pub wake: i64,
}

/// A send buffer that a sender of large frames fills.
///
/// Linux tcp_sendmsg looks at the buffer only before a new frame, and each push sends a part of the last frame, which is
/// then filled again. So a running writer sends all that the window permits, and stops with one whole frame unsent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameBuffer {
    /// Payload at or below which a blocked writer is woken, bytes.
    pub wake: i64,
    /// The writer runs while acknowledgements of the same moment still arrive, otherwise after them.
    pub at_once: bool,
}

impl FrameBuffer {
    /// Payload from which no new frame is begun: a third is free where the writer is woken.
    pub fn full(self) -> i64 {
        self.wake * 3 / 2
    }
}

/// Acknowledgements that the path lost, until data came again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LostAcks {
    /// Acknowledged offset of the last one before them.
    pub from: i64,
    /// Retransmissions until one was answered.
    pub repeats: u32,
}

/// The queue before the bottleneck.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueDepth {
    /// Bytes that stood there at most.
    pub bytes: i64,
    /// Losses fell where the queue was full, so that it holds no more; otherwise it may be deeper.
    pub overflowed: bool,
}

/// Growth of a window that its receiver tunes: it starts after the first round trip that brought much.
///
/// Linux tcp_rcv_space_adjust compares the data of a round trip with that of the fastest one before, ten segments at
/// first (tcp_init_buffer_space); tcp_grow_window then opens the window by two bytes for each that arrives.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WindowGrowth {
    /// The window before, bytes.
    pub first: i64,
    /// Bytes of a round trip after whose end the window grows.
    pub enough: i64,
    /// Growth for each byte that arrives from then on, bytes.
    pub slope: f64,
    /// The largest window, bytes.
    pub most: i64,
}

/// Data of one packet on the wire that the path lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loss {
    /// An offset in its middle: each packet that contains it is lost.
    pub at: i64,
    /// Number of times that it is lost.
    pub times: u32,
}

/// Time that a host took to go on after all of its data had been acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LateStart {
    /// Offset of the data that it sent then.
    pub at: i64,
    /// Time from the acknowledgement.
    pub after: Nanos,
}

/// The right edge of a window that an end announced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowOpening {
    /// Offset up to which the peer's data had arrived.
    pub arrived: i64,
    /// Right edge of the window at that time.
    pub edge: i64,
    /// Time from that arrival until the application had read this much; zero where the acknowledgement itself announced
    /// the edge.
    pub after: Nanos,
}

/// Congestion control of a sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// A loss halves the window, which then grows by a segment per round trip (RFC 5681).
    Reno,
    /// RFC 9438.
    Cubic,
    /// It paces by the rate that it measures, as BBR's first version does.
    Bbr,
    /// The third version of BBR bounds its flight by losses too.
    Bbr3,
}

impl Control {
    /// True if it paces by the rate that it measures.
    pub fn is_measured(self) -> bool {
        matches!(self, Control::Bbr | Control::Bbr3)
    }
}

/// One end of the connection.
#[derive(Clone, Debug, PartialEq)]
pub struct HostSetup {
    /// Writes of its application, in order.
    pub steps: Vec<WriteStep>,
    /// Payload of a full segment.
    pub mss: i64,
    /// It cuts frames of several segments at the edge of the peer's window, and sends the rest of a segment in them.
    pub cuts_frames: bool,
    /// Initial congestion window, segments.
    pub initial_window: u32,
    /// Congestion control.
    pub control: Control,
    /// An idle period longer than a timeout lowers the window (RFC 5681 §4.1, Linux tcp_slow_start_after_idle).
    pub idle_restart: bool,
    /// A small segment waits for the acknowledgement of the small one before it (RFC 896).
    pub nagle: bool,
    /// The send buffer, where it limits the sender, by offset in the written data, because kernels tune it and large
    /// frames exceed it. Empty without such a limit.
    pub send_buffer: Vec<BufferLevel>,
    /// The send buffer by the rule for large frames, in place of its levels.
    pub frames: Option<FrameBuffer>,
    /// Each buffer of its send queue holds one segment, so that a tuned send buffer of twice the congestion window holds no
    /// more payload (Linux tcp_sndbuf_expand); larger buffers waste less memory, and more payload fits.
    pub one_segment: bool,
    /// A writer that is blocked where the capture's was not is woken by the kernel's rule alone; otherwise as late as the
    /// capture's next one.
    pub wakes_by_rule: bool,
    /// Pacing rate, bytes per second.
    pub pace: Option<f64>,
    /// Rate at which its hosts and links carry data that may be sent, bytes per second, where that takes time.
    pub speed: Option<f64>,
    /// Waits of its host, in order of offset.
    pub late_starts: Vec<LateStart>,
    /// Losses of its data on the path, in order of offset.
    pub losses: Vec<Loss>,
    /// Lost acknowledgements of its peer's data.
    pub lost_acks: Vec<LostAcks>,
    /// Ranges of its peer's data that its receiver acknowledged late, because its window could not move.
    pub held: Vec<(i64, i64)>,
    /// Share of its packets with data that the path loses by chance besides.
    pub loss_share: f64,
    /// Delay of its acknowledgements; zero for none.
    pub delayed_ack: Nanos,
    /// It delays them outside of conversations too.
    pub delays_always: bool,
    /// Windows that it announces for the peer's data, in order.
    pub openings: Vec<WindowOpening>,
    /// Growth of these windows, where the receiver tunes them.
    pub growth: Option<WindowGrowth>,
    /// Largest flight, bytes: no limit beyond it is known.
    pub most_out: i64,
    /// Rate at which its application reads while it lags, bytes per second.
    pub reads: Option<f64>,
    /// Rate of the bottleneck for its data, payload bytes per second.
    pub rate: Option<f64>,
    /// The queue before that bottleneck, where it is known; full, it loses data.
    pub queue: Option<QueueDepth>,
}

impl HostSetup {
    /// True if its send buffer limits it.
    pub fn is_buffered(&self) -> bool {
        self.frames.is_some() || !self.send_buffer.is_empty()
    }

    /// True if its send buffer held different amounts at different data, by no known rule.
    pub fn is_irregular(&self) -> bool {
        if self.frames.is_some() {
            return false;
        }
        let known = || self.send_buffer.iter().map(|level| level.full).filter(|full| *full < UNLIMITED);
        known().min() < known().max()
    }

    /// The level of its send buffer for the next byte to be written; `past` a level from which it has just been woken.
    pub fn level(&self, written: i64, past: bool) -> Option<&BufferLevel> {
        let counts = |level: &BufferLevel| level.until < written || past && level.until == written;
        self.send_buffer.get(self.send_buffer.partition_point(counts)).or(self.send_buffer.last())
    }

    /// Payload at or below which a writer that was blocked at `written` is woken; `None` without a known send buffer.
    pub fn wakes_at(&self, written: i64) -> Option<i64> {
        if let Some(frames) = self.frames {
            return Some(frames.wake);
        }
        let level = self.level(written, false)?;
        // Linux sk_stream_write_space: a third must be free.
        let elsewhere = self.wakes_by_rule && written < level.until && level.until < i64::MAX;
        Some(if elsewhere { level.full * 2 / 3 } else { level.wake })
    }

    /// Replaces the levels of its send buffer by the median one, for all data.
    pub fn level_buffer(&mut self) {
        let mut known: Vec<BufferLevel> =
            self.send_buffer.iter().copied().filter(|level| level.full < UNLIMITED).collect();
        known.sort_by_key(|level| level.full);
        if let Some(level) = known.get(known.len() / 2) {
            self.send_buffer = vec![BufferLevel { until: i64::MAX, ..*level }];
        }
    }

    /// True if the path lost data or acknowledgements of it.
    pub fn is_lossy(&self) -> bool {
        !self.losses.is_empty() || !self.lost_acks.is_empty()
    }

    /// Removes these losses.
    pub fn loses_nothing(&mut self) {
        self.losses.clear();
        self.lost_acks.clear();
    }

    /// Shortens the waits of its host by `span`: the replay's acknowledgements arrive as much later.
    pub fn waits_less(mut self, span: Nanos) -> HostSetup {
        self.late_starts.iter_mut().for_each(|late| late.after = late.after - span);
        self.late_starts.retain(|late| late.after > Nanos::ZERO);
        self
    }

    /// Rate at which segments follow each other, whatever the window.
    pub fn spacing(&self) -> Option<f64> {
        self.pace.into_iter().chain(self.speed).reduce(f64::min)
    }

    /// Size of all its writes.
    pub fn bytes(&self) -> i64 {
        self.steps.iter().map(|step| step.bytes).sum()
    }
}

/// Position of an exchange in the data of both ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// Offset of the request's first byte; `None` where the exchange begins with the connection.
    pub asked: Option<i64>,
    /// Offset after the response's last byte.
    pub answered: i64,
}

/// An earlier connection for the same purpose.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reuse {
    /// Idle time of that connection.
    pub idle: Nanos,
    /// Number of its uses before, each assumed to be like this one.
    pub uses: u32,
    /// Its congestion window, as a share of what the replay of these uses gives.
    pub window: f64,
}

/// Connection that could be used instead of a new one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Earlier {
    /// Unknown, because only this connection is examined.
    Unknown,
    /// There is none: this is the first of several, or the others were busy.
    None,
    /// A connection to the same service had ended.
    Ended {
        /// Time since then.
        idle: Nanos,
        /// Connections whose exchanges it would have carried before.
        uses: u32,
    },
}

/// Setup of a connection to be replayed.
#[derive(Clone, Debug, PartialEq)]
pub struct Setup {
    /// Client and server.
    pub ends: [HostSetup; 2],
    /// Round trip without queues.
    pub rtt: Nanos,
    /// Time that the handshake took beyond a round trip: timeouts of a lost SYN or SYN-ACK, and the hosts' own time.
    pub opening: Nanos,
    /// A SYN or SYN-ACK was sent again.
    pub lost_handshake: bool,
    /// SACK is in use.
    pub sack: bool,
    /// Seed of the dice that decide which packets are lost by chance.
    pub seed: u64,
    /// Connection that could be used instead.
    pub earlier: Earlier,
    /// The connection had been used before.
    pub reuse: Option<Reuse>,
    /// The exchanges to be timed.
    pub spans: Vec<Span>,
}

impl Setup {
    /// True if a sender paces by the rate that it measures.
    pub fn is_measured(&self) -> bool {
        self.ends.iter().any(|end| end.control.is_measured())
    }
}
