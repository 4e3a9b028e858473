//! A stream serialised after its files, to be continued with the next files: later, and in another process.

use serde::{Deserialize, Serialize};

use super::reader::interfaces::Interfaces;
use super::reader::{Ending, Reader};
use super::shards::{KeptFlows, Shards};
use super::table::entry::Entry;
use crate::state::{self, StateError};

/// State that the reading of the next files continues from.
pub struct StreamState {
    captures: Vec<String>,
    numbers: Vec<u32>,
    interfaces: Vec<String>,
    ending: Ending,
    table: KeptFlows<Entry>,
}

/// The serialised form; the flows were serialised in their own thread.
#[derive(Serialize, Deserialize)]
struct Bytes<E> {
    /// Captures that the flows refer to, by their former numbers.
    captures: Vec<(u32, String)>,
    /// Interfaces that the flows refer to.
    interfaces: Vec<String>,
    ending: E,
    table: Vec<u8>,
}

impl StreamState {
    /// The captures of a serialised stream, by the names that they had then; its flows are not restored.
    ///
    /// # Errors
    /// Those of [`state::taken_up`].
    pub fn names(bytes: &[u8]) -> Result<Vec<String>, StateError> {
        let Bytes::<Ending> { captures, .. } = state::taken_up(bytes)?;
        Ok(captures.into_iter().map(|(_, name)| name).collect())
    }

    /// Restores a serialised stream.
    ///
    /// # Errors
    /// Those of [`state::taken_up`].
    pub fn taken_up(bytes: &[u8]) -> Result<StreamState, StateError> {
        let Bytes { captures, interfaces, ending, table } = state::taken_up(bytes)?;
        let table = postcard::from_bytes(&table).map_err(|_| StateError::Damaged)?;
        let (numbers, captures) = captures.into_iter().unzip();
        Ok(StreamState { captures, numbers, interfaces, ending, table })
    }

    /// The captures in which its flows began, by the names that they had when the stream was serialised.
    pub fn captures(&self) -> &[String] {
        &self.captures
    }

    /// Restores the state of the flows and the reader.
    pub(super) fn goes_on<'a>(self, shards: Shards, reader: Reader<'a>) -> (Shards, Reader<'a>) {
        let StreamState { numbers, interfaces, mut ending, table: kept, .. } = self;
        let now = |then: u32| numbers.iter().position(|number| *number == then).unwrap_or(0) as u32;
        ending.held.files.renumber(now);
        (shards.with(kept, now), reader.behind(ending, Interfaces::restored(interfaces)))
    }
}

/// Serialises the state of the reader and the flows of a stream.
pub(super) fn put_down(paths: &[String], reader: &mut Reader<'_>, shards: &mut Shards) -> Option<Vec<u8>> {
    let (ending, (table, mut numbers)) = reader.ending.take().zip(shards.take_kept())?;
    numbers.extend(ending.held.files.numbers());
    let name = |number: u32| Some((number, paths.get(number as usize)?.clone()));
    let captures = numbers.into_iter().filter_map(name).collect();
    let interfaces = reader.interfaces.texts().to_vec();
    Some(state::put_down(&Bytes { captures, interfaces, ending, table }).into_vec())
}
