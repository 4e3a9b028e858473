//! Serialises the state of open flows to bytes and restores it later, or in another process.

use std::fmt;

use lz4_flex::block::{compress_prepend_size, decompress_size_prepended};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Version of the serialised state. Raise it with every change to the structure of a flow's or a stream's state.
pub const VERSION: u16 = 43;

/// Largest growth of a byte of an LZ4 block when decompressed (lz4_Block_format.md: a length grows by 255 for each
/// further byte).
const MOST_GROWTH: usize = 256;

/// Reason why bytes are not a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StateError {
    /// Another version of tcpstall wrote the bytes.
    Version(u16),
    /// The bytes were cut or changed.
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

/// Serialises `state`: the version as 2 bytes, little-endian, then the state, compressed because the times of one flow
/// resemble each other.
pub fn put_down(state: &impl Serialize) -> Box<[u8]> {
    // Writing to memory cannot fail.
    let state = postcard::to_stdvec(state).unwrap_or_default();
    [&VERSION.to_le_bytes()[..], &compress_prepend_size(&state)].concat().into_boxed_slice()
}

/// Restores the state that [`put_down`] wrote.
///
/// # Errors
/// [`StateError::Version`] where another version wrote the bytes, [`StateError::Damaged`] where the bytes are no state.
pub fn taken_up<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, StateError> {
    let (version, state) = bytes.split_first_chunk().ok_or(StateError::Damaged)?;
    let version = u16::from_le_bytes(*version);
    if version != VERSION {
        return Err(StateError::Version(version));
    }
    let claimed = state.first_chunk().map_or(0, |size| u32::from_le_bytes(*size) as usize);
    if claimed > MOST_GROWTH * state.len() {
        return Err(StateError::Damaged);
    }
    let state = decompress_size_prepended(state).map_err(|_| StateError::Damaged)?;
    postcard::from_bytes(&state).map_err(|_| StateError::Damaged)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_claims_to_grow_beyond_what_lz4_can_is_refused_before_memory_is_taken() {
        let mut bytes = put_down(&vec![7_u8; 1_000]).to_vec();
        assert_eq!(taken_up::<Vec<u8>>(&bytes), Ok(vec![7; 1_000]));
        bytes[2..6].copy_from_slice(&u32::MAX.to_le_bytes());
        assert_eq!(taken_up::<Vec<u8>>(&bytes), Err(StateError::Damaged));
    }
}
