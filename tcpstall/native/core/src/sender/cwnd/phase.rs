//! Phases of the congestion control.

/// Phase of the congestion control.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum CongestionPhase {
    /// Nothing was acknowledged yet.
    #[default]
    Initial,
    /// The window doubles each round trip.
    SlowStart,
    /// The window is past ssthresh.
    CongestionAvoidance,
    /// A loss is being repaired.
    Recovery,
}
