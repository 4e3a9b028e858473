//! Detects turns whose first burst was cut short with more to send: at which count, and whether the count grows.

use super::super::evidence::Facts;
use super::super::pauses::Context;
use super::per_ack;

/// Acknowledged segments without growth after which a count is no congestion window: a full congestion window grows at
/// the latest after 20 (CUBIC's slowest growth before any loss, Linux `bictcp_update`, cnt = 20), and the count must
/// hold for two such spans.
const NO_GROWTH: u32 = 2 * 20;
/// Consecutive steps of growth before the growth is believed.
const GROWING_STEPS: usize = 2;

/// A turn of the sender.
struct Turn {
    /// The pause after the turn's first burst.
    first: usize,
    /// The pause that ends the turn; the same pause where the turn had one burst.
    end: usize,
    /// Segments of the first burst.
    count: u32,
    /// Bytes of the first burst.
    bytes: i64,
    /// Most segments in flight at a pause of the turn.
    most: u32,
}

impl Turn {
    fn is_cut(&self) -> bool {
        self.end > self.first
    }
}

/// Finds caps on the first bursts of turns, and on what each ACK lets go.
pub(super) fn find(pauses: &[Facts], contexts: &mut [Context]) {
    find_cut(pauses, contexts);
    per_ack::find(pauses, contexts);
}

/// Gives every pause of a cut turn the evidence of the turns around it.
fn find_cut(pauses: &[Facts], contexts: &mut [Context]) {
    // There are no more turns than pauses, and no larger count than the most segments in flight.
    let most = pauses.iter().map(|pause| pause.segments_at_start).max().unwrap_or(0);
    if pauses.len() <= GROWING_STEPS && most.saturating_mul(pauses.len() as u32) < NO_GROWTH {
        return;
    }
    let turns = turns(pauses);
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
            note_cap(&pauses[turn.first..turn.end], &mut contexts[turn.first..], cap, alike);
        }
        start += row;
    }
    note_growth(pauses, contexts, &turns);
}

/// Splits the pauses into turns. A turn that was cut inside a segment, or whose next burst no ACK released, breaks the
/// row.
fn turns(pauses: &[Facts]) -> Vec<Turn> {
    let begins = |index: usize| match index.checked_sub(1) {
        Some(before) => pauses[before].first || pauses[before].is_turn(),
        None => !pauses[0].first,
    };
    let mut turns = Vec::new();
    for first in (0..pauses.len()).filter(|&index| begins(index)) {
        let pause = &pauses[first];
        let after = pauses[first..].iter().position(|pause| pause.is_turn() || !pause.ended);
        let end = after.map_or(pauses.len(), |after| first + after);
        let known = end == first || (pause.released_by_ack() && is_whole(pause));
        let most = pauses[first..end].iter().map(|pause| pause.segments_at_start).max().unwrap_or(0);
        let count = if known { pause.segments_at_start } else { u32::MAX };
        turns.push(Turn { first, end, count, bytes: pause.flight_at_start, most });
    }
    turns
}

fn is_whole(pause: &Facts) -> bool {
    pause.flight_at_start % i64::from(pause.mss.max(1)) == 0
}

/// Notes the cap on bursts at the pauses of one turn. After a partial ACK a capped sender may have as much in flight as
/// at that ACK plus the cap: each ACK releases one cap.
fn note_cap(turn: &[Facts], contexts: &mut [Context], count: u32, alike: u32) {
    if count.saturating_mul(alike) < NO_GROWTH || count == u32::MAX {
        return;
    }
    // A send buffer of this size holds every later flight of the turn at that level too.
    if turn[1..].iter().any(|pause| pause.segments_at_start == count && pause.before.acks > 1) {
        return;
    }
    for (index, (pause, context)) in turn.iter().zip(contexts).enumerate() {
        let burst = pause.before.bytes.div_ceil(u64::from(pause.mss.max(1)));
        let capped = index == 0 || (is_whole(pause) && burst == u64::from(count) * u64::from(pause.before.acks));
        if capped && pause.released_by_ack() {
            context.turns_cut_alike = alike;
            context.cut_at = Some(count);
        }
    }
}

/// Notes growth: only a congestion window lets each turn begin with a little more than the one before, until one is
/// sent whole. More segments of the same bytes are none: a full buffer holds those of a short write as well.
fn note_growth(pauses: &[Facts], contexts: &mut [Context], turns: &[Turn]) {
    let grows = |pair: &[Turn]| {
        let (now, next) = (&pair[0], &pair[1]);
        let more = next.count > now.count && next.bytes > now.bytes;
        now.is_cut() && more && (!next.is_cut() || next.count <= now.most.saturating_mul(2))
    };
    let mut start = 0;
    while start < turns.len() {
        let steps = turns[start..].windows(2).take_while(|pair| grows(pair)).count();
        if steps >= GROWING_STEPS {
            for turn in &turns[start..=start + steps] {
                for (pause, context) in pauses[turn.first..turn.end].iter().zip(&mut contexts[turn.first..]) {
                    context.cut_grows = is_whole(pause) && pause.segments_at_start >= turn.count;
                }
            }
        }
        start += steps + 1;
    }
}
