//! One host: its application, its sender, its receiver.

use std::collections::BTreeMap;

use super::board::Board;
use super::growth::GrowthState;
use super::measured::Measured;
use super::repair::Repair;
use super::{Packet, World};
use crate::flow::End;
use crate::replay::setup::{Control, HostSetup, Reuse, Setup};
use crate::sender::{Cwnd, timers};
use crate::time::Nanos;

/// State of the application.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ApplicationState {
    /// The connection is not open.
    Closed,
    /// The application waits for its step's turn.
    Waiting,
    /// The time of its next write is known.
    Thinking,
    /// Bytes that the send buffer still has to take.
    Writing(i64),
    /// The send buffer has taken all, but the call has not returned.
    Returning,
    /// The application has no further steps.
    Done,
}

/// Purpose of a timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// A tail loss probe.
    Probe,
    /// The retransmission timeout.
    Timeout,
    /// The wait for slightly reordered segments (RFC 8985 §6.2).
    Reordering,
    /// The use of a window too small for a segment after all (RFC 9293 §3.8.6.2.1).
    Persist,
}

/// One host.
pub(super) struct Host {
    pub(super) end: End,
    // Application.
    pub(super) writer: ApplicationState,
    pub(super) step: usize,
    pub(super) written: i64,
    pub(super) blocked: bool,
    pub(super) waking: bool,
    pub(super) awake: bool,
    pub(super) starts: Vec<(i64, Nanos)>,
    used: bool,
    // Sender.
    pub(super) cwnd: Cwnd,
    /// BBR, in place of this window.
    pub(super) bbr: Option<Measured>,
    pub(super) board: Board,
    pub(super) snd_una: i64,
    pub(super) snd_nxt: i64,
    pub(super) edge: i64,
    pub(super) largest_window: i64,
    pub(super) srtt: Option<Nanos>,
    pub(super) least_rtt: Option<Nanos>,
    pub(super) last_sent: Nanos,
    pub(super) timer: u32,
    pub(super) purpose: Purpose,
    pub(super) backoff: u32,
    pub(super) probed: bool,
    pub(super) must_resend: bool,
    pub(super) must_squeeze: bool,
    pub(super) repair: Option<Repair>,
    pub(super) pace_free: Nanos,
    pub(super) pace_set: bool,
    pub(super) sent_again: u64,
    /// Retransmissions of the present repair that no report of data that came twice answers (Linux undo_retrans).
    pub(super) unanswered: u32,
    /// Size of a send buffer that the kernel tunes; it never shrinks.
    pub(super) buffer: i64,
    /// Offset up to which its writer has filled it.
    pub(super) filled: i64,
    /// Its writer stopped with nothing unsent: a push had sent whole frames.
    pub(super) whole_frames: bool,
    /// Waits of the host that are over.
    pub(super) waits: usize,
    /// End of the host's present wait.
    pub(super) awaited: Nanos,
    /// Sum of the host's waits.
    pub(super) late: Nanos,
    // Receiver.
    pub(super) rcv_nxt: i64,
    /// Ranges above a hole, by their left edges.
    pub(super) ahead: BTreeMap<i64, i64>,
    pub(super) newest: Option<(i64, i64)>,
    /// Data came twice since the last acknowledgement.
    pub(super) twice: bool,
    pub(super) arrivals: Vec<(i64, Nanos)>,
    pub(super) unacknowledged: i64,
    pub(super) must_acknowledge: bool,
    pub(super) settling: bool,
    /// Bytes that arrived at this moment.
    pub(super) arrived: i64,
    pub(super) ack_turn: u32,
    pub(super) rcv_mss: i64,
    pub(super) interactive: bool,
    pub(super) last_heard: Nanos,
    pub(super) own_edge: i64,
    /// Window at the end of the connection's earlier use.
    pub(super) grown: i64,
    pub(super) growth: GrowthState,
    pub(super) opened: usize,
    pub(super) wanted_edge: i64,
    /// The time of the reader's next progress is known.
    pub(super) room_set: bool,
    pub(super) edge_time: Nanos,
}

/// Longest time between receiving and sending data in a conversation (Linux tcp_event_data_sent: the ACK timeout's
/// floor).
pub const CONVERSATION: Nanos = Nanos::from_millis(40);
/// Offset of the first byte of data; the SYN is 0.
pub(super) const FIRST: i64 = 1;

