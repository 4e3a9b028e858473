//! Whether the follower reads by itself or gets its segments, the flows are the same, in the same order.

use std::io::Cursor;
use std::thread;

use super::super::{Followers, InOrder, More, Numbers, SHARDS};
use super::*;
use crate::capture::{Capture, Expansion};
use crate::causes::Limits;
use crate::engine::{Filter, Opener, Sets};
use crate::results::Wanted;

/// Packets of 40 clients, whose connections last 200 packets: more than a table only keeps.
fn pcap(packets: usize) -> Vec<u8> {
    let header = [0xa1b2_c3d4u32, 0x0004_0002, 0, 0, 65_535, 1];
    let mut file: Vec<u8> = header.into_iter().flat_map(u32::to_le_bytes).collect();
    for packet in 0..packets {
        let (client, sent) = (packet % 40, packet / 40);
        let reset = (sent + client) % 200 == 199;
        let payload = if reset { 0 } else { 100 };
        let mut frame = vec![2; 12];
        frame.extend([8, 0, 0x45, 0, 0, 40 + payload, 0, 0, 0, 0, 64, 6, 0, 0, 10, 0, 0, client as u8, 192, 0, 2, 1]);
        frame.extend((40_000 + (sent / 200) as u16).to_be_bytes());
        frame.extend([0, 80]);
        frame.extend((100 * sent as u32).to_be_bytes());
        frame.extend([0, 0, 0, 1, 0x50, if reset { 4 } else { 0x10 }, 1, 0, 0, 0, 0, 0]);
        let record =
            [packet as u32 / 1_000, packet as u32 % 1_000 * 1_000, frame.len() as u32, 54 + u32::from(payload)];
        file.extend(record.into_iter().flat_map(u32::to_le_bytes));
        file.extend(frame);
    }
    file
}

fn options() -> RunOptions {
    RunOptions {
        filter: Filter::default(),
        limits: Limits::default(),
        wanted: Wanted { bursts: false, exchanges: false, least_stall: crate::time::Nanos::ZERO },
        expansion: Expansion::default(),
        names: None,
        sets: Sets::default(),
        opener: Opener::default(),
        threads: None,
    }
}

fn lane(pcap: &[u8]) -> Lane {
    Lane::new(0, Capture::from_reader(Box::new(Cursor::new(pcap.to_vec()))))
}

/// Adds flows that are over.
fn tell(mut over: InOrder<impl More>, told: &mut Vec<String>) -> Vec<Vec<crate::results::FlowRow>> {
    while let Some((opened, row)) = over.next() {
        told.push(format!("{opened} {:?}", row.map(|row| row.to_json())));
    }
    over.into_rows()
}

/// The flows of the packets, and whether the follower, which gets its segments unless it reads these others, has read
/// something else. Before these batches a table is to be given away.
fn read(packets: &[u8], again: Option<&[u8]>, gives: &[usize]) -> (Vec<String>, bool) {
    let (options, paths) = (options(), [String::from("a.pcap")]);
    let mut statuses = [CaptureStatus::default()];
    let coming = VecDeque::from([Coming { number: 0, opens: NEVER, lane: Some(lane(packets)) }]);
    let mut reader = Reader::new(coming, &paths, &options, &mut statuses);
    let (mut dealer, mut numbers, mut told) = (Dealer::new(0), Numbers::new(0), Vec::new());
    let mut tables: Vec<Table> = (0..SHARDS).map(|shard| Table::new(shard, 0, 0)).collect();
    thread::scope(|scope| {
        let judging = Judging::by(&options);
        let mut followers = match again {
            Some(others) => {
                let again = Again { options: &options, paths: &paths, lane: lane(others), first: 0 };
                Followers::start_reading(scope, &mut tables, judging, again)
            }
            None => Followers::start(scope, &mut tables, judging, 2),
        };
        let mut batches = 0;
        loop {
            let mut batch = Batch::default();
            let filled = reader.fill(&mut batch);
            batch.deal(&mut dealer);
            assert!(followers.take(batch).is_continue());
            let most = if filled == Filled::End { 0 } else { BATCHES - 1 };
            while followers.under_way() > most
                && let Some((_, parts)) = followers.parts(true)
            {
                let over = followers.learns(parts, gives.contains(&batches), &mut dealer, &mut numbers);
                batches += 1;
                let rows = tell(over, &mut told);
                followers.takes_rows(rows);
            }
            if filled == Filled::End {
                break;
            }
        }
        tell(followers.ends(dealer.latest()), &mut told);
        let differs = followers.differs();
        followers.finish();
        (told, differs)
    })
}

#[test]
fn a_follower_that_reads_by_itself_changes_nothing() {
    for packets in [0, 1, 1_000, 1_024, 20_000] {
        let file = pcap(packets);
        let kept = read(&file, None, &[]);
        assert!(kept.0.len() >= packets / 210, "{packets}");
        assert_eq!(read(&file, Some(&file), &[]), kept, "{packets}");
    }
}

#[test]
fn tables_given_away_come_before_the_batch_that_both_know() {
    let file = pcap(20_000);
    let kept = read(&file, None, &[]);
    for gives in [vec![0], vec![3, 4, 5, 6], vec![1, 9, 15, 16], (0..20).collect()] {
        assert_eq!(read(&file, Some(&file), &gives), kept, "{gives:?}");
    }
}

#[test]
fn a_file_that_is_another_one_when_it_is_read_again_is_noticed_and_the_reading_thread_goes_on() {
    let file = pcap(20_000);
    let (kept, _) = read(&file, None, &[]);
    for other in [pcap(0), pcap(7_000), pcap(19_999), pcap(30_000), file[..file.len() / 2].to_vec()] {
        let (told, differs) = read(&file, Some(&other), &[2]);
        assert!(
            differs && told.len() > kept.len() / 4 && told.iter().all(|flow| kept.contains(flow)),
            "{}",
            told.len()
        );
    }
}
