//! Captures and results that may be shared: keyed pseudonyms for addresses, and packets cut to headers that name nobody.

mod carried;
mod checksum;
mod ip;
mod link;
mod options;
mod packet;
mod pseudonyms;
mod special;
#[cfg(test)]
mod tests;

pub use self::link::bare;
pub use self::packet::{Disguise, Frame, headers};
pub use self::pseudonyms::{Pseudonyms, Secret};
