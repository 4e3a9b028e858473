//! Detects turns whose first burst was cut short with more to send: at which count, and whether the count grows.

use super::evidence::Gap;

/// Acknowledged segments without growth after which a count is no congestion window: a full congestion window grows at
/// the latest after 20 (CUBIC's slowest growth before any loss, Linux `bictcp_update`, cnt = 20), and the count must
/// hold for two such spans.
const NO_GROWTH: u32 = 2 * 20;
/// Consecutive steps of growth before the growth is believed.
const GROWING_STEPS: usize = 2;

/// A turn of the sender.
struct Turn {
    /// The gap after the turn's first burst.
    first: usize,
    /// The gap that ends the turn; the same gap where the turn had one burst.
    end: usize,
    /// Segments of the first burst.
    count: u32,
    /// Most segments in flight at a gap of the turn.
    most: u32,
}

impl Turn {
    fn is_cut(&self) -> bool {
        self.end > self.first
    }
}

/// Gives every gap of a cut turn the evidence of the turns around it.
pub(super) fn find_cut(gaps: &mut [Gap]) {
    let turns = turns(gaps);
    let mut start = 0;
    while start < turns.len() {
        let cap = turns[start].count;
        // An answer that needs no more than the cap is no evidence; a larger answer sent whole shows that there is no
        // cap.
        let same = |turn: &&Turn| if turn.is_cut() { turn.count == cap } else { turn.count <= cap };
        let row = turns[start..].iter().take_while(same).count().max(1);
        let cut = || turns[start..start + row].iter().filter(|turn| turn.is_cut());
        let alike = cut().count() as u32;
        for turn in cut() {
            note_cap(&mut gaps[turn.first..turn.end], cap, alike);
        }
        start += row;
    }
    note_growth(gaps, &turns);
}

/// Splits the gaps into turns. A turn that was cut inside a segment, or whose next burst no ACK released, breaks the
/// row.
fn turns(gaps: &[Gap]) -> Vec<Turn> {
    let begins = |index: usize| match index.checked_sub(1) {
        Some(before) => gaps[before].first || gaps[before].is_turn(),
        None => !gaps[0].first,
    };
    let mut turns = Vec::new();
    for first in (0..gaps.len()).filter(|&index| begins(index)) {
        let gap = &gaps[first];
        let after = gaps[first..].iter().position(|gap| gap.is_turn() || !gap.ended);
        let end = after.map_or(gaps.len(), |after| first + after);
        let known = end == first || (gap.released_by_ack() && is_whole(gap));
        let most = gaps[first..end].iter().map(|gap| gap.segments_at_start).max().unwrap_or(0);
        turns.push(Turn { first, end, count: if known { gap.segments_at_start } else { u32::MAX }, most });
    }
    turns
}

fn is_whole(gap: &Gap) -> bool {
    gap.flight_at_start % i64::from(gap.mss.max(1)) == 0
}

/// Notes the cap on bursts at the gaps of one turn. After a partial ACK a capped sender may have as much in flight as
/// at that ACK plus the cap: each ACK releases one cap.
fn note_cap(turn: &mut [Gap], count: u32, alike: u32) {
    if count.saturating_mul(alike) < NO_GROWTH || count == u32::MAX {
        return;
    }
    // A send buffer of this size holds every later flight of the turn at that level too.
    if turn[1..].iter().any(|gap| gap.segments_at_start == count && gap.before.acks > 1) {
        return;
    }
    for (index, gap) in turn.iter_mut().enumerate() {
        let burst = gap.before.bytes.div_ceil(u64::from(gap.mss.max(1)));
        let capped = index == 0 || (is_whole(gap) && burst == u64::from(count) * u64::from(gap.before.acks));
        if capped && gap.released_by_ack() {
            gap.context.turns_cut_alike = alike;
            gap.context.cut_at = Some(count);
        }
    }
}

/// Notes growth: only a congestion window lets each turn begin with a little more than the one before, until one is
/// sent whole.
fn note_growth(gaps: &mut [Gap], turns: &[Turn]) {
    let grows = |pair: &[Turn]| {
        let (now, next) = (&pair[0], &pair[1]);
        now.is_cut() && next.count > now.count && (!next.is_cut() || next.count <= now.most.saturating_mul(2))
    };
    let mut start = 0;
    while start < turns.len() {
        let steps = turns[start..].windows(2).take_while(|pair| grows(pair)).count();
        if steps >= GROWING_STEPS {
            for turn in &turns[start..=start + steps] {
                for gap in gaps[turn.first..turn.end].iter_mut() {
                    gap.context.cut_grows = is_whole(gap) && gap.segments_at_start >= turn.count;
                }
            }
        }
        start += steps + 1;
    }
}
