//! Trust in a whole capture: sums of what its flows lack.

use serde::Serialize;

use super::rows::FlowRow;
use super::rows::trust::{TrustLevel, share};

/// Share of the data whose flows must agree on the vantage: a few samples may mislead a small flow.
const AGREEMENT: f64 = 0.9;

/// Sums over a capture's reported flows, and the capture's own statistics.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct CaptureTrust {
    /// Flows reported.
    pub flows: u64,
    /// Flows with low trust in their labels.
    pub flows_low: u64,
    /// Flows with medium trust in their labels.
    pub flows_medium: u64,
    /// Flows that began before the capture, or whose handshake the capture lost.
    pub flows_without_handshake: u64,
    /// Flows whose handshake is only partly in the capture.
    pub flows_partial_handshake: u64,
    /// Flows with only one end in the capture.
    pub flows_one_sided: u64,
    /// Flows whose data is judged by a window of unknown scale.
    pub flows_scale_unknown: u64,
    /// Flows affected by lines left out of a paste.
    pub flows_left_out: u64,
    /// Flows with packets stamped earlier than those before them.
    pub flows_clock_stepped: u64,
    /// Flows with segments cut inside their options.
    pub flows_options_cut: u64,
    /// Place where the capture was taken, by the flows with nearly all of the data: `at the client`, `at the server`,
    /// `between the ends`.
    pub vantage: Option<&'static str>,
    /// Copies of packets that the capture or the network made.
    pub duplicates_removed: u64,
    /// Acknowledged data that is not in the capture, bytes, of flows with both ends in it.
    pub unseen_bytes: u64,
    /// Share of that in all data, 0 to 1; `None` without data.
    pub unseen_share: Option<f64>,
    /// Frames larger than a segment: offloading (TSO, GRO) was seen.
    pub offloaded_frames: u64,
    /// Number of packets of any kind stamped earlier than those before them by a millisecond or more.
    pub clock_steps: u64,
    /// Packets of all kinds that the snap length cut inside their TCP options.
    pub options_cut: u64,
    /// Packets that the capture reports as dropped; `None` where it has no such statistics.
    pub dropped_packets: Option<u64>,
    /// Flows whose packets were stamped late, by both ends' clocks.
    #[serde(skip)]
    pub flows_stamped_late: u64,
    #[serde(skip)]
    seen_bytes: u64,
    /// Bytes of the flows captured at each place.
    #[serde(skip)]
    places: Vec<(&'static str, u64)>,
}

impl CaptureTrust {
    /// Adds a flow.
    pub fn add(&mut self, row: &FlowRow) {
        let trust = &row.trust;
        // A connection counts with its first part.
        let one_if = |holds: bool| u64::from(holds && !row.continues);
        let has = |reason: &str| one_if(trust.reasons.contains(&reason));
        self.flows += one_if(true);
        self.flows_low += one_if(trust.level == TrustLevel::Low);
        self.flows_medium += one_if(trust.level == TrustLevel::Medium);
        self.flows_without_handshake += one_if(trust.handshake == "missing");
        self.flows_partial_handshake += one_if(trust.handshake == "partial");
        self.flows_one_sided += has("one-sided");
        self.flows_scale_unknown += has("scale-unknown");
        self.flows_left_out += has("packets-left-out");
        self.flows_clock_stepped += has("clock-stepped");
        self.flows_options_cut += has("options-cut");
        self.flows_stamped_late += one_if(row.notes.contains(&"late-stamps"));
        self.duplicates_removed += trust.duplicates_removed;
        self.unseen_bytes += if trust.one_sided { 0 } else { trust.unseen_bytes };
        let bytes = row.directions.client.bytes + row.directions.server.bytes;
        self.seen_bytes += bytes;
        self.unseen_share = share(self.unseen_bytes, self.seen_bytes);
        self.offloaded_frames += trust.offloaded_frames.client + trust.offloaded_frames.server;
        if row.vantage.side != "unknown" {
            self.was_taken(trust.vantage, bytes);
        }
    }

    fn was_taken(&mut self, place: &'static str, bytes: u64) {
        match self.places.iter_mut().find(|(known, _)| *known == place) {
            Some((_, sum)) => *sum += bytes,
            None => self.places.push((place, bytes)),
        }
        let all: u64 = self.places.iter().map(|(_, sum)| sum).sum();
        let most = self.places.iter().find(|(_, sum)| *sum as f64 >= AGREEMENT * all as f64);
        self.vantage = most.map(|(place, _)| *place);
    }
}
