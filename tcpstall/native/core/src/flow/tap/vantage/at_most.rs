//! The distance as the ACKs of the other end's data measure it: it is at most as long.

use super::{Proof, Vantage};
use crate::time::Nanos;

impl Vantage {
    /// Takes in a measurement of the same path by an ACK without payload: neither an application nor a busy host has made an
    /// estimate that it confirms longer than the path.
    #[inline]
    pub fn is_at_most(&mut self, now: Nanos, span: Nanos) {
        self.is_at_most_by_answer(now, span);
        if !self.confirmed {
            self.confirmed = self.shortest.is_usual(span);
        }
    }

    /// Takes in a measurement by a kernel's acknowledgement that came with an answer.
    #[inline]
    pub fn is_at_most_by_answer(&mut self, now: Nanos, span: Nanos) {
        self.proof = Proof::Host;
        if self.shortest.get().is_none_or(|least| span < least) {
            self.sample(now, span);
        }
    }

    /// An ACK without payload has taken as long as the estimate, or hardly longer.
    pub(in crate::flow) fn is_confirmed(&self) -> bool {
        self.confirmed
    }

    /// Takes in such a measurement by an application's answer, which may have waited for it.
    pub fn is_at_most_with_thought(&mut self, now: Nanos, span: Nanos) {
        self.proof = if self.is_proven() { self.proof } else { Proof::Application };
        if self.shortest.get().is_none_or(|least| span < least) {
            self.offers(now, span);
        }
    }
}
