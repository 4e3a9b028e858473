//! Lists of rows that were handed on: the next rows take over their memory, also where another thread makes them.

use std::mem;

use super::rows::{FlowRow, StallRow};
use crate::exchange::Exchange;

/// Most elements that a list which is kept has room for: most flows have a stall, their handshake, and an exchange.
const SMALL: usize = 2;
/// Most lists of a kind that are kept: as many short flows end in a batch.
const MOST: usize = 256;

/// Empty lists that have room.
#[derive(Default)]
pub struct SpareLists {
    stalls: Vec<Vec<StallRow>>,
    exchanges: Vec<Vec<Exchange>>,
}

impl SpareLists {
    /// An empty list with room for that many stalls.
    pub(super) fn stalls(&mut self, room: usize) -> Vec<StallRow> {
        with_room(&mut self.stalls, room)
    }

    /// An empty list with room for that many exchanges.
    pub(super) fn exchanges(&mut self, room: usize) -> Vec<Exchange> {
        with_room(&mut self.exchanges, room)
    }

    /// Takes in the lists of a row that was handed on.
    pub fn takes(&mut self, row: &mut FlowRow) {
        keep(&mut self.stalls, mem::take(&mut row.stalls));
        keep(&mut self.exchanges, row.exchanges.take().unwrap_or_default());
    }
}

impl FlowRow {
    /// Drops the lists that no other row takes over.
    pub fn drops_long_lists(&mut self) {
        if self.stalls.capacity() > SMALL {
            self.stalls = Vec::new();
        }
        self.exchanges.take_if(|list| list.capacity() > SMALL);
        (self.bursts, self.rtt_spikes) = (None, Vec::new());
    }
}

fn with_room<T>(lists: &mut Vec<Vec<T>>, room: usize) -> Vec<T> {
    if room == 0 {
        return Vec::new();
    }
    lists.pop_if(|list| list.capacity() >= room).unwrap_or_else(|| Vec::with_capacity(room))
}

fn keep<T>(lists: &mut Vec<Vec<T>>, mut list: Vec<T>) {
    if (1..=SMALL).contains(&list.capacity()) && lists.len() < MOST {
        list.clear();
        lists.push(list);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_that_is_kept_is_small_empty_and_has_the_room_that_is_asked_for() {
        let mut lists = vec![Vec::<u8>::with_capacity(1)];
        assert_eq!(with_room(&mut lists, 0).capacity(), 0);
        assert_eq!((with_room(&mut lists, 2).capacity(), lists.len()), (2, 1));
        keep(&mut lists, vec![7]);
        keep(&mut lists, vec![7; SMALL + 1]);
        keep(&mut lists, Vec::new());
        assert_eq!((lists.len(), with_room(&mut lists, 1)), (2, Vec::new()));
        (0..2 * MOST).for_each(|_| keep(&mut lists, vec![7]));
        assert_eq!(lists.len(), MOST);
    }
}
