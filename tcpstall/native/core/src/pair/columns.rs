//! Turns rows of packets into columns.

use super::rows::{Delay, PacketEvent, Recovery};
use crate::results::columns::values::Values;
use crate::results::columns::{Column, Columns};

fn integers<R>(name: &str, rows: &[R], value: impl Fn(&R) -> Option<i64>) -> Column {
    Column { name: name.to_owned().into(), values: Values::Integers(rows.iter().map(value).collect()) }
}

fn texts<R>(name: &str, rows: &[R], value: impl Fn(&R) -> &'static str) -> Column {
    Column { name: name.to_owned().into(), values: Values::Texts(rows.iter().map(|row| Some(value(row))).collect()) }
}

fn number(packet: Option<u64>) -> Option<i64> {
    packet.map(|packet| packet as i64)
}

/// Table with one event of a packet per row.
pub fn events(rows: &[PacketEvent]) -> Columns {
    vec![
        integers("flow", rows, |row| Some(row.flow as i64)),
        texts("sender", rows, |row| row.sender.name()),
        texts("kind", rows, |row| row.kind),
        integers("time_ns", rows, |row| Some(row.time_ns)),
        integers("sent_packet", rows, |row| number(row.sent_packet)),
        integers("seen_packet", rows, |row| number(row.seen_packet)),
        integers("seq", rows, |row| Some(row.seq)),
        integers("bytes", rows, |row| Some(row.bytes)),
        integers("late_ns", rows, |row| row.late_ns),
        integers("repair_sent_packet", rows, |row| row.repair.map(|(sent, _)| sent as i64)),
        integers("repair_seen_packet", rows, |row| number(row.repair.and_then(|(_, seen)| seen))),
    ]
}

/// Table with one delay per row.
pub fn delays(rows: &[Delay]) -> Columns {
    vec![
        integers("flow", rows, |row| Some(row.flow as i64)),
        integers("from_server", rows, |row| Some(row.sender as i64)),
        integers("time_ns", rows, |row| Some(row.time_ns)),
        integers("delay_ns", rows, |row| Some(row.delay_ns)),
        integers("sent_packet", rows, |row| Some(row.sent_packet as i64)),
        integers("seen_packet", rows, |row| Some(row.seen_packet as i64)),
        integers("bytes", rows, |row| Some(i64::from(row.bytes))),
    ]
}

/// Table with one recovery per row.
pub fn recoveries(rows: &[Recovery]) -> Columns {
    vec![
        integers("flow", rows, |row| Some(row.flow as i64)),
        integers("from_server", rows, |row| Some(row.sender as i64)),
        integers("data", rows, |row| Some(i64::from(row.data))),
        integers("start_ns", rows, |row| Some(row.start_ns)),
        integers("end_ns", rows, |row| Some(row.end_ns)),
    ]
}
