//! Limits of what is remembered of many flows: a stranger can name as many services and clients as there are addresses.

/// Numbers that sums of flows are kept within. What has no room is added up together.
#[derive(Clone, Copy, Debug)]
pub struct Room {
    /// Services, some hundred bytes each.
    pub services: usize,
    /// Pairs of a service and a client, some hundred bytes each; connections of further clients count for their service
    /// only.
    pub clients: usize,
    /// Connections whose times are kept, 16 bytes each; older ones are added up.
    pub spans: usize,
    /// Idle times kept for each end of a service, 16 bytes each.
    pub idles: usize,
    /// Findings of single services, and of single hosts, some kilobytes each.
    pub findings: usize,
}

impl Room {
    /// For a capture that lasts for days: some tens of megabytes at most.
    pub const LASTING: Room = Room { services: 1 << 12, clients: 1 << 14, spans: 1 << 16, idles: 64, findings: 1 << 9 };
}

impl Default for Room {
    /// For captures that are read once.
    fn default() -> Room {
        Room { services: 1 << 16, clients: 1 << 18, spans: 1 << 20, idles: 1_000, findings: 1 << 12 }
    }
}
