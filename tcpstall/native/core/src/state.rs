//! What is followed put down as bytes, and taken up again later or in another process.

use std::fmt;

use lz4_flex::block::{compress_prepend_size, decompress_size_prepended};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Which state the bytes hold. Raise it with every change of what a flow's or a stream's state is made of.
pub const VERSION: u16 = 6;

/// Why bytes are no state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StateError {
    /// Another version of tcpstall put it down.
    Version(u16),
    /// They were cut or changed.
    Damaged,
}

impl fmt::Display for StateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StateError::Version(version) => {
                write!(f, "it is of version {version}, this tcpstall continues version {VERSION}")
            }
            StateError::Damaged => f.write_str("it was cut or changed"),
        }
    }
}

impl std::error::Error for StateError {}

/// As bytes that begin with the version, 2 bytes, little-endian; the rest is compressed, for times of one flow are much alike.
pub fn put_down(state: &impl Serialize) -> Box<[u8]> {
    // Writing to memory cannot fail.
    let state = postcard::to_stdvec(state).unwrap_or_default();
    [&VERSION.to_le_bytes()[..], &compress_prepend_size(&state)].concat().into_boxed_slice()
}

/// As it was when it was put down.
///
/// # Errors
/// [`StateError::Version`] where another version wrote the bytes, [`StateError::Damaged`] where they are no state.
pub fn taken_up<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, StateError> {
    let (version, state) = bytes.split_first_chunk().ok_or(StateError::Damaged)?;
    let version = u16::from_le_bytes(*version);
    if version != VERSION {
        return Err(StateError::Version(version));
    }
    let state = decompress_size_prepended(state).map_err(|_| StateError::Damaged)?;
    postcard::from_bytes(&state).map_err(|_| StateError::Damaged)
}
