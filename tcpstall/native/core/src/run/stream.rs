//! A stream put down where its files end, to go on with the files that come next: later, and in another process.

use serde::{Deserialize, Serialize};

use super::entry::Entry;
use super::reader::{Ending, Reader};
use super::table::{Kept, Table};
use crate::state::{self, StateError};

/// All that a reading of the files so far leaves to the reading of the next ones.
pub struct Stream {
    captures: Vec<String>,
    numbers: Vec<u32>,
    ending: Ending,
    table: Kept<Entry>,
}

/// As it is put down; the flows were turned into bytes where they were followed.
#[derive(Serialize, Deserialize)]
struct Bytes<E> {
    /// Captures that are named by what follows, by their numbers then.
    captures: Vec<(u32, String)>,
    ending: E,
    table: Vec<u8>,
}

impl Stream {
    /// The stream that was put down.
    ///
    /// # Errors
    /// Those of [`state::taken_up`].
    pub fn taken_up(bytes: &[u8]) -> Result<Stream, StateError> {
        let Bytes { captures, ending, table } = state::taken_up(bytes)?;
        let table = postcard::from_bytes(&table).map_err(|_| StateError::Damaged)?;
        let (numbers, captures) = captures.into_iter().unzip();
        Ok(Stream { captures, numbers, ending, table })
    }

    /// The captures in which its flows began, as they were named to whoever put it down.
    pub fn captures(&self) -> &[String] {
        &self.captures
    }

    /// The table and the reader with what was put down.
    pub(super) fn goes_on<'a>(self, table: Table, reader: Reader<'a>) -> (Table, Reader<'a>) {
        let Stream { numbers, mut ending, table: kept, .. } = self;
        let now = |then: u32| numbers.iter().position(|number| *number == then).unwrap_or(0) as u32;
        ending.held.files.renumber(now);
        (table.with(kept, now), reader.behind(ending))
    }
}

/// What the reader and the table of a stream left, as bytes.
pub(super) fn put_down(paths: &[String], reader: &mut Reader<'_>, table: &mut Table) -> Option<Vec<u8>> {
    let (ending, (table, mut numbers)) = reader.ending.take().zip(table.take_kept())?;
    numbers.extend(ending.held.files.numbers());
    let name = |number: u32| Some((number, paths.get(number as usize)?.clone()));
    let captures = numbers.into_iter().filter_map(name).collect();
    Some(state::put_down(&Bytes { captures, ending, table }).into_vec())
}
