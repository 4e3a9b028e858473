//! Services: the connections to one server's address and port, and the cost of not reusing them.
//!
//! A client needs as many connections to a service as it has open at once. Its connections beyond the largest number
//! open together (from the first SYN to the first FIN or RST, or to the last packet) are handshakes that reuse would
//! have saved: an earlier connection, kept open, could have replaced each of them. Their cost is counted at the
//! client's mean handshake with that service. Connections whose handshake was not captured whole are left out.

mod client;

use std::cmp::Reverse;
use std::mem;

use hashbrown::{HashMap, HashSet};
use serde::{Serialize, Serializer};

use self::client::Client;
use super::room::Room;
use super::rows::FlowRow;
use super::rows::outcome::Outcome;
use crate::flow::End;
use crate::time::Nanos;
use crate::wire::{Address, Endpoint};

/// Shortest idle time of a timer: an end that closes sooner had simply finished; a timer for idle connections runs for
/// seconds.
const LEAST_IDLE: Nanos = Nanos::from_millis(1_000);
/// Connections, and their share of those that the end closed, that must agree before an idle time counts as a timer.
const LEAST_AGREEING: usize = 3;
const AGREEING_SHARE: f64 = 0.8;
/// Largest difference between idle times of one timer: its tick is a second in common servers, a few per cent in longer
/// ones.
const TIMER_SLACK: Nanos = Nanos::from_millis(1_000);
const TIMER_SHARE: f64 = 0.05;

/// One end closes connections that were idle for a fixed time, and the other end never does.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct IdleClose {
    /// `client` or `server`.
    pub side: End,
    /// Median of its idle times.
    pub after_ns: Nanos,
    /// Connections that it closed after that time.
    pub connections: u64,
}

/// The connections to one service.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ServiceRow {
    /// Address of the server.
    #[serde(serialize_with = "shown")]
    pub address: Address,
    /// Port of the server.
    pub port: u16,
    /// Client addresses.
    pub clients: u64,
    /// Connections of clients beyond a limit; these clients are not among `clients` and do not count for reuse.
    #[serde(skip_serializing_if = "is_zero")]
    pub connections_of_further_clients: u64,
    /// Connections.
    pub connections: u64,
    /// Exchanges on all these connections.
    pub exchanges: u64,
    /// Connections whose handshake was captured whole.
    pub handshakes: u64,
    /// Total time of these handshakes.
    pub handshake_ns: Nanos,
    /// Connections whose SYN was not answered.
    pub unreachable: u64,
    /// Connections that a RST refused.
    pub refused: u64,
    /// Connections that the server accepted and the client did not complete.
    pub half_open: u64,
    /// Connections whose peer fell silent while data was retransmitted repeatedly.
    pub gone: u64,
    /// Handshakes that reuse would have saved.
    pub avoidable_handshakes: u64,
    /// Cost of these handshakes.
    pub avoidable_ns: Nanos,
    /// Connections that the client closed first.
    pub closed_by_client: u64,
    /// Connections that the server closed first.
    pub closed_by_server: u64,
    /// Idle timeout that only one end has.
    pub idle_close: Option<IdleClose>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over the field")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

fn shown<S: Serializer>(address: &Address, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(address)
}

#[derive(Clone, Default)]
struct Service {
    number: u32,
    connections: u64,
    of_further_clients: u64,
    exchanges: u64,
    handshakes: u64,
    handshake: Nanos,
    /// Numbers of unreachable, refused, half-open and gone connections.
    outcomes: [u64; 4],
    closed: [u64; 2],
    /// Idle times after which each end closed, with the time of the close.
    idles: [Vec<(Nanos, Nanos)>; 2],
}

/// Index of an outcome in the counts.
fn place_of(outcome: Outcome) -> Option<usize> {
    match outcome {
        Outcome::Unreachable => Some(0),
        Outcome::Refused => Some(1),
        Outcome::HalfOpen => Some(2),
        Outcome::Gone(_) => Some(3),
        Outcome::Aborted | Outcome::TooEarly | Outcome::OneSided => None,
    }
}

/// Place of a client without a whole handshake.
const NO_PLACE: u32 = u32::MAX;

/// Services of the flows that have ended.
#[derive(Clone, Default)]
pub struct Services {
    room: Room,
    services: HashMap<Endpoint, Service>,
    /// Number of services so far.
    numbers: u32,
    /// Places in `timed` by the service's number and the client: a flood has clients by the hundred thousand, and no
    /// handshakes.
    clients: HashMap<(u32, Address), u32>,
    timed: Vec<Client>,
    spans: usize,
    dropped: u64,
}

impl Services {
    /// Services that are kept within that room.
    pub fn within(room: Room) -> Services {
        Services { room, ..Services::default() }
    }

    /// Services of these flows.
    pub fn of(rows: &[FlowRow]) -> Services {
        let mut services = Services::default();
        rows.iter().for_each(|row| services.add(row));
        services
    }

