//! Decides which end is the client, by the first segment of a flow.

use crate::wire::{Endpoint, Flags, Segment};

/// First port that no privilege guards: services below it are system services (RFC 6335 §6).
const FIRST_USER_PORT: u16 = 1_024;

/// User ports that IANA has registered for services whose connections last (RFC 6335 §8.1), in order. Hosts that number
/// their own ports from 1,025 up have lower ones.
const SERVICES: [u16; 24] = [
    1_433, 1_521, 1_883, 2_049, 2_404, 3_306, 3_389, 4_840, 5_060, 5_222, 5_432, 5_672, 5_900, 6_379, 8_080, 8_443,
    8_883, 9_092, 11_211, 20_000, 27_017, 44_818, 47_808, 48_898,
];

/// The client and the server, by the first segment seen. Without a SYN a system port is the service's, then a registered
/// one, then the lower one. Between equal ports the first to be seen is the client: a capture that begins in a pause shows
/// the request first.
pub fn ends(segment: &Segment) -> [Endpoint; 2] {
    let (syn, ack) = (segment.flags.has(Flags::SYN), segment.flags.has(Flags::ACK));
    let (source, destination) = (segment.source, segment.destination);
    let from_client = if syn { !ack } else { rank(source.port) >= rank(destination.port) };
    if from_client { [source, destination] } else { [destination, source] }
}

/// Rank of a port: the lower one is the service's.
fn rank(port: u16) -> (u8, u16) {
    let class = match port {
        0..FIRST_USER_PORT => 0,
        _ if SERVICES.binary_search(&port).is_ok() => 1,
        _ => 2,
    };
    (class, port)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::Address;

    /// Port of the client in a flow whose first segment goes from one port to another.
    fn client(source: u16, destination: u16, flags: Flags) -> u16 {
        let end = |port| Endpoint { port, ..Endpoint::default() };
        ends(&Segment { source: end(source), destination: end(destination), flags, ..Segment::default() })[0].port
    }

    #[test]
    fn the_order_of_the_services_is_that_of_the_search() {
        assert!(SERVICES.is_sorted());
    }

    #[test]
    fn a_registered_service_is_the_server_although_its_port_is_higher() {
        assert_eq!(client(44_818, 1_102, Flags::ACK), 1_102);
        assert_eq!(client(1_102, 44_818, Flags::ACK), 1_102);
    }

    #[test]
    fn a_system_port_outranks_a_registered_one_and_that_any_other() {
        assert_eq!(client(22, 44_818, Flags::ACK), 44_818);
        assert_eq!(client(5_432, 5_000, Flags::ACK), 5_000);
        assert_eq!(client(50_000, 7_777, Flags::ACK), 50_000);
        assert_eq!(client(8_080, 3_306, Flags::ACK), 8_080);
    }

    #[test]
    fn a_syn_outranks_every_port() {
        assert_eq!(client(80, 50_000, Flags::SYN), 80);
        assert_eq!(client(80, 50_000, Flags(Flags::SYN.0 | Flags::ACK.0)), 50_000);
    }

    #[test]
    fn between_equal_ports_the_first_to_speak_is_the_client() {
        let end = |host| Endpoint { address: Address::v4([10, 0, 0, host]), port: 20_000 };
        let first = Segment { source: end(2), destination: end(1), flags: Flags::ACK, ..Segment::default() };
        assert_eq!(ends(&first)[0], first.source);
    }
}
