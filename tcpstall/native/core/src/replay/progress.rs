//! Progress of one end's data: when each tenth of it had arrived.

use crate::time::Nanos;

/// Parts of the data.
const PARTS: usize = 10;

/// Times from the start of the connection until each part of the data but the last had arrived.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress([Nanos; PARTS - 1]);

impl Progress {
    /// Progress of `bytes`, by the time when everything below an offset had arrived.
    pub(super) fn of(bytes: i64, arrived: impl Fn(i64) -> Nanos) -> Progress {
        let mut times = [Nanos::ZERO; PARTS - 1];
        for (part, time) in (1..).zip(&mut times) {
            *time = arrived(1 + bytes / PARTS as i64 * part);
        }
        Progress(times)
    }

    /// Largest distance of two from each other.
    pub(super) fn distance(&self, other: &Progress) -> Nanos {
        let apart = self.0.iter().zip(&other.0).map(|(own, other)| Nanos((*own - *other).0.abs()));
        apart.max().unwrap_or_default()
    }
}