    /// Takes in a flow.
    pub fn add(&mut self, row: &FlowRow) {
        if self.services.len() >= self.room.services && !self.services.contains_key(&row.server) {
            self.small_ones_leave();
        }
        if self.spans >= self.room.spans {
            self.spans = self.timed.iter_mut().map(Client::adds_up).sum();
        }
        let numbers = &mut self.numbers;
        let service = self.services.entry(row.server).or_insert_with(|| {
            *numbers += 1;
            Service { number: *numbers, ..Service::default() }
        });
        service.connections += u64::from(!row.continues);
        service.exchanges += row.connection.exchanges;
        if let Some(place) = row.outcome.outcome.and_then(place_of) {
            service.outcomes[place] += 1;
        }
        if let Some(by) = row.connection.closed_by {
            service.closed[by] += 1;
            let idle = row.connection.idle_before_close_ns.filter(|idle| *idle >= LEAST_IDLE);
            if let (Some(idle), Some(closed)) = (idle, row.connection.closed_ns)
                && service.idles[by].len() < self.room.idles
            {
                service.idles[by].push((idle, closed));
            }
        }
        if row.continues {
            return; // Its first part has the handshake.
        }
        let client = (service.number, row.client.address);
        if self.clients.len() >= self.room.clients && !self.clients.contains_key(&client) {
            service.of_further_clients += 1;
            return;
        }
        let place = self.clients.entry(client).or_insert(NO_PLACE);
        if let (true, Some(handshake)) = (row.handshake.complete, row.handshake.duration_ns) {
            service.handshakes += 1;
            service.handshake += handshake;
            self.spans += 1;
            if *place == NO_PLACE {
                *place = self.timed.len() as u32;
                self.timed.push(Client::default());
            }
            let client = &mut self.timed[*place as usize];
            client.handshake += handshake;
            client.spans.push((row.start_ns, row.connection.closed_ns.unwrap_or(row.end_ns)));
        }
    }

    /// Makes room for further services: the half with the fewest connections is only counted.
    fn small_ones_leave(&mut self) {
        let mut small: Vec<_> = self.services.iter().map(|(server, one)| (one.connections, *server)).collect();
        small.sort_unstable();
        small.truncate(small.len().div_ceil(2));
        for (connections, server) in small {
            self.dropped += connections;
            self.services.remove(&server);
        }
        let kept: HashSet<u32> = self.services.values().map(|service| service.number).collect();
        let mut timed = Vec::new();
        self.clients.retain(|(service, _), place| {
            let stays = kept.contains(service);
            if let Some(client) = self.timed.get_mut(*place as usize).filter(|_| stays) {
                *place = timed.len() as u32;
                timed.push(mem::take(client));
            }
            stays
        });
        self.timed = timed;
        self.spans = self.timed.iter().map(|client| client.spans.len()).sum();
    }

    /// Connections of services that had to leave.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// The services, ordered by the savings of reuse, then by connections.
    pub fn rows(mut self) -> Vec<ServiceRow> {
        let mut saved: HashMap<u32, (u64, u64, Nanos)> = HashMap::new();
        for ((service, _), place) in &self.clients {
            let (avoidable, cost) = self.timed.get_mut(*place as usize).map(Client::avoidable).unwrap_or_default();
            let known = saved.entry(*service).or_default();
            *known = (known.0 + 1, known.1 + avoidable, known.2 + cost);
        }
        let row = |(server, service): (Endpoint, Service)| {
            let (clients, avoidable_handshakes, avoidable_ns) = saved.get(&service.number).copied().unwrap_or_default();
            ServiceRow {
                address: server.address,
                port: server.port,
                clients,
                connections_of_further_clients: service.of_further_clients,
                connections: service.connections,
                exchanges: service.exchanges,
                handshakes: service.handshakes,
                handshake_ns: service.handshake,
                unreachable: service.outcomes[0],
                refused: service.outcomes[1],
                half_open: service.outcomes[2],
                gone: service.outcomes[3],
                avoidable_handshakes,
                avoidable_ns,
                closed_by_client: service.closed[End::Client],
                closed_by_server: service.closed[End::Server],
                idle_close: idle_close(service.idles),
            }
        };
        let mut rows: Vec<ServiceRow> = self.services.into_iter().map(row).collect();
        rows.sort_by_key(|row| (Reverse(row.avoidable_ns), Reverse(row.connections), row.address, row.port));
        rows
    }
}

