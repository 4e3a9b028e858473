//! Infers from a record what the applications did, the properties of the path, and the limits of each end.
//!
//! The model receives no stalls and no times of transmissions. It receives only what can be inferred from them: which
//! end waited for which data, how long each application took by itself, and limits.

mod arrivals;
mod delays;
mod growth;
mod limits;
mod losses;
mod lost_acks;
mod pairs;
mod queue;
mod send_buffer;
mod speed;
mod startup;
mod steps;
mod windows;

use serde::{Serialize, Serializer};

use super::progress::Progress;
use super::record::{PassingKind, Record};
use super::setup::{Control, HostSetup, Loss, Setup};
use crate::flow::End;
use crate::time::Nanos;
use crate::words::words;

pub use self::arrivals::Arrivals;
pub use self::limits::{NEAR, shares};

words! {
    /// Reason why a capture does not support a prediction.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Refusal {
        /// The handshake was not captured whole: the round trip, the windows and the start of the data are uncertain.
        NoHandshake = "no-handshake",
        /// Packets of one end only.
        OneDirection = "one-direction",
        /// The capture lacks packets of the flow: bytes were acknowledged that the tap never saw.
        CaptureGaps = "capture-gaps",
        /// Packets are known to be left out while the flow was open, of it or of others.
        PacketsLeftOut = "packets-left-out",
        /// The flow has more pauses than are kept.
        StallLimit = "stall-limit",
        /// The round trip could not be measured.
        NoRoundTrip = "no-round-trip",
        /// No data was transferred.
        NoData = "no-data",
        /// The flow has more segments than are kept of one flow or of all together, or more events than are replayed.
        TooLong = "too-long",
        /// One of several flows that share a window (Multipath TCP).
        Multipath = "multipath",
        /// The captured times and the replayed ones differ too much.
        DoesNotFit = "does-not-fit",
        /// Other flows between the same hosts filled the bottleneck too.
        SharedLine = "shared-line",
        /// The change sets a limit of the send buffer that the flow never reached.
        HiddenLimit = "hidden-limit",
        /// The change splits the connection into several.
        NewConnections = "new-connections",
        /// The places of the losses decide more than the change.
        Luck = "luck",
        /// The capture does not show which congestion control the sender runs, and the change depends on it.
        UnknownControl = "unknown-control",
        /// The data came at a pace of which the capture does not show the cause.
        UnknownLimit = "unknown-limit",
        /// No queue stood on the path, so its narrowest link is unknown.
        NoBottleneck = "no-bottleneck",
        /// The change fills the path's queue further than the capture did, and losses there could cost more than it saves.
        HiddenQueue = "hidden-queue",
        /// The replay with the change does not end.
        Endless = "endless",
    }
}

impl Serialize for Refusal {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// Recovered setup of a connection.
#[derive(Clone, Debug)]
pub struct RecoveredSetup {
    /// Input of the model.
    pub setup: Setup,
    /// Captured time from the client's SYN to the arrival of the last byte.
    pub transfer: Nanos,
    /// Captured times when each part of the data had arrived at either end: see [`Progress`].
    pub progress: [Progress; 2],
}

/// The path of a connection.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Path {
    /// Round trip without queues.
    pub rtt: Nanos,
    /// Round trips from the tap to the client and to the server.
    pub distances: [Nanos; 2],
    /// Rate of the bottleneck for either end's data, payload bytes per second.
    pub rates: [Option<f64>; 2],
    /// A queue stood before it.
    pub queues: [bool; 2],
}

impl Path {
    /// The path that a connection shows by itself.
    pub fn of(record: &Record) -> Option<Path> {
        let [Some(to_client), Some(to_server)] = record.distances else { return None };
        let stood = End::BOTH.map(|end| limits::rate(record, end));
        let rates = End::BOTH.map(|end| stood[end].or_else(|| pairs::rate(record, end)));
        let queues = stood.map(|rate| rate.is_some());
        Some(Path { rtt: record.row.base_rtt_ns?, distances: [to_client, to_server], rates, queues })
    }
}

/// The setup of a connection, or the reason why it cannot be recovered.
pub fn recover(record: &Record) -> Result<RecoveredSetup, Refusal> {
    refuse(record)?;
    let path = Path::of(record).ok_or(Refusal::NoRoundTrip)?;
    if End::BOTH.into_iter().any(|end| path.queues[end] && limits::shares(record, end)) {
        return Err(Refusal::SharedLine);
    }
    recover_on(record, &path)
}

