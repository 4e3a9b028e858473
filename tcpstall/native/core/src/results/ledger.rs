//! The time ledger of a flow: every nanosecond has exactly one owner.

use crate::causes::Cause;
use crate::json::{Print, Text};
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
    const ALL: [Owner; OWNERS] = {
        let mut all = [Owner::Sending; OWNERS];
        let mut place = 0;
        while place < Cause::ALL.len() {
            all[place] = Owner::Waiting(Cause::ALL[place]);
            place += 1;
        }
        (all[place + 1], all[place + 2]) = (Owner::InTransit, Owner::Closing);
        all
    };

    /// Every owner, the causes first.
    pub fn all() -> impl Iterator<Item = Owner> {
        Owner::ALL.into_iter()
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

    /// The causes that own time, and their times.
    pub fn of_causes(&self) -> impl Iterator<Item = (Cause, Nanos)> {
        let times = Cause::ALL.iter().zip(&self.0);
        times.filter(|(_, span)| **span > Nanos::ZERO).map(|(cause, span)| (*cause, *span))
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

impl Print for Ledger {
    fn print(&self, text: &mut Text<'_>) {
        let mut opening = b'{';
        for (owner, span) in Owner::ALL.iter().zip(&self.0) {
            if *span != Nanos::ZERO {
                text.push(opening);
                text.words(owner.name());
                text.push(b':');
                span.print(text);
                opening = b',';
            }
        }
        if opening == b'{' {
            text.push(opening);
        }
        text.push(b'}');
    }
}
