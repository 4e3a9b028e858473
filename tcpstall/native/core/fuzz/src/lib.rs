//! What the targets share: bytes through the whole pipeline, with what must hold of any report.

mod frames;
mod promises;
mod trip;

pub use frames::capture_of;
pub use trip::{Taken, analyse, taken};
