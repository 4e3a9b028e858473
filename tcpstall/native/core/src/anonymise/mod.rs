//! Makes captures and results safe to share: keyed pseudonyms replace addresses, and packets are cut to headers without
//! names.

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
pub use self::packet::{Anonymise, Frame, headers};
pub use self::pseudonyms::{Pseudonyms, Secret};