/// The setup of a connection on a path that is known.
pub fn recover_on(record: &Record, path: &Path) -> Result<RecoveredSetup, Refusal> {
    let Path { rtt, distances, queues, .. } = *path;
    let [to_client, _] = distances;
    let syn = record.syn.ok_or(Refusal::NoRoundTrip)?;
    // A tap next to the receiver sees arrivals: no queue is behind it.
    let behind = |end: End| distances[end.peer()] > rtt.scaled(limits::NEAR);
    let queued = End::BOTH.map(|end| behind(end) && queues[end]);
    let losses = End::BOTH.map(|end| losses::losses(record, end, distances, rtt));
    let heard = End::BOTH.map(|end| {
        let sender = end.peer();
        Arrivals::of(record, sender, Nanos(distances[end].0 / 2), queued[sender], &losses[sender])
    });
    let [client, server] = End::BOTH.map(|end| recover_end(record, end, path, &heard, &losses[end]));
    let last = heard.iter().filter_map(Arrivals::last).max().ok_or(Refusal::NoData)?;
    let begin = syn - Nanos(to_client.0 / 2);
    let usual = limits::usual_rtt(record, rtt).max(Nanos(2));
    let [client, server] = [client, server].map(|end| end.waits_less(usual - rtt));
    let rtt = usual;
    let opened = record.opened.into_iter().flatten().min().map_or(rtt, |passed| passed - syn + to_client);
    let setup = Setup {
        ends: [client, server],
        rtt,
        opening: (opened - rtt).or_zero(),
        lost_handshake: record.lost_handshakes > 0,
        sack: record.sack,
        seed: 0,
        earlier: record.earlier,
        reuse: None,
        spans: record.spans.clone(),
    };
    let progress = End::BOTH.map(|end| {
        let bytes = setup.ends[end.peer()].bytes();
        Progress::of(bytes, |offset| heard[end].at(offset).map_or(Nanos::ZERO, |time| time - begin))
    });
    Ok(RecoveredSetup { setup, transfer: (last - begin).or_zero(), progress })
}

fn recover_end(record: &Record, end: End, path: &Path, heard: &[Arrivals; 2], losses: &[Loss]) -> HostSetup {
    let Path { rtt, distances, rates, .. } = *path;
    let send_buffer = send_buffer::send_buffer(record, end, distances[end]);
    let nagle = limits::nagle(record, end, distances[end]);
    let openings = windows::openings(record, end, distances[end], &heard[end], rtt);
    let window = openings.iter().map(|opening| opening.edge - opening.arrived).max().unwrap_or(0);
    let least = heard[end].least_rate(window);
    let reads = limits::reads(&record.silences[end.peer()]).filter(|rate| *rate > least);
    let growth = growth::growth(&openings, &heard[end], record.mss[end.peer()], rtt).filter(|_| reads.is_none());
    let rate = rates[end];
    let queue = queue::depth(record, end, distances[end], rtt, rate, losses);
    let delays = delays::delays(record, end, distances[end]);
    let writing = steps::Writing { buffered: !send_buffer.is_empty(), nagle };
    let work = steps::work(record, end, distances[end], &heard[end], writing);
    let control = match (startup::paces_by_rate(record, end, distances[end], rtt), record.reno[end]) {
        (true, _) => Control::Bbr,
        (false, true) => Control::Reno,
        (false, false) => Control::Cubic,
    };
    HostSetup {
        steps: work.steps,
        mss: record.mss[end],
        cuts_frames: limits::cuts_frames(record, end),
        initial_window: limits::initial_window(record, end),
        control,
        idle_restart: true,
        nagle,
        send_buffer,
        wakes_by_rule: false,
        // Where losses are repaired or a queue stands, waits for the buffer are a guess.
        frames: send_buffer::frames(record, end, distances[end]).filter(|_| losses.is_empty() && rate.is_none()),
        one_segment: limits::one_segment(record, end, distances[end], rtt),
        // BBR's pace follows from its own measurements.
        pace: limits::pace(record, end, distances[end], rtt).filter(|_| control != Control::Bbr),
        speed: speed::speed(record, end, rtt).filter(|_| rate.is_none()),
        reads,
        late_starts: work.late,
        losses: losses.to_vec(),
        lost_acks: lost_acks::lost_acks(record, end.peer(), distances[end.peer()], rtt),
        held: windows::held(record, end, distances[end], &heard[end], rtt),
        loss_share: 0.0,
        delayed_ack: delays.delay,
        delays_always: delays.always,
        openings,
        growth,
        most_out: record.row.directions.of(end).max_in_flight_bytes as i64,
        rate,
        queue,
    }
}

/// Reasons that are seen without a recovery.
pub fn refuse(record: &Record) -> Result<(), Refusal> {
    let sent = |end: End| record.passings.iter().any(|passing| passing.sender == end);
    let data = record.passings.iter().any(|passing| passing.kind == PassingKind::New && passing.bytes > 0);
    if record.row.notes.contains(&"mptcp") {
        return Err(Refusal::Multipath);
    }
    // No segments are kept of such a flow, so no other reason can be given.
    if record.cut {
        return Err(Refusal::TooLong);
    }
    if !End::BOTH.into_iter().all(sent) {
        return Err(Refusal::OneDirection);
    }
    if !record.row.handshake.complete {
        return Err(Refusal::NoHandshake);
    }
    if record.has_gaps {
        return Err(Refusal::CaptureGaps);
    }
    if record.left_out {
        return Err(Refusal::PacketsLeftOut);
    }
    if record.lacks_pauses {
        return Err(Refusal::StallLimit);
    }
    if !data {
        return Err(Refusal::NoData);
    }
    Ok(())
}
