//! A steady run leaves the same state as the whole way, whenever something ends it.

use super::super::calm::tests::flow;
use super::*;

#[test]
fn a_steady_run_leaves_the_state_of_the_whole_way() {
    let (mut data, mut acks, mut left, mut all) = (0, 0, 0, 0);
    for seed in 0..48 {
        let flow = flow(seed, 400, 1 << (seed % 7));
        let (mut watch, mut whole) = (Watch::new(&flow[0]), Watch::new(&flow[0]));
        for (number, segment) in flow.iter().enumerate() {
            whole.run = None;
            let steady = watch.steady.is_some();
            let (seen, expected) = (watch.sees(segment), whole.sees(segment));
            assert_eq!(format!("{seen:?}"), format!("{expected:?}"), "seed {seed}, {number}");
            let kept = usize::from(steady && watch.steady.is_some());
            (data, acks) =
                (data + kept * usize::from(segment.payload > 0), acks + kept * usize::from(segment.payload == 0));
            left += usize::from(steady && watch.steady.is_none());
            all += 1;
            if number % 4 == 0 || watch.steady.is_some() {
                assert!(watch.put_down() == whole.put_down(), "seed {seed}, after {number}: {segment:?}");
            }
        }
        let (finished, expected) = (Box::new(watch).finish(), Box::new(whole).finish());
        assert_eq!(format!("{:?}", finished.pauses), format!("{:?}", expected.pauses), "seed {seed}");
    }
    assert!(data * 10 > all && acks * 25 > all && left > 150, "{data}, {acks} and {left} of {all}");
}
