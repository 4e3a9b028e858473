//! Lists that are short in nearly every flow: a short one lies where its owner lies, and takes no memory from the heap.

use smallvec::SmallVec;

/// A list with room for `N` elements in place.
pub type Few<T, const N: usize = 4> = SmallVec<[T; N]>;