impl Host {
    pub(super) fn new(setup: &Setup, end: End) -> Host {
        let own = &setup.ends[end];
        Host {
            end,
            writer: ApplicationState::Closed,
            step: 0,
            written: FIRST,
            blocked: false,
            waking: false,
            awake: false,
            starts: Vec::new(),
            used: false,
            cwnd: Cwnd::starting(own.initial_window, own.control == Control::Reno),
            bbr: Measured::new(setup, own),
            board: Board::default(),
            snd_una: FIRST,
            snd_nxt: FIRST,
            edge: 0,
            largest_window: 0,
            srtt: Some(setup.rtt),
            least_rtt: Some(setup.rtt),
            last_sent: Nanos::ZERO,
            timer: 0,
            purpose: Purpose::Timeout,
            backoff: 0,
            probed: false,
            must_resend: false,
            must_squeeze: false,
            repair: None,
            pace_free: Nanos::ZERO,
            pace_set: false,
            sent_again: 0,
            unanswered: 0,
            buffer: 0,
            filled: FIRST,
            whole_frames: false,
            waits: 0,
            awaited: Nanos::ZERO,
            late: Nanos::ZERO,
            rcv_nxt: FIRST,
            ahead: BTreeMap::new(),
            newest: None,
            twice: false,
            arrivals: Vec::new(),
            unacknowledged: 0,
            must_acknowledge: false,
            settling: false,
            arrived: 0,
            ack_turn: 0,
            rcv_mss: 0,
            interactive: false,
            last_heard: Nanos::ZERO,
            own_edge: 0,
            grown: 0,
            growth: GrowthState::default(),
            opened: 0,
            wanted_edge: 0,
            room_set: false,
            edge_time: Nanos::ZERO,
        }
    }

    /// The host on the same connection used once more, from the first byte on.
    pub(super) fn again(self, setup: &Setup, reuse: Reuse) -> Host {
        let mut fresh = Host::new(setup, self.end);
        let rto = self.rto();
        fresh.cwnd = self.cwnd.from_offset(FIRST).scaled(reuse.window);
        if setup.ends[self.end].idle_restart {
            fresh.cwnd.on_idle(reuse.idle, rto);
        }
        // Linux keeps all of these for the life of a connection; the client's next request soon after an answer makes
        // a conversation.
        Host {
            used: true,
            bbr: self.bbr.map(Measured::again),
            srtt: self.srtt,
            interactive: self.interactive || self.end == End::Client && reuse.idle < CONVERSATION,
            rcv_mss: self.rcv_mss,
            grown: (self.own_edge - self.rcv_nxt).max(0),
            ..fresh
        }
    }

    pub(super) fn is_used(&self) -> bool {
        self.used
    }

    pub(super) fn setup<'a>(&self, world: &World<'a>) -> &'a HostSetup {
        &world.setup.ends[self.end]
    }

    /// True if everything below `offset` has arrived.
    pub(super) fn has_heard(&self, offset: i64) -> bool {
        self.rcv_nxt >= offset
    }

    pub(super) fn sent_again(&self) -> u64 {
        self.sent_again
    }

    /// Time when the last byte arrived.
    pub(super) fn heard_last(&self) -> Nanos {
        self.arrivals.last().map_or(Nanos::ZERO, |(_, time)| *time)
    }

    /// Time when the peer's data had arrived up to `offset`.
    pub(super) fn heard_at(&self, offset: i64) -> Nanos {
        let at = self.arrivals.partition_point(|(reached, _)| *reached < offset);
        self.arrivals.get(at).map_or_else(|| self.heard_last(), |(_, time)| *time)
    }

    /// Time when the byte at `offset` was written.
    pub(super) fn written_at(&self, offset: i64) -> Nanos {
        let at = self.starts.partition_point(|(start, _)| *start <= offset);
        at.checked_sub(1).and_then(|at| self.starts.get(at)).map_or(Nanos::ZERO, |(_, time)| *time)
    }

    pub(super) fn opens(&mut self, world: &mut World<'_>) {
        if self.writer == ApplicationState::Closed {
            self.writer = ApplicationState::Waiting;
            self.last_sent = world.now;
            self.goes_on(world);
        }
    }

    /// Takes in the right edge of the peer's window.
    pub(super) fn is_told(&mut self, edge: i64) {
        self.edge = edge;
        self.largest_window = edge - FIRST;
    }

    /// The congestion window, segments.
    pub(super) fn window(&self) -> u32 {
        self.bbr.as_ref().map_or_else(|| self.cwnd.segments(), Measured::segments)
    }

    pub(super) fn rto(&self) -> Nanos {
        timers::rto(self.srtt)
    }

    pub(super) fn hears(&mut self, packet: &Packet, world: &mut World<'_>) {
        self.acknowledged(packet, world);
        // An arriving packet shows that the handshake is over.
        self.opens(world);
        if packet.bytes > 0 {
            self.receives(packet, world);
        }
        self.sends(world);
        self.goes_on(world);
    }
}
