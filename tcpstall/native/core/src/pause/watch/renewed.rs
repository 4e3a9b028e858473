//! Gives the memory of a flow that is over to another flow.

use super::{Finished, Watch};
use crate::pause::kept::KeptPauses;
use crate::wire::Segment;

impl Watch {
    /// Starts another flow, as [`Watch::new`] does, in the memory of this one.
    #[must_use]
    pub fn renewed(mut self: Box<Watch>, segment: &Segment) -> Box<Watch> {
        let mut next = Watch::new(segment);
        for (half, past) in next.connection.halves.iter_mut().zip(&mut self.connection.halves) {
            half.takes_over(past);
        }
        for (builder, past) in next.builders.iter_mut().zip(&mut self.builders) {
            builder.pauses.takes_over(&mut past.pauses);
        }
        next.rounds.takes_over(&mut self.rounds);
        *self = next;
        self
    }
}

impl Finished {
    /// The flow's state, for [`Watch::renewed`].
    pub fn into_watch(self) -> Box<Watch> {
        let Finished { mut watch, pauses, .. } = self;
        for (builder, pauses) in watch.builders.iter_mut().zip(pauses) {
            builder.pauses = KeptPauses::of(pauses);
        }
        watch
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seq::SeqNo;
    use crate::time::Nanos;
    use crate::wire::{Address, Endpoint, Flags, Timestamps};

    /// A client that sends three segments with pauses between them, and a server that answers the first two.
    fn flow(port: u16) -> Vec<Segment> {
        let end = |host, port| Endpoint { address: Address::v4([10, 0, 0, host]), port };
        let segment = |number: u32| Segment {
            time: Nanos::from_millis(i64::from(number)),
            source: end(1, port),
            destination: end(2, 80),
            flags: Flags::ACK,
            seq: SeqNo(1_000 * number),
            payload: 1_000,
            timestamps: Some(Timestamps { value: number, echo: 0 }),
            ..Segment::default()
        };
        let answer = |number: u32| Segment {
            time: Nanos::from_millis(10 * i64::from(number)),
            source: end(2, 80),
            destination: end(1, port),
            seq: SeqNo(500 * number),
            ack: SeqNo(1_000 * (number + 1)),
            payload: 500,
            timestamps: Some(Timestamps { value: 90 + number, echo: number }),
            ..segment(number)
        };
        (1..=3).map(segment).chain((1..=2).map(answer)).collect()
    }

    fn follow(mut watch: Box<Watch>, segments: &[Segment]) -> Finished {
        segments.iter().for_each(|segment| _ = watch.sees(segment));
        watch.finish()
    }

    #[test]
    fn nothing_is_left_of_the_flow_before() {
        let (first, second) = (flow(1_000), flow(2_000));
        let before = follow(Box::new(Watch::new(&first[0])), &first);
        assert!(before.pauses.iter().all(|pauses| !pauses.is_empty()));
        assert!(!before.rounds().rounds().is_empty());
        let renewed = follow(before.into_watch().renewed(&second[0]), &second);
        let new = follow(Box::new(Watch::new(&second[0])), &second);
        assert_eq!(format!("{renewed:?}"), format!("{new:?}"));
    }
}
