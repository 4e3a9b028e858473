//! Puts the stalls of both senders in one order of time.

use super::super::rows::StallRow;
use crate::few::Few;

/// Sorts the stalls by their start. Those of one sender are in order already, so their places are two runs to merge; a row
/// takes hundreds of bytes, and is moved to its place at last.
pub(super) fn by_time(stalls: &mut [StallRow]) {
    let key = |stall: &StallRow| (stall.start_ns, stall.sender as u8, stall.end_ns);
    if stalls.is_sorted_by_key(key) {
        return;
    }
    let mut sources: Few<u32, 16> = (0..stalls.len() as u32).collect();
    sources.sort_by_key(|&source| key(&stalls[source as usize]));
    for place in 0..stalls.len() {
        let mut source = sources[place] as usize;
        // The row that was at a filled place went to where the row for that place had been.
        while source < place {
            source = sources[source] as usize;
        }
        sources[place] = source as u32;
        if source != place {
            stalls.swap(place, source);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::causes::Cause;
    use crate::flow::End;
    use crate::time::Nanos;

    fn stall(sender: End, start: i64) -> StallRow {
        StallRow {
            number: start as u64,
            sender,
            start_ns: Nanos(start),
            end_ns: Nanos(start + 1),
            duration_ns: Nanos(1),
            ended: true,
            then_bytes: 0,
            cause: Cause::Unexplained,
            detail: "",
            confidence: 0.0,
            also: Few::new(),
            missing: Vec::new(),
            evidence: Default::default(),
            round_trip: Default::default(),
            attempts: Vec::new(),
            advice: "",
        }
    }

    #[test]
    fn stalls_of_both_senders_are_merged_however_they_interleave() {
        for pattern in 0..1 << 10 {
            let of = |sender: End| move |at: &i64| (pattern >> at & 1 == 1) == (sender == End::Client);
            let own = |sender: End| (0..10).filter(of(sender)).map(move |at| stall(sender, at));
            let mut stalls: Vec<StallRow> = own(End::Client).chain(own(End::Server)).collect();
            by_time(&mut stalls);
            assert!(stalls.iter().map(|stall| stall.number).eq(0..10));
            stalls.reverse();
            by_time(&mut stalls);
            assert!(stalls.iter().map(|stall| stall.number).eq(0..10));
        }
    }
}
