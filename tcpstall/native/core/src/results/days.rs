//! Rows of one table of a store, a Parquet file for each UTC day.

use std::collections::BTreeMap;

use super::columns::values::Values;
use super::columns::{Column, Columns};
use super::parquet::File;

const DAY_NS: i64 = 86_400_000_000_000;
/// Most days at once, a year's: a damaged clock could ask for thousands of files. Rows of further days join the day that has
/// most rows then.
const MOST: usize = 366;

/// Rows by the day in which they began.
#[derive(Debug, Default)]
pub struct Days {
    days: BTreeMap<i64, Day>,
}

/// Rows of a day, those of further days included where there are too many of these.
#[derive(Debug)]
pub struct Day {
    /// Days since 1970.
    pub day: i64,
    /// Number of rows.
    pub rows: usize,
    /// Least start.
    pub from_ns: i64,
    /// Greatest start.
    pub to_ns: i64,
    file: File,
}

impl Day {
    fn new(day: i64) -> Day {
        Day { day, rows: 0, from_ns: i64::MAX, to_ns: i64::MIN, file: File::default() }
    }

    fn add(&mut self, columns: &Columns, starts: &[i64]) {
        self.rows += starts.len();
        self.from_ns = starts.iter().copied().fold(self.from_ns, i64::min);
        self.to_ns = starts.iter().copied().fold(self.to_ns, i64::max);
        self.file.add(columns);
    }

    /// The content of the file.
    pub fn finish(self) -> Vec<u8> {
        self.file.finish()
    }
}

impl Days {
    /// Adds rows, which have a column `start_ns`.
    pub fn add(&mut self, columns: &Columns) {
        let starts = columns.iter().find_map(|column| match &column.values {
            Values::Integers(numbers) if column.name == "start_ns" => Some(numbers.all()),
            _ => None,
        });
        let starts = starts.unwrap_or_default();
        if let [first, rest @ ..] = starts
            && rest.iter().all(|start| day_of(*start) == day_of(*first))
        {
            return self.of(day_of(*first)).add(columns, starts);
        }
        let mut by_day: BTreeMap<i64, Vec<usize>> = BTreeMap::new();
        for (row, start) in starts.iter().enumerate() {
            by_day.entry(day_of(*start)).or_default().push(row);
        }
        for (day, rows) in by_day {
            let of_day =
                columns.iter().map(|column| Column { name: column.name.clone(), values: column.values.select(&rows) });
            let starts: Vec<i64> = rows.iter().filter_map(|&row| starts.get(row).copied()).collect();
            self.of(day).add(&of_day.collect(), &starts);
        }
    }

    fn of(&mut self, day: i64) -> &mut Day {
        let is_one_too_many = self.days.len() >= MOST && !self.days.contains_key(&day);
        let largest = self.days.values().max_by_key(|day| day.rows).map(|day| day.day);
        let day = largest.filter(|_| is_one_too_many).unwrap_or(day);
        self.days.entry(day).or_insert_with(|| Day::new(day))
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.days.values().map(|day| day.rows).sum()
    }

    /// Memory, bytes.
    pub fn size(&self) -> usize {
        self.days.values().map(|day| day.file.size()).sum()
    }

    /// The days in order.
    pub fn finish(self) -> impl Iterator<Item = Day> {
        self.days.into_values()
    }
}

/// Days since 1970.
fn day_of(start_ns: i64) -> i64 {
    start_ns.div_euclid(DAY_NS)
}
