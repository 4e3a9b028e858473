//! Events of a pause that few pauses have: kept apart, so that the notes on a pause stay small.

use super::evidence::persist::Persist;
use super::hole::Hole;
use crate::packet_no::PacketNo;
use crate::time::Nanos;

/// A closed window and its probes, retransmissions, reports of a loss, holes, packets left out.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(super) struct RareEvents {
    pub(super) widened: Option<(Nanos, PacketNo)>,
    pub(super) closed: Option<Nanos>,
    pub(super) reopened: Option<Nanos>,
    pub(super) probes: u32,
    pub(super) persist: Persist,
    pub(super) retransmissions: u32,
    pub(super) first_retransmission: Option<Nanos>,
    pub(super) last_retransmission: Option<Nanos>,
    pub(super) loss_hints: u32,
    pub(super) last_hint: Option<Nanos>,
    pub(super) overtaken: Nanos,
    pub(super) left_out: Option<Nanos>,
    pub(super) closed_hole: Option<Hole>,
}

impl RareEvents {
    pub(super) const fn none() -> RareEvents {
        RareEvents {
            widened: None,
            closed: None,
            reopened: None,
            probes: 0,
            persist: Persist { window: None, probe_bytes: None, answered: 0, unheard: 0 },
            retransmissions: 0,
            first_retransmission: None,
            last_retransmission: None,
            loss_hints: 0,
            last_hint: None,
            overtaken: Nanos::ZERO,
            left_out: None,
            closed_hole: None,
        }
    }
}
