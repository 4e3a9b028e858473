//! Window after an idle period: the old window halved once per timeout, or the initial window.
//!
//! Prior     halved once per retransmission timeout, down to the initial window (RFC 2861; Linux `tcp_cwnd_restart`),
//!           where the model of the congestion window shows that
//! Evidence  a climb begins after a silence longer than the retransmission timer, below the largest flight before it
//! Learnt    once two climbs began this way
//! Source    RFC 5681 §4.1 (no more than the initial window after an idle period longer than the timeout)

use super::growth::GrowthRun;
use super::{BurstAndPause, Observed, Read};

pub(super) fn learn(rounds: &[BurstAndPause], climbs: &[GrowthRun], reads: &mut [Read]) -> Observed<u32> {
    let mut seen = Observed::default();
    for climb in climbs {
        let start = *climb.rounds.start();
        let Some(idle) = rounds[..start].iter().rposition(|round| round.idle) else {
            let is_first = rounds[..start].iter().all(|round| round.out <= rounds[start].out);
            climb.rounds.clone().for_each(|at| reads[at].after_idle = is_first);
            continue;
        };
        // Between the silence and the climb the sender had not waited for an ACK, so the climb begins with the restart.
        if rounds[idle + 1..start].iter().any(|round| round.is_wait() || round.disturbed) {
            continue;
        }
        let since_loss = rounds[..idle].iter().rposition(|round| round.disturbed).map_or(0, |lost| lost + 1);
        let before = rounds[since_loss..=idle].iter().map(|round| round.out).max().unwrap_or(0);
        if rounds[start].out >= before {
            climb.rounds.clone().for_each(|at| reads[at].after_idle = true);
            continue;
        }
        seen = Observed::of(rounds[start].out, seen.times + 1);
        for at in climb.rounds.clone().take_while(|at| rounds[*at].out < before) {
            reads[at].before_idle = Some(before);
        }
    }
    seen
}
