//! All that the model is given: what the applications do, what the path is, what limits each end.

use crate::time::Nanos;

/// One write of an application: what it waited for, for how long it thought, what it wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// The peer's data must have arrived up to this offset; 0 where it waits for nothing but its own last write.
    pub heard: i64,
    /// How long after that, and after its last write was taken, it writes.
    pub pause: Nanos,
    /// Bytes written.
    pub bytes: i64,
}

/// More than any buffer holds (RFC 7323 §2.3 limits what can be in flight to 1 GiB).
pub const UNLIMITED: i64 = 1 << 30;

/// What of a send buffer shows while so much is written: a writer fills it, and is woken when enough is free.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Level {
    /// Up to this offset of what is written.
    pub until: i64,
    /// Payload at which a writer is blocked, bytes.
    pub full: i64,
    /// Payload down to which acknowledgements must bring it before the writer is woken (Linux sk_stream_write_space: two thirds).
    pub wake: i64,
}

/// One wire packet's worth of data that the path lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loss {
    /// An offset in the middle of it: whichever packet carries it is lost.
    pub at: i64,
    /// So many times.
    pub times: u32,
}

/// The right edge of a window that an end announced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Opening {
    /// Bytes of the peer had arrived up to this offset.
    pub arrived: i64,
    /// What the end would then take.
    pub edge: i64,
    /// How long after their arrival its application had read so much; zero where the acknowledgement itself said so.
    pub after: Nanos,
}

/// One end of the connection.
#[derive(Clone, Debug, PartialEq)]
pub struct End {
    /// What its application does, in order.
    pub steps: Vec<Step>,
    /// Payload of a full segment.
    pub mss: i64,
    /// Congestion window at the start, segments.
    pub initial_window: u32,
    /// A loss leaves half of the window and it grows by a segment a round trip (RFC 5681); otherwise CUBIC.
    pub reno: bool,
    /// An idle longer than a timeout lowers the window (RFC 5681 §4.1, Linux tcp_slow_start_after_idle).
    pub idle_restart: bool,
    /// Small segments wait for the acknowledgement of small ones (RFC 896).
    pub nagle: bool,
    /// The send buffer, where it limits; by what was written, for kernels tune it and large frames overrun it. Empty for none.
    pub send_buffer: Vec<Level>,
    /// The rate at which it paces, bytes per second.
    pub pace: Option<f64>,
    /// What the path loses of its data, in order of offset.
    pub losses: Vec<Loss>,
    /// How long it delays an acknowledgement; zero for none.
    pub delayed_ack: Nanos,
    /// What it announces for the peer's data, in the order it did.
    pub openings: Vec<Opening>,
    /// Most bytes that were in flight: no limit is known beyond it.
    pub most_out: i64,
    /// How fast its application reads while it is behind, bytes per second.
    pub reads: Option<f64>,
    /// The narrowest point for its data, payload bytes per second.
    pub rate: Option<f64>,
}

impl End {
    /// The level of its send buffer that counts for the byte written next; `past` a level that it has just been woken from.
    pub fn level(&self, written: i64, past: bool) -> Option<&Level> {
        let counts = |level: &Level| level.until < written || past && level.until == written;
        self.send_buffer.get(self.send_buffer.partition_point(counts)).or(self.send_buffer.last())
    }

    /// All that its application writes.
    pub fn bytes(&self) -> i64 {
        self.steps.iter().map(|step| step.bytes).sum()
    }
}

/// Where an exchange lies in the data of both ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// Offset of the request's first byte; `None` where the exchange begins with the connection.
    pub asked: Option<i64>,
    /// Offset after the response's last byte.
    pub answered: i64,
}

/// A connection that was used for the same before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reuse {
    /// It has been idle for so long since.
    pub idle: Nanos,
}

/// Which connection could be used instead of a new one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Earlier {
    /// Only this one is looked at.
    Unknown,
    /// It is the first of several, or the others were busy.
    None,
    /// One to the same service had come to its end so long before.
    Ended(Nanos),
}

/// A connection to be replayed.
#[derive(Clone, Debug, PartialEq)]
pub struct Setup {
    /// Client and server.
    pub ends: [End; 2],
    /// Round trip without queues.
    pub rtt: Nanos,
    /// Timeouts of SYN or SYN-ACK before the handshake went through.
    pub lost_handshakes: u32,
    /// SACK is in use.
    pub sack: bool,
    /// Which connection could be used instead.
    pub earlier: Earlier,
    /// The connection had been used before.
    pub reuse: Option<Reuse>,
    /// The exchanges to be timed.
    pub spans: Vec<Span>,
}
