//! One interface of a pcapng section: its link type, its clock and its drop counters.

use super::options::BlockOptions;
use crate::capture::link::LinkType;
use crate::capture::order::ByteOrder;
use crate::time::Nanos;

const NANOS_PER_SECOND: u64 = 1_000_000_000;

/// The Interface Description Block, and the interface's reported drops since.
pub(super) struct Interface {
    pub(super) link: LinkType,
    /// Largest number of bytes kept of a packet, 0 for no limit.
    pub(super) snap_length: u32,
    pub(super) clock: InterfaceClock,
    /// Name that the capturing host has for it (`if_name`), where the block states one.
    pub(super) name: Option<Box<str>>,
    /// Number among all named interfaces of the file, counting from 1; 0 for one without a name.
    pub(super) key: u64,
    /// Drops that were reported already; statistics blocks count from the start of the capture.
    dropped: u64,
}

impl Interface {
    /// Reads the block's body.
    pub(super) fn described(order: ByteOrder, body: &[u8]) -> Option<Interface> {
        const FIXED: usize = 8;
        const NAME: u16 = 2;
        const TIME_RESOLUTION: u16 = 9;
        const TIME_OFFSET: u16 = 14;
        let link = LinkType(order.u16(*body.first_chunk()?));
        let [_, snap_length] = order.words(body)?;
        let mut clock = InterfaceClock { unit: Unit::Times(1_000), offset: Nanos::ZERO };
        let mut name = None;
        for (code, value) in BlockOptions::after(FIXED, order, body) {
            match (code, value) {
                (NAME, value) => name = named(value),
                (TIME_RESOLUTION, [resolution, ..]) => clock.unit = Unit::of(*resolution),
                (TIME_OFFSET, value) => {
                    let seconds = value.first_chunk().map_or(0, |field| order.u64(*field) as i64);
                    clock.offset = Nanos(seconds.saturating_mul(NANOS_PER_SECOND as i64));
                }
                _ => {}
            }
        }
        Some(Interface { link, snap_length, clock, name, key: 0, dropped: 0 })
    }

    /// Drops by the interface and by the system since the statistics block before. `None` where the block counts none
    /// of them.
    pub(super) fn newly_dropped(&mut self, order: ByteOrder, body: &[u8]) -> Option<u64> {
        const FIXED: usize = 12;
        const BY_INTERFACE: u16 = 5;
        const BY_SYSTEM: u16 = 7;
        let total = BlockOptions::after(FIXED, order, body)
            .filter(|(code, _)| matches!(*code, BY_INTERFACE | BY_SYSTEM))
            .filter_map(|(_, value)| value.first_chunk())
            .map(|count| order.u64(*count))
            .reduce(u64::saturating_add)?;
        let new = total.saturating_sub(self.dropped);
        self.dropped += new;
        Some(new)
    }
}

/// The text of a name, of which some writers keep the 0 at its end.
fn named(value: &[u8]) -> Option<Box<str>> {
    /// Longest name kept, bytes: Linux's have 15, Windows' about 50.
    const LONGEST: usize = 128;
    let text = value.split(|byte| *byte == 0).next()?;
    let text = String::from_utf8_lossy(&text[..text.len().min(LONGEST)]);
    (!text.is_empty()).then(|| text.into())
}

/// The clock of an interface.
#[derive(Clone, Copy, Debug)]
pub(super) struct InterfaceClock {
    unit: Unit,
    /// Added to every time (`if_tsoffset`).
    offset: Nanos,
}

/// Ratio of a tick to a nanosecond.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unit {
    /// Nanoseconds per tick.
    Times(u64),
    /// Ticks per nanosecond.
    Over(u64),
    /// Power of 2 of the ticks per second.
    Binary(u32),
}

impl Unit {
    /// The unit of the option `if_tsresol`: a negative power of 10, or of 2 where the top bit is set.
    fn of(resolution: u8) -> Unit {
        const NANOSECONDS: u32 = 9;
        let power = u32::from(resolution & 0x7f);
        if resolution & 0x80 != 0 {
            Unit::Binary(power)
        } else if power <= NANOSECONDS {
            Unit::Times(10u64.pow(NANOSECONDS - power))
        } else {
            // Finer than 10^-28 s, 64 bits of ticks never reach a nanosecond.
            Unit::Over(10u64.checked_pow(power - NANOSECONDS).unwrap_or(u64::MAX))
        }
    }
}

impl InterfaceClock {
    /// The time after this number of ticks; a time beyond 64 bits of nanoseconds becomes the largest.
    #[inline]
    pub(super) fn time(&self, ticks: u64) -> Nanos {
        let nanos = match self.unit {
            Unit::Times(factor) => ticks.saturating_mul(factor),
            Unit::Over(divisor) => ticks / divisor,
            Unit::Binary(power) => {
                let nanos = (u128::from(ticks) * u128::from(NANOS_PER_SECOND)).checked_shr(power);
                u64::try_from(nanos.unwrap_or(0)).unwrap_or(u64::MAX)
            }
        };
        Nanos(i64::try_from(nanos).unwrap_or(i64::MAX)) + self.offset
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time(resolution: u8, ticks: u64) -> i64 {
        InterfaceClock { unit: Unit::of(resolution), offset: Nanos::ZERO }.time(ticks).0
    }

    #[test]
    fn ticks_are_powers_of_ten_or_two() {
        assert_eq!(time(0, 5), 5_000_000_000);
        assert_eq!(time(6, 1_000_001), 1_000_001_000);
        assert_eq!(time(9, 1_700_000_000_123_456_789), 1_700_000_000_123_456_789);
        assert_eq!(time(12, 5_999), 5);
        assert_eq!(time(0x80, 3), 3_000_000_000);
        assert_eq!(time(0x80 | 10, 1536), 1_500_000_000);
        assert_eq!(time(0x80 | 32, 0x1_4000_0000), 1_250_000_000);
    }

    #[test]
    fn no_resolution_and_no_tick_count_overflows() {
        for resolution in 0..=u8::MAX {
            for ticks in [0, 1, u64::MAX] {
                assert!(time(resolution, ticks) >= 0);
            }
        }
        assert_eq!(time(6, u64::MAX), i64::MAX);
        assert_eq!(time(127, u64::MAX), 1);
    }
}
