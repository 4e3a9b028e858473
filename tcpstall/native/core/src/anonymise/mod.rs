//! Makes captures and results safe to share: keyed pseudonyms replace addresses, and packets are cut to headers without
//! names.

mod cache;
mod carried;
mod checksum;
mod frame;
mod ip;
mod link;
mod options;
mod packet;
mod pseudonyms;
mod special;
#[cfg(test)]
mod tests;

pub use self::frame::{Anonymise, AnonymisedFrame, headers};
pub use self::link::bare;
pub use self::pseudonyms::{Pseudonyms, Secret};
