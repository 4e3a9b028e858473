//! A list of large elements that may become long: what it holds is not moved when it grows.

/// Elements of a full chunk.
pub const CHUNK: usize = 16;

/// Elements in order: full chunks, and the newest elements, which no full chunk holds yet.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Chunks<T> {
    full: Vec<Vec<T>>,
    newest: Vec<T>,
}

impl<T> Default for Chunks<T> {
    fn default() -> Chunks<T> {
        Chunks { full: Vec::new(), newest: Vec::new() }
    }
}

impl<T> Chunks<T> {
    /// An empty list in the memory of another, which has room for a chunk at most.
    pub fn renewed(newest: Vec<T>) -> Chunks<T> {
        Chunks { full: Vec::new(), newest }
    }

    /// Number of elements.
    #[inline]
    pub fn count(&self) -> usize {
        self.full.len() * CHUNK + self.newest.len()
    }

    /// Appends an element.
    #[inline]
    pub fn push(&mut self, element: T) {
        if self.newest.len() == self.newest.capacity() {
            self.grow();
        }
        self.newest.push(element);
    }

    /// Most lists never get a second element, and few a chunk.
    #[cold]
    fn grow(&mut self) {
        match self.newest.len() {
            CHUNK.. => self.full.push(std::mem::replace(&mut self.newest, Vec::with_capacity(CHUNK))),
            length => self.newest.reserve_exact(length.max(1).min(CHUNK - length)),
        }
    }

    /// The newest element.
    #[inline]
    pub fn last(&self) -> Option<&T> {
        // A full chunk is put aside only when another element comes.
        self.newest.last()
    }

    /// The element with that number.
    pub fn get(&self, number: usize) -> Option<&T> {
        let newest = self.full.len() * CHUNK;
        match number.checked_sub(newest) {
            Some(number) => self.newest.get(number),
            None => self.full.get(number / CHUNK)?.get(number % CHUNK),
        }
    }

    /// Takes the full chunks out, the oldest first; the newest elements remain.
    pub fn take_full(&mut self) -> Vec<Vec<T>> {
        std::mem::take(&mut self.full)
    }

    /// Number of elements outside full chunks.
    #[inline]
    pub fn loose(&self) -> usize {
        self.newest.len()
    }

    /// All elements in one list after those of `before`, which has room for them.
    pub fn joined_to(self, mut before: Vec<T>) -> Vec<T> {
        if before.is_empty() && self.full.is_empty() {
            return self.newest;
        }
        for chunk in self.full.into_iter().chain([self.newest]) {
            // One by one: each is moved by a few wide registers, and not byte by byte.
            for element in chunk {
                before.push(element);
            }
        }
        before
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_keep_their_order_and_numbers_however_many_there_are() {
        for many in [0_usize, 1, 2, 15, 16, 17, 32, 33, 100] {
            let mut list = Chunks::default();
            (0..many).for_each(|number| list.push(number));
            assert_eq!((list.count(), list.last().copied()), (many, many.checked_sub(1)));
            assert!((0..many).all(|number| list.get(number).copied() == Some(number)));
            assert_eq!(list.get(many), None);
            assert_eq!(list.joined_to(Vec::new()), (0..many).collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_list_of_one_takes_one_place_and_a_long_one_a_chunk_more_at_most() {
        let mut list = Chunks::default();
        list.push(0);
        assert_eq!(list.newest.capacity(), 1);
        (1..100).for_each(|number| list.push(number));
        assert!(list.newest.capacity() <= CHUNK && list.full.iter().all(|chunk| chunk.capacity() == CHUNK));
    }

    #[test]
    fn what_is_taken_out_is_the_oldest() {
        let mut list = Chunks::default();
        (0..40).for_each(|number| list.push(number));
        let oldest = list.take_full().concat();
        assert_eq!((oldest.len(), list.count()), (32, 8));
        assert_eq!(list.joined_to(oldest), (0..40).collect::<Vec<_>>());
    }
}
