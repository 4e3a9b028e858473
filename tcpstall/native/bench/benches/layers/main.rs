//! What each layer costs a packet: `cargo bench -p tcpstall-bench`, or `… -- long/decode` for one of them.
//!
//! Layers add up from top to bottom; the last one is what `tcpstall analyze --format json --no-bursts` does.

mod captures;

use std::collections::HashMap;
use std::fs;
use std::hint::black_box;
use std::io;
use std::ops::ControlFlow;

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion, Throughput, criterion_group, criterion_main};
use tcpstall_core::capture::{Capture, Expansion, Item};
use tcpstall_core::causes::Limits;
use tcpstall_core::engine::{self, Filter, Follower, Opener, RunOptions, Sets};
use tcpstall_core::pause::Watch;
use tcpstall_core::results::report::{ReportWriter, Shape};
use tcpstall_core::results::{FlowRow, Wanted};
use tcpstall_core::time::Nanos;
use tcpstall_core::wire::{self, Segment};

use self::captures::Bytes;

/// Shared with readers that want to own their source.
#[derive(Clone, Copy)]
struct Made {
    pcap: &'static [u8],
    packets: u64,
}

impl From<Bytes> for Made {
    fn from(bytes: Bytes) -> Made {
        Made { packets: bytes.packets, pcap: bytes.pcap.leak() }
    }
}

/// Enough that the flows of the short capture come and go, and that the captures are larger than the second-level cache.
const PACKETS: u64 = 300_000;

fn layers(criterion: &mut Criterion) {
    for (name, capture) in [("long", captures::long(PACKETS)), ("short", captures::short(PACKETS))] {
        let path = format!("{}/{name}.pcap", env!("CARGO_TARGET_TMPDIR"));
        let capture = Made::from(capture);
        fs::write(&path, capture.pcap).expect("the build's own folder takes a file");
        let mut group = criterion.benchmark_group(name);
        group.throughput(Throughput::Elements(capture.packets)).sample_size(10);
        walk(&mut group, capture);
        decode(&mut group, capture);
        state(&mut group, capture, &path);
        group.bench_function("run", |bencher| bencher.iter(|| analysed(&path, &mut |row| _ = black_box(row))));
        json(&mut group, &path);
        group.finish();
    }
}

/// Records alone.
fn walk(group: &mut BenchmarkGroup<'_, WallTime>, capture: Made) {
    group.bench_function("walk", |bencher| {
        bencher.iter(|| {
            let mut reader = opened(capture);
            let mut kept = 0;
            while let Ok(Some(item)) = reader.next() {
                if let Item::Frame(frame) = &item {
                    kept += frame.bytes.len();
                }
            }
            kept
        });
    });
}

/// Records and headers.
fn decode(group: &mut BenchmarkGroup<'_, WallTime>, capture: Made) {
    group.bench_function("decode", |bencher| {
        bencher.iter(|| {
            let mut reader = opened(capture);
            let mut segment = Segment::default();
            let mut payload = 0;
            while let Ok(Some(item)) = reader.next() {
                if let Item::Frame(frame) = &item {
                    payload += wire::decode_into(frame, &mut segment).map_or(0, <[u8]>::len);
                }
            }
            payload
        });
    });
}

/// The flows' state and the evidence of their pauses, for segments that are decoded and sorted by flow.
fn state(group: &mut BenchmarkGroup<'_, WallTime>, capture: Made, path: &str) {
    let mut slots = HashMap::new();
    let mut flows: Vec<Vec<Segment>> = Vec::new();
    let each = |segment: &Segment| {
        let (a, b) = (segment.source, segment.destination);
        let slot = *slots.entry((a.min(b), a.max(b))).or_insert_with(|| {
            flows.push(Vec::new());
            flows.len() - 1
        });
        flows[slot].push(*segment);
    };
    let read = engine::segments(path, each, || false);
    assert_eq!(read.expect("a whole capture").tcp_segments, capture.packets);
    group.bench_function("state", |bencher| {
        bencher.iter(|| {
            for segments in &flows {
                let mut watch = Box::new(Watch::new(&segments[0]));
                for segment in segments {
                    watch.sees(segment);
                }
                black_box(watch.finish());
            }
        });
    });
}

/// Everything, and the printing of rows by itself.
fn json(group: &mut BenchmarkGroup<'_, WallTime>, path: &str) {
    let mut rows = Vec::new();
    analysed(path, &mut |row| rows.push(row.take()));
    group.bench_function("json alone", |bencher| {
        bencher.iter(|| {
            let mut writer = ReportWriter::begin(io::sink(), Shape::Json).expect("a sink takes all");
            rows.iter().for_each(|row| writer.flow(row).expect("a sink takes all"));
            writer.flows()
        });
    });
    group.bench_function("run and json", |bencher| {
        bencher.iter(|| {
            let mut writer = ReportWriter::begin(io::sink(), Shape::Json).expect("a sink takes all");
            analysed(path, &mut |row| writer.flow(row).expect("a sink takes all"));
            writer.flows()
        });
    });
}

fn opened(capture: Made) -> Capture {
    Capture::from_reader(Box::new(capture.pcap))
}

struct Each<'a>(&'a mut dyn FnMut(&mut FlowRow));

impl Follower for Each<'_> {
    fn flow(&mut self, row: &mut FlowRow) -> ControlFlow<()> {
        (self.0)(row);
        ControlFlow::Continue(())
    }

    fn progress(&mut self, _: u64, _: Option<u64>) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

/// A whole run with the command line's usual options.
fn analysed(path: &str, each: &mut dyn FnMut(&mut FlowRow)) {
    let wanted = Wanted { bursts: false, exchanges: true, least_stall: Nanos::ZERO };
    let options = RunOptions {
        filter: Filter::default(),
        limits: Limits::default(),
        wanted,
        expansion: Expansion::default(),
        names: None,
        sets: Sets::default(),
        opener: Opener::default(),
        threads: None,
    };
    let statuses = engine::run(&[path.to_owned()], &options, &mut Each(each));
    assert_eq!(statuses.len(), 1);
}

criterion_group!(benches, layers);
criterion_main!(benches);
