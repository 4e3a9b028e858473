//! Parts of a long flow: its past is reported and let go, so that its memory stays bounded, and the flow continues.

use super::{Builder, Connection, Rounds, Spikes, Watch};

impl Watch {
    /// Pauses, busy periods of the path and rounds that are remembered.
    pub fn past(&self) -> usize {
        self.builders.iter().map(Builder::past).sum::<usize>() + self.rounds.rounds().len()
    }

    /// The flow from its latest segment on: options, sequence numbers, round trips, windows, and the pause that lasts.
    #[must_use]
    pub fn next_part(mut self) -> Watch {
        self.leaves_step();
        Watch {
            connection: Connection::next_part(self.connection),
            builders: self.builders.map(Builder::next_part),
            rounds: Rounds::next_part(self.rounds),
            spikes: self.spikes.map(Spikes::next_part),
            incomplete: false,
            clock_steps: None,
            run: None,
            holding: 0,
            flying: 0,
            ..self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::{Finished, Pauses};
    use super::*;
    use crate::flow::End;
    use crate::seq::SeqNo;
    use crate::time::Nanos;
    use crate::wire::{Address, Endpoint, Flags, Segment};

    /// A client that asks every second, and a server that takes 100 ms to answer.
    fn talk() -> Vec<Segment> {
        let end = |host: u8| Endpoint { address: Address::v4([10, 0, 0, host]), port: u16::from(host) };
        let mut talk = Vec::new();
        let mut say = |ms: i64, from: u8, flags: Flags, seq: u32, ack: u32, payload: u32| {
            let (source, destination) = (end(from), end(3 - from));
            let (time, seq, ack) = (Nanos::from_millis(1_000_000 + ms), SeqNo(seq), SeqNo(ack));
            let window_scale = flags.has(Flags::SYN).then_some(7);
            let window = 500;
            talk.push(Segment {
                time,
                source,
                destination,
                seq,
                ack,
                flags,
                payload,
                window,
                window_scale,
                ..Segment::default()
            });
        };
        say(0, 2, Flags::SYN, 0, 0, 0);
        say(1, 1, Flags::SYN.with(Flags::ACK), 0, 1, 0);
        say(2, 2, Flags::ACK, 1, 1, 0);
        for turn in 0..20 {
            let (at, said) = (i64::from(turn) * 1_000 + 10, 1 + 100 * turn);
            say(at, 2, Flags::ACK, said, said, 100);
            say(at + 100, 1, Flags::ACK, said, said + 100, 100);
            say(at + 102, 2, Flags::ACK, said + 100, said + 100, 0);
        }
        talk
    }

    fn sizes(flow: &Finished) -> (u64, u64, usize) {
        let connection = flow.connection();
        (connection.segments, connection.half(End::Server).bytes, flow.pauses.iter().map(Pauses::len).sum())
    }

    #[test]
    fn parts_follow_each_other_and_keep_what_the_handshake_said() {
        let talk = talk();
        for cut in 4..talk.len() {
            let mut first = Box::new(Watch::new(&talk[0]));
            talk[..cut].iter().for_each(|segment| _ = first.sees(segment));
            let mut second = Box::new(first.clone().next_part());
            assert_eq!(second.past(), 0);
            talk[cut..].iter().for_each(|segment| _ = second.sees(segment));
            let (first, second) = (first.finish(), second.finish());
            let (before, after) = (sizes(&first), sizes(&second));
            assert_eq!((before.0 + after.0, before.1 + after.1), (talk.len() as u64, 20 * 100), "cut at {cut}");
            let connection = second.connection();
            assert_eq!(connection.start, first.connection().end);
            assert!(connection.continues && connection.handshake.complete());
            assert!(connection.halves.iter().all(|half| half.peer_scale.shift() == Some(7)));
            assert!(after.2 > 0 || cut + 2 > talk.len(), "a wait is found in the part from {cut} on");
        }
    }
}
