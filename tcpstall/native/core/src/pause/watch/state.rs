//! Serialises a flow to bytes and restores it when more of its packets come: later, or in another process.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Watch;
use crate::state::{self, StateError};

impl Watch {
    /// Serialises the flow: some hundred bytes for a short flow, plus its pauses and its data in flight.
    pub fn put_down(&self) -> Box<[u8]> {
        state::put_down(self)
    }

    /// Restores a serialised flow.
    ///
    /// # Errors
    /// Those of [`state::taken_up`].
    pub fn taken_up(bytes: &[u8]) -> Result<Box<Watch>, StateError> {
        state::taken_up(bytes).map(Box::new)
    }
}

/// A flow in a steady run is first brought to the state that other ways leave.
impl Serialize for Watch {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.steady.is_none() {
            return Watch::serialize(self, serializer);
        }
        let mut settled = self.clone();
        settled.leaves_step();
        Watch::serialize(&settled, serializer)
    }
}

impl<'de> Deserialize<'de> for Watch {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Watch, D::Error> {
        Watch::deserialize(deserializer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seq::SeqNo;
    use crate::state::VERSION;
    use crate::time::Nanos;
    use crate::wire::{Address, Endpoint, Flags, SackBlock, Segment, Timestamps};

    /// A dialogue of two hosts with timestamps, SACK blocks, retransmissions and pauses.
    fn talk() -> Vec<Segment> {
        let end = |host: u8| Endpoint { address: Address::v4([10, 0, 0, host]), port: u16::from(host) + 1 };
        let mut segments = Vec::new();
        for turn in 0..60_u32 {
            let time = Nanos(1_700_000_000_000_000_000 + i64::from(turn) * 37_000_000);
            let from = u8::from(turn % 3 == 0);
            let mut segment = Segment {
                packet: crate::packet_no::PacketNo(u64::from(turn) + 1),
                time,
                source: end(from),
                destination: end(1 - from),
                seq: SeqNo(if from == 1 { 9 } else { 1 + 1_000 * (turn - turn % 7) }),
                ack: SeqNo(if from == 1 { 1 + 900 * turn } else { 9 }),
                flags: Flags::ACK,
                window: 500,
                payload: if from == 1 { 0 } else { 1_000 },
                ip_id: Some(turn as u16),
                timestamps: Some(Timestamps { value: 100 + 37 * turn, echo: 90 + 37 * turn.saturating_sub(1) }),
                ..Segment::default()
            };
            if turn % 6 == 3 {
                segment.sack[0] = SackBlock { left: segment.ack.plus(1_000), right: segment.ack.plus(2_000) };
                segment.sack_count = 1;
            }
            segments.push(segment);
        }
        segments
    }

    fn followed(segments: &[Segment]) -> Box<Watch> {
        let mut watch = Box::new(Watch::new(&segments[0]));
        segments.iter().for_each(|segment| _ = watch.sees(segment));
        watch
    }

    #[test]
    fn a_flow_put_down_after_any_segment_goes_on_as_if_nothing_had_happened() {
        let talk = talk();
        let whole = format!("{:?}", followed(&talk).finish());
        assert!(whole.contains("Timeout") || whole.contains("Recovery"), "something was sent again");
        for cut in 1..talk.len() {
            let mut watch = Watch::taken_up(&followed(&talk[..cut]).put_down()).expect("a state");
            talk[cut..].iter().for_each(|segment| _ = watch.sees(segment));
            assert_eq!(format!("{:?}", watch.finish()), whole, "put down after {cut} segments");
        }
    }

    #[test]
    fn what_another_version_wrote_is_refused_and_so_is_what_was_cut() {
        let state = followed(&talk()).put_down();
        let mut other = state.to_vec();
        other[0] += 1;
        let refused = Watch::taken_up(&other).err();
        assert_eq!(refused, Some(StateError::Version(VERSION + 1)));
        let refused = refused.map(|error| error.to_string()).unwrap_or_default();
        assert_eq!(refused, format!("it is of version {}, this tcpstall continues version {VERSION}", VERSION + 1));
        for length in 0..state.len() {
            assert_eq!(Watch::taken_up(&state[..length]).err(), Some(StateError::Damaged), "{length} bytes");
        }
    }

    #[test]
    fn a_flow_that_has_said_little_takes_some_hundred_bytes() {
        let bytes = followed(&talk()[..6]).put_down().len();
        assert!((100..1_000).contains(&bytes), "{bytes} bytes");
    }
}
