//! Converts tcpdump's five time formats into one capture clock.

use super::cursor::Cursor;
use crate::time::Nanos;

const SECOND: i64 = 1_000_000_000;
const MINUTE: i64 = 60 * SECOND;
const DAY: i64 = 86_400 * SECOND;

/// Decrease of a time of day from which it has passed midnight: captures are in order to within seconds.
const PAST_MIDNIGHT: i64 = DAY / 2;

/// Increase of a time of day from which it belongs to the evening before: packets are out of order at midnight.
const EVENING_BEFORE: i64 = DAY - 60 * MINUTE;

/// A time stamp in a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stamp {
    /// Time since the epoch: `-tt`, or `-tttt` read as UTC.
    Epoch(Nanos),
    /// `HH:MM:SS`: a time of day, or a span with `-ttt` or `-ttttt`; `blank` if a blank came before it.
    OfDay { span: Nanos, blank: bool },
    /// A negative span, as `-ttt` writes for a packet that is older than the one before it.
    Back(Nanos),
}

/// The time at the start of a line (or after the packet number of `-#`), and the text after it.
pub(super) fn stamp(line: &[u8]) -> Option<(Stamp, &[u8])> {
    let text = line.trim_ascii_start();
    let blank = text.len() < line.len();
    stamp_at(text, blank).or_else(|| {
        let mut cursor = Cursor::new(text);
        cursor.number()?;
        cursor.run(|byte| matches!(byte, b':' | b'.' | b')' | b'|'));
        let blanks = cursor.run(|byte| byte == b' ').len();
        // `-#` itself writes two blanks after the number.
        if blanks == 0 { None } else { stamp_at(cursor.rest, blanks > 2) }
    })
}

fn stamp_at(text: &[u8], blank: bool) -> Option<(Stamp, &[u8])> {
    let mut cursor = Cursor::new(text);
    let stamp = if cursor.take(b"-") {
        Stamp::Back(of_day(&mut cursor)?)
    } else if text.get(2) == Some(&b':') {
        Stamp::OfDay { span: of_day(&mut cursor)?, blank }
    } else if text.get(4) == Some(&b'-') {
        let days = date(&mut cursor)?;
        if !cursor.take(b" ") && !cursor.take(b"T") {
            return None;
        }
        let time = of_day(&mut cursor)?;
        cursor.take(b"Z");
        Stamp::Epoch(Nanos(days * DAY) + time)
    } else {
        let seconds = cursor.number()?;
        let digits = cursor.take(b".").then(|| cursor.run(|byte| byte.is_ascii_digit()))?;
        // tcpdump writes micro- or nanoseconds; anything else is a version number, an address or a duration.
        if !matches!(digits.len(), 6 | 9) {
            return None;
        }
        Stamp::Epoch(Nanos(i64::from(seconds) * SECOND) + fraction(digits)?)
    };
    match cursor.rest.first() {
        None | Some(b' ') => Some((stamp, cursor.rest.trim_ascii_start())),
        Some(_) => None,
    }
}

/// `HH:MM:SS` with up to nine decimals.
fn of_day(cursor: &mut Cursor<'_>) -> Option<Nanos> {
    let hours = cursor.number().filter(|&hours| hours < 24)?;
    let minutes = cursor.take(b":").then(|| cursor.number())?.filter(|&minutes| minutes < 60)?;
    let seconds = cursor.take(b":").then(|| cursor.number())?.filter(|&seconds| seconds <= 60)?;
    let whole = Nanos(i64::from(hours * 3600 + minutes * 60 + seconds) * SECOND);
    if cursor.take(b".") {
        return Some(whole + fraction(cursor.run(|byte| byte.is_ascii_digit()))?);
    }
    Some(whole)
}

fn fraction(digits: &[u8]) -> Option<Nanos> {
    if digits.is_empty() || digits.len() > 9 {
        return None;
    }
    let value = digits.iter().fold(0, |value, digit| value * 10 + i64::from(digit - b'0'));
    Some(Nanos(value * 10_i64.pow(9 - digits.len() as u32)))
}

/// `YYYY-MM-DD` in days since 1970-01-01 (Gregorian calendar).
fn date(cursor: &mut Cursor<'_>) -> Option<i64> {
    // Nanoseconds in 64 bits end in 2262.
    let year = i64::from(cursor.number().filter(|year| (1970..2262).contains(year))?);
    let month = cursor.take(b"-").then(|| cursor.number())?.filter(|month| (1..=12).contains(month))?;
    let day = cursor.take(b"-").then(|| cursor.number())?.filter(|day| (1..=31).contains(day))?;
    let leap_days = |year: i64| year / 4 - year / 100 + year / 400;
    let is_leap = leap_days(year) > leap_days(year - 1);
    const BEFORE_MONTH: [i64; 12] = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334];
    let leap_day = i64::from(is_leap && month > 2);
    let years = (year - 1970) * 365 + leap_days(year - 1) - leap_days(1969);
    Some(years + BEFORE_MONTH[month as usize - 1] + leap_day + i64::from(day) - 1)
}

/// Converts the time stamps of a paste into times.
///
/// A time of day without a date counts from 1970-01-01 and passes midnight where it decreases by half a day.
///
/// `-ttttt` (since the first packet) looks like a time of day. `-ttt` (since the packet before) can be recognised only
/// when a time decreases, which time since the first packet does not. Until then both are read alike, so the first few
/// packets may get too early a time, each by no more than the gaps before it; from then on the gaps are added up.
#[derive(Debug, Default)]
pub(super) struct PrintedClock {
    dated: bool,
    days: i64,
    /// The last time of day, if there was one.
    last: Option<Nanos>,
    /// The sum of all times of day so far: the time, if they are gaps.
    sum: Nanos,
    /// The first time was 0, or small after a blank: gaps are possible.
    may_be_gaps: bool,
    gaps: bool,
}

impl PrintedClock {
    /// True if the paste has dates.
    pub(super) fn dated(&self) -> bool {
        self.dated
    }

    /// The time of the next packet.
    pub(super) fn moment(&mut self, stamp: Stamp) -> Nanos {
        match stamp {
            Stamp::Epoch(moment) => {
                self.dated = true;
                moment
            }
            Stamp::OfDay { span, blank } => self.of_day(span, blank),
            Stamp::Back(span) => {
                self.gaps = true;
                self.sum = self.sum - span;
                self.sum
            }
        }
    }

    fn of_day(&mut self, span: Nanos, blank: bool) -> Nanos {
        let Some(last) = self.last.replace(span) else {
            self.may_be_gaps = span == Nanos::ZERO || blank && span.0 < MINUTE;
            self.sum += span;
            return self.sum;
        };
        self.sum += span;
        let ahead = (span - last).0;
        if self.may_be_gaps && ahead < 0 && -ahead < PAST_MIDNIGHT {
            self.gaps = true;
        }
        if self.gaps {
            return self.sum;
        }
        if ahead < -PAST_MIDNIGHT {
            self.days += 1;
        } else if ahead > EVENING_BEFORE && self.days > 0 {
            self.days -= 1;
        }
        Nanos(self.days.saturating_mul(DAY)) + span
    }
}
