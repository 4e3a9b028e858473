//! Gives the memory of a flow that is over to another flow.

use super::{Finished, Watch};
use crate::flow::End;
use crate::pause::builder::Builder;
use crate::pause::kept::KeptPauses;
use crate::pause::{Burst, Facts};
use crate::vec_growth;
use crate::wire::Segment;

/// Most bursts whose memory another flow takes over.
const SMALL: usize = 4;

impl Watch {
    /// Becomes another flow, as [`Watch::new`] does, in the memory of this one: nothing of that size is moved.
    pub fn renew(&mut self, segment: &Segment) {
        // Every field is named, so that none is forgotten.
        let Watch {
            connection,
            models,
            builders,
            rounds,
            first_payloads,
            tunnel,
            spikes,
            incomplete,
            let_go,
            clock_steps,
            left_out_after,
            run,
            steady,
            holding,
            flying,
        } = self;
        connection.renew(segment);
        *models = Default::default();
        builders.iter_mut().for_each(Builder::renew);
        rounds.renew();
        *spikes = Default::default();
        (*first_payloads, *tunnel, *clock_steps, *left_out_after, *steady) = (None, None, None, None, None);
        (*incomplete, *let_go, *run, *holding, *flying) = (false, false, None, 0, 0);
    }
}

impl Finished {
    /// The flow's state, for [`Watch::renew`].
    pub fn into_watch(self) -> Box<Watch> {
        let Finished { mut watch, pauses: [by_client, by_server], mut bursts, .. } = self;
        let [client, server] = &mut watch.builders;
        client.takes_over(by_client.into_facts(), &mut bursts[End::Client]);
        server.takes_over(by_server.into_facts(), &mut bursts[End::Server]);
        watch
    }
}

impl Builder {
    /// Takes over the memory of what a flow that is over left behind.
    fn takes_over(&mut self, pauses: Vec<Facts>, bursts: &mut Vec<Burst>) {
        if pauses.capacity() > 0 || self.pauses.len() > 0 {
            self.pauses = KeptPauses::renewed(pauses);
        }
        self.bursts = vec_growth::emptied(bursts, SMALL);
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
        let mut renewed = before.into_watch();
        renewed.renew(&second[0]);
        let renewed = follow(renewed, &second);
        let new = follow(Box::new(Watch::new(&second[0])), &second);
        assert_eq!(format!("{renewed:?}"), format!("{new:?}"));
    }
}
