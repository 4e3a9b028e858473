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
pub struct Ledger {
    times: [Nanos; OWNERS],
    /// A bit for each owner of any time, by its index: a short flow has a handful of them.
    owners: u32,
}

const _: () = assert!(OWNERS <= u32::BITS as usize);

impl Ledger {
    /// Adds `span` to `owner`; a negative span counts as zero.
    pub fn add(&mut self, owner: Owner, span: Nanos) {
        let (index, span) = (owner.index(), span.or_zero());
        self.times[index] += span;
        self.owners |= u32::from(span > Nanos::ZERO) << index;
    }

    /// Time of `owner`.
    pub fn of(&self, owner: Owner) -> Nanos {
        self.times[owner.index()]
    }

    /// The owners of any time, and their times.
    fn owned(&self) -> impl Iterator<Item = (Owner, Nanos)> {
        let mut left = self.owners;
        std::iter::from_fn(move || {
            let index = left.trailing_zeros() as usize;
            let owner = *Owner::ALL.get(index)?;
            left &= left - 1;
            Some((owner, self.times[index]))
        })
    }

    /// The causes that own time, and their times.
    pub fn of_causes(&self) -> impl Iterator<Item = (Cause, Nanos)> {
        self.owned().map_while(|(owner, span)| match owner {
            Owner::Waiting(cause) => Some((cause, span)),
            Owner::Sending | Owner::InTransit | Owner::Closing => None,
        })
    }

    /// Moves `span`, or as much of it as there is, from one owner to another.
    pub fn passes(&mut self, from: Owner, to: Owner, span: Nanos) {
        let span = span.min(self.of(from));
        if span == Nanos::ZERO {
            return;
        }
        let left = self.of(from) - span;
        self.times[from.index()] = left;
        self.owners &= !(u32::from(left == Nanos::ZERO) << from.index());
        self.add(to, span);
    }

    /// Time owned by causes.
    pub fn lost(&self) -> Nanos {
        self.of_causes().fold(Nanos::ZERO, |sum, (_, span)| sum + span)
    }
}

impl Print for Ledger {
    fn print(&self, text: &mut Text<'_>) {
        let mut opening = b'{';
        for (owner, span) in self.owned() {
            text.push(opening);
            text.words(owner.name());
            text.push(b':');
            span.print(text);
            opening = b',';
        }
        if opening == b'{' {
            text.push(opening);
        }
        text.push(b'}');
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::text_of;

    #[test]
    fn only_owners_of_time_are_listed_whatever_was_passed_between_them() {
        let (sending, window) = (Owner::Sending, Owner::Waiting(Cause::RwndLimited));
        let mut ledger = Ledger::default();
        assert_eq!(text_of(&ledger), "{}");
        ledger.add(Owner::Closing, Nanos(-1));
        ledger.add(sending, Nanos(5));
        ledger.passes(sending, window, Nanos(2));
        assert_eq!(text_of(&ledger), r#"{"rwnd-limited":2,"sending":3}"#);
        ledger.passes(sending, window, Nanos(9));
        assert_eq!(text_of(&ledger), r#"{"rwnd-limited":5}"#);
        assert_eq!(ledger.of_causes().collect::<Vec<_>>(), [(Cause::RwndLimited, Nanos(5))]);
        assert_eq!((ledger.lost(), ledger.of(sending)), (Nanos(5), Nanos::ZERO));
    }
}
