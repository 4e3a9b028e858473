//! The smallest of several answers' times.

use super::disorder::IN_DISORDER;
use super::min_rtt::ESTABLISHED;
use crate::time::Nanos;

/// Divisor of the handshake's time: the part by which an answer must be sooner, besides [`HOST`], to be exceptional. Either the
/// path has become shorter, as the next answers will show, or the answer was measured from a packet that the capture
/// holds too late: one in [`LONE`] answers.
const SOONER: i64 = 50;
const HOST: Nanos = Nanos::from_micros(100);
const LONE: u32 = 8;

/// The smallest of several answers' times, and their number.
#[derive(Clone, Copy, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Shortest {
    least: Option<Nanos>,
    samples: u32,
    /// Excess of the usual answer over the smallest, among answers that a capture in disorder may have made the
    /// smallest.
    above: Nanos,
    /// Time of the answer in the handshake, where a kernel answers at once.
    handshake: Option<Nanos>,
    /// Smallest of the answers that were not much sooner than the handshake's, and the number of sooner ones.
    plain: Option<Nanos>,
    sooner: u32,
}

impl Shortest {
    /// The smallest time, `None` before the first answer.
    #[inline]
    pub fn get(&self) -> Option<Nanos> {
        self.least
    }

    /// The smallest time, or before the first answer the handshake's.
    #[inline]
    pub fn or_handshake(&self) -> Option<Nanos> {
        self.least.or(self.handshake)
    }

    /// The usual time, where packets are at times `late`, so that the smallest may be too small by as much, and where
    /// the other leg of the handshake took `other` too long.
    #[inline]
    pub fn usual(&self, late: Nanos, other: Nanos) -> Option<Nanos> {
        let least = self.least?;
        let usual = least + self.above.min(late);
        match self.handshake.zip(self.plain) {
            Some((handshake, plain)) if plain > usual && self.sooner <= self.samples / LONE => {
                Some(if self.deserves_belief(least, handshake, plain, other) { plain } else { usual })
            }
            _ => Some(usual),
        }
    }

    /// The answers sooner than the `plain` ones do not show the path.
    fn deserves_belief(&self, least: Nanos, handshake: Nanos, plain: Nanos, other: Nanos) -> bool {
        // The packet between both legs was late: one leg is too long by the amount that the other is too short.
        let shared = other > HOST && plain - handshake >= other.scaled(0.5) && plain - handshake <= other + HOST;
        let lone = least < handshake - slack(handshake) && plain - least <= IN_DISORDER;
        shared || lone
    }

    /// The kernel's answer in the handshake took twice as long as the smallest at most.
    pub fn is_confirmed(&self) -> bool {
        self.handshake.zip(self.least).is_some_and(|(handshake, least)| handshake <= least + least + HOST)
    }

    /// Excess of the handshake's answer over the smallest.
    pub fn opening_excess(&self) -> Nanos {
        self.handshake.zip(self.least).map_or(Nanos::ZERO, |(handshake, least)| (handshake - least).or_zero())
    }

    /// Takes in that the answer in the handshake took `span`.
    pub fn opened(&mut self, span: Nanos) {
        self.handshake = self.handshake.or(Some(span));
    }

    /// Number of answers.
    #[inline]
    pub fn samples(&self) -> u32 {
        self.samples
    }

    /// An answer after `span` took hardly longer than the smallest.
    #[inline]
    pub(super) fn is_usual(&self, span: Nanos) -> bool {
        self.least.is_some_and(|least| span - least <= slack(least))
    }

    /// Number of answers that speak for the level before the last answer. Neither an application nor a timer delays the answer
    /// in the handshake: another one that took as long shows that both took the path's time.
    #[inline]
    pub fn witnesses(&self) -> u32 {
        let as_long = |(handshake, plain): (Nanos, Nanos)| plain <= handshake + slack(handshake);
        let confirmed = self.sooner <= 1 && self.handshake.zip(self.plain).is_some_and(as_long);
        if confirmed { self.samples.max(ESTABLISHED) } else { self.samples }
    }

    /// Takes in an answer after `span`.
    #[inline]
    pub fn sample(&mut self, span: Nanos) {
        if span < Nanos::ZERO {
            return;
        }
        self.samples = self.samples.saturating_add(1);
        let least = self.least.unwrap_or(span);
        if let Some(handshake) = self.handshake {
            let sooner = handshake - span;
            if sooner > HOST && sooner > slack(handshake) {
                self.sooner += 1;
            } else if self.plain.is_none_or(|plain| span < plain) {
                self.plain = Some(span);
            }
        }
        if span <= least {
            self.above += least - span;
            self.least = Some(span);
        } else if span - least < IN_DISORDER {
            // Gain of 1/8, as in RFC 6298.
            self.above = self.above.plus((span - least - self.above).part(8));
        }
    }
}

fn slack(handshake: Nanos) -> Nanos {
    handshake.part(SOONER).max(HOST)
}
