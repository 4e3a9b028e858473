//! Lists that may grow long, many of them at once.

/// Below so many elements it is not worth counting.
const SHORT: usize = 16;

/// Appends like `Vec::push`, but a long list grows by a quarter and not to twice its length: of many lists that are open at
/// once, a third would be room for nothing.
#[inline]
pub fn push<T>(list: &mut Vec<T>, element: T) {
    reserve(list, 1);
    list.push(element);
}

/// Room for so many more, in the same way.
#[inline]
pub fn reserve<T>(list: &mut Vec<T>, more: usize) {
    if list.capacity() - list.len() < more {
        grow(list, more);
    }
}

#[cold]
fn grow<T>(list: &mut Vec<T>, more: usize) {
    let length = list.len();
    // The first one alone: most lists never get a second.
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
