//! Parts of a long connection: each is reported by itself, and the next one continues from the state at its end.

use super::{Connection, Half};

impl Connection {
    /// The connection from its latest segment on, with what is known of it and no past.
    #[must_use]
    pub fn next_part(self) -> Connection {
        Connection {
            start: self.end,
            segments: 0,
            options_cut: 0,
            continues: true,
            halves: self.halves.map(Half::next_part),
            ..self
        }
    }
}
