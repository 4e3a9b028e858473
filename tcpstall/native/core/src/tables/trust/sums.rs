//! How far a whole capture can be trusted: what its flows lack, added up.

use serde::Serialize;

use super::{Level, share};
use crate::tables::rows::FlowRow;

/// A handful of samples may mislead a small flow; flows with this share of the data agree.
const AGREEMENT: f64 = 0.9;

/// Sums over the flows that were reported of a capture, and what the capture says of itself.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct CaptureTrust {
    /// Flows reported.
    pub flows: u64,
    /// Those whose labels can hardly be trusted.
    pub flows_low: u64,
    /// Those whose labels can be trusted with exceptions.
    pub flows_medium: u64,
    /// Flows that began before the capture, or whose handshake it lost.
    pub flows_without_handshake: u64,
    /// Flows whose handshake is not whole in the capture.
    pub flows_partial_handshake: u64,
    /// Flows of whose two ends only one is in the capture.
    pub flows_one_sided: u64,
    /// Flows whose data is judged by a window of unknown scale.
    pub flows_scale_unknown: u64,
    /// Flows that lines left out of a paste touch.
    pub flows_left_out: u64,
    /// Flows with packets stamped earlier than those before them.
    pub flows_clock_stepped: u64,
    /// Flows with segments cut inside their options.
    pub flows_options_cut: u64,
    /// Where it was taken, as the flows with nearly all of the data tell: `at the client`, `at the server`, `between the ends`.
    pub vantage: Option<&'static str>,
    /// Copies of packets that the capture or the network made.
    pub duplicates_removed: u64,
    /// Data that was acknowledged and is not in the capture, bytes, of flows both of whose ends are.
    pub unseen_bytes: u64,
    /// Its share of all data, 0 to 1; `None` without data.
    pub unseen_share: Option<f64>,
    /// Frames larger than a segment: offloading (TSO, GRO) was seen.
    pub offloaded_frames: u64,
    /// How often packets of any kind are stamped earlier than those before them by a millisecond or more.
    pub clock_steps: u64,
    /// Packets of all kinds that the snap length cut inside their TCP options.
    pub options_cut: u64,
    /// Packets that the capture says it dropped; `None` where it does not say.
    pub dropped_packets: Option<u64>,
    #[serde(skip)]
    seen_bytes: u64,
    /// Data of the flows that were captured at each place.
    #[serde(skip)]
    places: Vec<(&'static str, u64)>,
}

impl CaptureTrust {
    /// One more flow.
    pub fn add(&mut self, row: &FlowRow) {
        let trust = &row.trust;
        let has = |reason: &str| u64::from(trust.reasons.contains(&reason));
        self.flows += 1;
        self.flows_low += u64::from(trust.level == Level::Low);
        self.flows_medium += u64::from(trust.level == Level::Medium);
        self.flows_without_handshake += u64::from(trust.handshake == "missing");
        self.flows_partial_handshake += u64::from(trust.handshake == "partial");
        self.flows_one_sided += has("one-sided");
        self.flows_scale_unknown += has("scale-unknown");
        self.flows_left_out += has("packets-left-out");
        self.flows_clock_stepped += has("clock-stepped");
        self.flows_options_cut += has("options-cut");
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
