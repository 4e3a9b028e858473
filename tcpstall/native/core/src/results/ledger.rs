//! The time ledger of a flow: every nanosecond has exactly one owner.

use serde::ser::{Serialize, SerializeMap, Serializer};

use crate::causes::Cause;
use crate::time::Nanos;

/// Owner of a stretch of a flow's time: a cause, or one of the three states in which nobody waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// A sender waited because of this cause.
    Waiting(Cause),
    /// An end is sending.
    Sending,
    /// A request, a response or its last ACK is in flight, and neither end could send.
    InTransit,
    /// The time after the last new data of both ends.
    Closing,
}

/// Number of owners.
pub const OWNERS: usize = Cause::ALL.len() + 3;

impl Owner {
    /// Every owner, the causes first.
    pub fn all() -> impl Iterator<Item = Owner> {
        Cause::ALL.into_iter().map(Owner::Waiting).chain([Owner::Sending, Owner::InTransit, Owner::Closing])
    }

    /// Position in [`Owner::all`].
    pub const fn index(self) -> usize {
        match self {
            Owner::Waiting(cause) => cause as usize,
            Owner::Sending => Cause::ALL.len(),
            Owner::InTransit => Cause::ALL.len() + 1,
            Owner::Closing => Cause::ALL.len() + 2,
        }
    }

    /// Key in the report.
    pub const fn name(self) -> &'static str {
        match self {
            Owner::Waiting(cause) => cause.name(),
            Owner::Sending => "sending",
            Owner::InTransit => "in-transit",
            Owner::Closing => "closing",
        }
    }
}

/// Time of each owner.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ledger([Nanos; OWNERS]);

impl Ledger {
    /// Adds `span` to `owner`; a negative span counts as zero.
    pub fn add(&mut self, owner: Owner, span: Nanos) {
        self.0[owner.index()] += span.or_zero();
    }

    /// Time of `owner`.
    pub fn of(&self, owner: Owner) -> Nanos {
        self.0[owner.index()]
    }

    /// Moves `span`, or as much of it as there is, from one owner to another.
    pub fn passes(&mut self, from: Owner, to: Owner, span: Nanos) {
        let span = span.min(self.of(from));
        self.0[from.index()] = self.of(from) - span;
        self.add(to, span);
    }

    /// Time owned by causes.
    pub fn lost(&self) -> Nanos {
        self.0[..Cause::ALL.len()].iter().fold(Nanos::ZERO, |sum, span| sum + *span)
    }
}

impl Serialize for Ledger {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for owner in Owner::all() {
            let span = self.of(owner);
            if span != Nanos::ZERO {
                map.serialize_entry(owner.name(), &span)?;
            }
        }
        map.end()
    }
}