/// The end whose idle times agree, if the other end closes no idle connections. Connections that were all closed at one
/// time are due to a shutdown, not to a timer.
fn idle_close([client, server]: [Vec<(Nanos, Nanos)>; 2]) -> Option<IdleClose> {
    let (side, mut idles) = match (client.is_empty(), server.is_empty()) {
        (true, false) => (End::Server, server),
        (false, true) => (End::Client, client),
        _ => return None,
    };
    idles.sort();
    let middle = idles[idles.len() / 2].0;
    let slack = TIMER_SLACK.max(middle.scaled(TIMER_SHARE));
    let all = idles.len();
    idles.retain(|(idle, _)| *idle >= middle - slack && *idle <= middle + slack);
    let moments = idles.iter().map(|(_, closed)| *closed);
    let apart = moments.clone().max()? - moments.min()? > slack;
    let enough = idles.len() >= LEAST_AGREEING && idles.len() as f64 >= AGREEING_SHARE * all as f64;
    (enough && apart).then_some(IdleClose { side, after_ns: middle, connections: idles.len() as u64 })
}

#[cfg(test)]
mod tests {
    use super::{Client, IdleClose, Services, idle_close};
    use crate::causes::Limits;
    use crate::flow::End;
    use crate::pause::Watch;
    use crate::results::room::Room;
    use crate::results::{FlowRow, Wanted, flow_row};
    use crate::time::Nanos;
    use crate::wire::{Address, Flags, Segment};

    fn avoidable(spans: &[(i64, i64)]) -> (u64, Nanos) {
        let spans: crate::few::Few<_, 1> = spans.iter().map(|span| (Nanos(span.0), Nanos(span.1))).collect();
        Client { handshake: Nanos(10 * spans.len() as i64), spans, ..Client::default() }.avoidable()
    }

    #[test]
    fn connections_one_after_the_other_need_one_handshake() {
        assert_eq!(avoidable(&[(0, 5), (6, 9), (10, 20)]), (2, Nanos(20)));
    }

    #[test]
    fn connections_open_together_need_one_each() {
        assert_eq!(avoidable(&[(0, 50), (6, 90), (10, 20), (60, 70)]), (1, Nanos(10)));
        assert_eq!(avoidable(&[]), (0, Nanos(0)));
    }

    /// (idle, closed at), seconds.
    fn idles(pairs: &[(i64, i64)]) -> Vec<(Nanos, Nanos)> {
        let seconds = |value: i64| Nanos(value * 1_000_000_000);
        pairs.iter().map(|(idle, closed)| (seconds(*idle), seconds(*closed))).collect()
    }

    #[test]
    fn a_timer_is_told_by_idle_times_that_agree() {
        let found = idle_close([vec![], idles(&[(65, 100), (65, 120), (66, 300), (65, 301)])]);
        assert_eq!(found, Some(IdleClose { side: End::Server, after_ns: Nanos(65_000_000_000), connections: 4 }));
        assert_eq!(idle_close([idles(&[(30, 90)]), idles(&[(65, 100), (65, 200), (65, 300)])]), None);
        assert_eq!(idle_close([vec![], idles(&[(5, 100), (65, 200), (300, 900)])]), None);
        assert_eq!(idle_close([vec![], idles(&[(65, 100), (65, 200)])]), None);
    }

    fn row() -> FlowRow {
        let segment = Segment { flags: Flags::SYN, ..Segment::default() };
        let mut watch = Watch::new(&segment);
        watch.sees(&segment);
        let wanted = Wanted { bursts: false, exchanges: false, least_stall: Nanos::ZERO };
        flow_row(&Box::new(watch).finish(), 0, 0, &Limits::default(), wanted)
    }

    const ROOM: Room = Room { services: 8, clients: 100, spans: 200, idles: 4, findings: 8 };

    #[test]
    fn clients_without_room_only_count_and_services_with_few_connections_leave() {
        let (mut row, mut services) = (row(), Services::within(ROOM));
        for client in 0..103 {
            row.client.address = Address(client);
            services.add(&row);
        }
        for server in 1..=8 {
            row.server.address = Address(server);
            services.add(&row);
        }
        assert_eq!(services.dropped(), 4);
        let rows = services.rows();
        assert_eq!((rows.len(), rows[0].connections), (5, 103));
        assert_eq!((rows[0].clients, rows[0].connections_of_further_clients), (100, 3));
    }

    #[test]
    fn spans_that_are_added_up_count_for_reuse_as_before() {
        let (mut row, mut services) = (row(), Services::within(ROOM));
        (row.handshake.complete, row.handshake.duration_ns) = (true, Some(Nanos(10)));
        for number in 0..5_000 {
            (row.start_ns, row.end_ns) = (Nanos(number), Nanos(number + 2));
            row.client.address = Address(number as u128 % 3);
            services.add(&row);
            assert!(services.spans <= ROOM.spans);
        }
        row.continues = true;
        services.add(&row);
        let rows = services.rows();
        assert_eq!((rows[0].connections, rows[0].handshakes, rows[0].avoidable_handshakes), (5_000, 5_000, 5_000 - 3));
        assert_eq!(rows[0].avoidable_ns, Nanos(10 * (5_000 - 3)));
    }

    #[test]
    fn connections_closed_all_at_once_tell_of_no_timer() {
        assert_eq!(idle_close([vec![], idles(&[(161, 200), (161, 200), (161, 200)])]), None);
    }
}
