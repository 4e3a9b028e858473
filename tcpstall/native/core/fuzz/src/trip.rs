//! Bytes on their way through the core: read alone, and with everything that a report needs.

use std::io::{Cursor, Read};
use std::num::NonZero;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::LazyLock;

use tcpstall_core::capture::{Capture, CaptureError, Expansion, Item};
use tcpstall_core::causes::Limits;
use tcpstall_core::engine::{self, Filter, Follower, Opener, RunOptions, Sets};
use tcpstall_core::results::report::{ReportWriter, Shape};
use tcpstall_core::results::sort::SortOrder;
use tcpstall_core::results::{FlowRow, Wanted, columns};
use tcpstall_core::time::Nanos;

use crate::promises;

/// What a capture gave: enough to tell two readings apart.
#[derive(Debug, PartialEq, Eq)]
pub struct Taken {
    /// Items, and their bytes in all.
    pub items: (u64, u64),
    /// Of the items' times, lengths and places.
    pub sum: u64,
    /// Why it ended.
    pub error: Option<CaptureError>,
}

/// Gives `most` bytes a read and a signal now and then, as pipes do.
struct Drip {
    bytes: Cursor<Vec<u8>>,
    most: usize,
    reads: u32,
}

impl Read for Drip {
    fn read(&mut self, to: &mut [u8]) -> std::io::Result<usize> {
        self.reads += 1;
        if self.reads.is_multiple_of(3) {
            return Err(std::io::ErrorKind::Interrupted.into());
        }
        let most = self.most.min(to.len());
        self.bytes.read(&mut to[..most])
    }
}

/// Reads a capture to its end, `most` bytes at a time.
pub fn taken(bytes: &[u8], most: usize) -> Taken {
    let source = Drip { bytes: Cursor::new(bytes.to_vec()), most, reads: 0 };
    let mut capture = Capture::from_reader(Box::new(source));
    let mut taken = Taken { items: (0, 0), sum: 0, error: None };
    loop {
        let (length, what) = match capture.next() {
            Ok(Some(Item::Frame(frame))) => {
                assert!(frame.wire_length as usize >= frame.bytes.len());
                (frame.bytes.len(), frame.packet.0 ^ frame.time.0 as u64 ^ u64::from(frame.wire_length))
            }
            Ok(Some(Item::Line(line))) => (line.len(), u64::from(line.last().copied().unwrap_or(0))),
            Ok(Some(Item::Dropped(packets))) => (0, packets),
            Ok(Some(Item::LeftOut | Item::Block)) => (0, 1),
            Ok(None) => break,
            Err(CaptureError::Interrupted) => continue,
            Err(error) => {
                taken.error = Some(error);
                assert!(!matches!(capture.next(), Ok(Some(_))), "there are no packets after an error");
                break;
            }
        };
        taken.items = (taken.items.0 + 1, taken.items.1 + length as u64);
        taken.sum = (taken.sum ^ what).wrapping_mul(0x100_0000_01b3);
    }
    assert!(capture.offset() <= bytes.len() as u64);
    taken
}

struct Keeper {
    rows: Vec<FlowRow>,
    writers: [ReportWriter<Vec<u8>>; 2],
}

impl Follower for Keeper {
    fn flow(&mut self, row: &mut FlowRow) -> ControlFlow<()> {
        promises::of_flow(row);
        self.writers.iter_mut().for_each(|writer| writer.flow(row).expect("memory takes it"));
        self.rows.push(row.take());
        ControlFlow::Continue(())
    }

    fn progress(&mut self, _: u64, _: Option<u64>) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

/// The run reads files, so each round writes one; two fuzzers side by side need two.
static FILE: LazyLock<PathBuf> =
    LazyLock::new(|| std::env::temp_dir().join(format!("tcpstall-fuzz-{}", std::process::id())));

/// Bytes to every table, JSON and CSV.
pub fn analyse(bytes: &[u8]) {
    std::fs::write(&*FILE, bytes).expect("the folder for temporary files takes a file");
    let path = FILE.to_string_lossy().into_owned();
    let options = RunOptions {
        filter: Filter::default(),
        limits: Limits { link_bytes_per_s: Some(125_000_000), ..Limits::default() },
        wanted: Wanted { bursts: true, exchanges: true, least_stall: Nanos::ZERO },
        expansion: Expansion::default(),
        names: None,
        sets: Sets::default(),
        opener: Opener::default(),
        threads: None,
    };
    let mut keeper = Keeper { rows: Vec::new(), writers: [Shape::Json, Shape::Csv].map(begin) };
    let statuses = engine::run(std::slice::from_ref(&path), &options, &mut keeper);
    promises::of_capture(&statuses[0], &keeper.rows);
    let Keeper { mut rows, writers } = keeper;
    writers.into_iter().for_each(|writer| writer.end(&statuses, &mut |_, _| Ok(None)).expect("memory takes it"));
    for order in [SortOrder::Lost, SortOrder::Duration, SortOrder::Bytes, SortOrder::Start, SortOrder::Stalls] {
        order.sort(&mut rows);
    }
    let tables = [columns::flows(&rows), columns::bursts(&rows), columns::stalls(&rows), columns::exchanges(&rows)];
    assert!(tables.iter().all(|table| !table.is_empty()));
    if let Some(row) = rows.first() {
        // A capture that ends early gives samples of what came before, so this fails only where the run failed.
        let samples = engine::samples(std::slice::from_ref(&path), &[row.id], &options);
        assert!(samples.is_ok() || statuses[0].error.is_some(), "{samples:?}");
    }
    twice(&path, options);
}

/// The same capture twice, as one stream: side by side all the way, or one after the other where its clock runs back.
fn twice(path: &str, options: RunOptions) {
    let options = RunOptions { sets: Sets { of: vec![0, 0], ..Sets::default() }, threads: NonZero::new(1), ..options };
    let mut keeper = Keeper { rows: Vec::new(), writers: [Shape::Json, Shape::Csv].map(begin) };
    let statuses = engine::run(&[path.to_owned(), path.to_owned()], &options, &mut keeper);
    assert_eq!(statuses.iter().map(|status| status.packets).collect::<Vec<_>>(), [statuses[0].packets; 2]);
    assert_eq!(statuses[0].error, statuses[1].error);
}

fn begin(shape: Shape) -> ReportWriter<Vec<u8>> {
    ReportWriter::begin(Vec::new(), shape).expect("memory takes it")
}
