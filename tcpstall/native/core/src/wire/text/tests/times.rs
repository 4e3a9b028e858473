//! Tests of every time format.

use super::{reading, segments};
use crate::wire::text::{Paste, TextLine};

const REST: &str = "IP 10.0.0.1.80 > 10.0.0.2.4000: Flags [.], ack 5, win 9, length 0";

/// Microseconds of each line with this time stamp before it.
fn times(stamps: &[&str]) -> Vec<i64> {
    let lines: Vec<String> = stamps.iter().map(|stamp| format!("{stamp} {REST}")).collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    segments(&lines).iter().map(|segment| segment.time.0 / 1000).collect()
}

#[test]
fn a_time_of_day_counts_from_1970_without_a_date() {
    let mut paste = Paste::new();
    paste.line(format!("10:45:49.051409 {REST}").as_bytes());
    assert!(!paste.dated());
    assert_eq!(times(&["10:45:49.051409"]), [38_749_051_409]);
}

#[test]
fn dates_and_epoch_seconds_are_dated() {
    for stamp in ["2024-03-01 10:45:49.051409", "2024-03-01T10:45:49.051409Z", "1709289949.051409"] {
        let mut paste = Paste::new();
        paste.line(format!("{stamp} {REST}").as_bytes());
        assert!(paste.dated(), "{stamp}");
        assert_eq!(times(&[stamp]), [1_709_289_949_051_409], "{stamp}");
    }
}

#[test]
fn leap_days_are_counted() {
    assert_eq!(times(&["2000-02-29 00:00:00.000000"]), [951_782_400_000_000]);
    assert_eq!(times(&["2100-03-01 00:00:00.000000"]), [4_107_542_400_000_000]);
}

#[test]
fn nanoseconds_are_kept() {
    let segments = segments(&[&format!("10:45:49.051409123 {REST}")]);
    assert_eq!(segments[0].time.0, 38_749_051_409_123);
}

#[test]
fn midnight_starts_the_next_day() {
    let day = 86_400_000_000;
    assert_eq!(times(&["23:59:59.900000", "00:00:00.100000"]), [day - 100_000, day + 100_000]);
}

#[test]
fn a_packet_out_of_order_at_midnight_belongs_to_the_evening() {
    let day = 86_400_000_000;
    let times = times(&["23:59:59.900000", "00:00:00.000001", "23:59:59.999999", "00:00:00.000002"]);
    assert_eq!(times, [day - 100_000, day + 1, day - 1, day + 2]);
}

#[test]
fn a_small_step_back_is_not_midnight() {
    assert_eq!(times(&["10:00:00.000002", "10:00:00.000001"]), [36_000_000_002, 36_000_000_001]);
}

#[test]
fn times_since_the_first_packet_stand_as_they_are() {
    assert_eq!(times(&[" 00:00:00.000000", " 00:00:00.000279", " 00:00:00.000288"]), [0, 279, 288]);
}

#[test]
fn times_since_the_packet_before_are_added_up_once_one_falls_back() {
    let stamps = [" 00:00:00.000000", " 00:00:00.000279", " 00:00:00.000009", " 00:00:00.000267"];
    assert_eq!(times(&stamps), [0, 279, 288, 555]);
    assert_eq!(times(&[" 00:00:00.000100", "-00:00:00.000030"]), [100, 70]);
}

#[test]
fn packet_numbers_before_the_time_are_stepped_over() {
    assert_eq!(times(&["    1  10:45:49.051409", "   12  1709289949.051409"]), [38_749_051_409, 1_709_289_949_051_409]);
    assert_eq!(times(&["    1   00:00:00.000000", "    2   00:00:00.000010", "    3   00:00:00.000004"]), [0, 10, 14]);
}

#[test]
fn a_packet_without_a_time_is_damaged() {
    assert_eq!(reading(REST), TextLine::Damaged);
    assert_eq!(reading(&format!("eth0  In  {REST}")), TextLine::Damaged);
    assert_eq!(reading(&format!("25:00:00.000000 {REST}")), TextLine::Damaged);
    assert_eq!(reading(&format!("9999-12-31 00:00:00.000000 {REST}")), TextLine::Damaged);
}
