//! What the targets share: bytes through the whole pipeline, with what must hold of any report.

mod again;
mod frames;
mod promises;
mod trip;

pub use again::copied;
pub use frames::capture_of;
pub use trip::{Taken, analyse, taken};
