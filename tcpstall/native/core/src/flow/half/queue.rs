//! A queue whose elements lie in one piece: taking elements off its front moves a mark, and the places in front of the
//! mark are used again only when there is no other left.

use std::fmt;
use std::ops::{Deref, DerefMut};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::vec_growth;

/// Divisor of the places: from this part of them on, free places at the front are used again before the queue grows.
const FREE_PART: usize = 4;

/// A queue, and as a slice its elements from the oldest to the newest.
#[derive(Clone)]
pub(in crate::flow) struct Queue<T> {
    places: Vec<T>,
    /// Places at the front whose elements were taken off.
    free: usize,
}

impl<T> Default for Queue<T> {
    fn default() -> Queue<T> {
        Queue { places: Vec::new(), free: 0 }
    }
}

impl<T: fmt::Debug> fmt::Debug for Queue<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T> Deref for Queue<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        self.places.get(self.free..).unwrap_or_default()
    }
}

impl<T> DerefMut for Queue<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        self.places.get_mut(self.free..).unwrap_or_default()
    }
}

impl<T> Queue<T> {
    /// Appends the newest element.
    #[inline]
    pub(in crate::flow) fn push(&mut self, element: T) {
        if self.places.len() == self.places.capacity() {
            self.uses_free_places();
        }
        self.places.push(element);
    }

    /// Puts an element before the oldest.
    #[cold]
    pub(in crate::flow) fn push_first(&mut self, element: T) {
        self.places.insert(self.free, element);
    }

    #[cold]
    fn uses_free_places(&mut self) {
        if self.free > 0 && self.free >= self.places.len() / FREE_PART {
            self.places.drain(..self.free);
            self.free = 0;
        }
    }

    /// Number of elements.
    #[inline]
    pub(in crate::flow) fn len(&self) -> usize {
        self.places.len() - self.free
    }

    /// Takes the oldest `count` elements off.
    #[inline]
    pub(in crate::flow) fn forget(&mut self, count: usize) {
        self.free += count;
        if self.free >= self.places.len() {
            self.places.clear();
            self.free = 0;
        }
    }

    /// Elements for which there is memory.
    pub(in crate::flow) fn capacity(&self) -> usize {
        self.places.capacity()
    }

    /// Returns unused memory.
    pub(in crate::flow) fn shrink(&mut self) {
        self.places.drain(..self.free);
        self.free = 0;
        self.places.shrink_to_fit();
    }

    /// An empty queue in the memory of this one, where that has room for `most` elements at most.
    pub(in crate::flow) fn emptied(&mut self, most: usize) -> Queue<T> {
        Queue { places: vec_growth::emptied(&mut std::mem::take(self).places, most), free: 0 }
    }
}

impl<T: Serialize> Serialize for Queue<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (**self).serialize(serializer)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Queue<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Queue<T>, D::Error> {
        Ok(Queue { places: Vec::deserialize(deserializer)?, free: 0 })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use super::*;

    #[test]
    fn elements_leave_in_the_order_in_which_they_came_and_memory_stays_within_twice_the_most() {
        let (mut queue, mut expected, mut most, mut seed) = (Queue::default(), VecDeque::new(), 4, 1_u64);
        for step in 0..50_000_u32 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            if seed >> 63 == 0 || expected.len() > 300 {
                let count = (seed >> 40) as usize % (expected.len() + 1);
                queue.forget(count);
                expected.drain(..count);
            } else {
                for element in step..step + (seed >> 50) as u32 % 60 {
                    queue.push(element);
                    expected.push_back(element);
                }
            }
            most = most.max(expected.len());
            assert_eq!(*queue, *expected.make_contiguous());
            assert!(queue.capacity() <= most * 2 * FREE_PART / (FREE_PART - 1), "{} for {most}", queue.capacity());
        }
        queue.shrink();
        assert_eq!((queue.capacity(), &*queue), (expected.len(), &*expected.make_contiguous()));
    }
}
