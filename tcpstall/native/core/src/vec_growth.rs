//! Growth of lists that may become long, when thousands of them are open at once, and the memory of lists that are no
//! longer needed.

use std::collections::VecDeque;

/// Length up to which a list doubles: the memory saved on a shorter list is too small to matter.
const SHORT: usize = 16;

/// Appends like `Vec::push`, but a long list grows by a quarter instead of to twice its length: with doubling, a third
/// of the memory of many open lists would be empty.
#[inline]
pub fn push<T>(list: &mut Vec<T>, element: T) {
    reserve(list, 1);
    list.push(element);
}

/// Reserves room for `more` elements, with the same growth.
#[inline]
pub fn reserve<T>(list: &mut Vec<T>, more: usize) {
    if list.capacity() - list.len() < more {
        grow(list, more);
    }
}

/// An empty list in the memory of one that is no longer needed, where that has room for `most` elements at most.
pub fn emptied<T>(past: &mut Vec<T>, most: usize) -> Vec<T> {
    let mut list = std::mem::take(past);
    if list.capacity() > most {
        return Vec::new();
    }
    list.clear();
    list
}

/// The same for a queue.
pub fn emptied_queue<T>(past: &mut VecDeque<T>, most: usize) -> VecDeque<T> {
    let mut queue = std::mem::take(past);
    if queue.capacity() > most {
        return VecDeque::new();
    }
    queue.clear();
    queue
}

#[cold]
fn grow<T>(list: &mut Vec<T>, more: usize) {
    let length = list.len();
    // The first element gets room for one alone: most lists never get a second.
    list.reserve_exact(more.max(if length < SHORT { length } else { length / 4 }));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_one_takes_one_place_and_a_long_one_a_quarter_more_at_most() {
        let mut list = Vec::new();
        push(&mut list, 0);
        assert_eq!(list.capacity(), 1);
        for element in 1..10_000 {
            push(&mut list, element);
            assert!(list.capacity() <= (list.len() * 5 / 4).max(2 * SHORT));
        }
        assert!(list.iter().copied().eq(0..10_000));
    }
}
