//! Tests of the model alone: each replay takes the necessary number of round trips.

mod bbr;
mod bbr3;
mod together;

use super::*;
use crate::replay::change::Change;
use crate::replay::setup::{
    BufferLevel, Control, Earlier, FrameBuffer, HostSetup, LostAcks, QueueDepth, Reuse, Span, WindowGrowth,
    WindowOpening, WriteStep,
};
use crate::replay::view::View;

const RTT: Nanos = Nanos::from_millis(100);

fn end(steps: Vec<WriteStep>) -> HostSetup {
    HostSetup {
        steps,
        mss: 1_000,
        cuts_frames: false,
        initial_window: 10,
        control: Control::Cubic,
        idle_restart: true,
        nagle: true,
        send_buffer: Vec::new(),
        wakes_by_rule: false,
        frames: None,
        one_segment: false,
        pace: None,
        speed: None,
        losses: Vec::new(),
        lost_acks: Vec::new(),
        held: Vec::new(),
        late_starts: Vec::new(),
        loss_share: 0.0,
        delayed_ack: Nanos::from_millis(40),
        delays_always: false,
        openings: vec![WindowOpening { arrived: 1, edge: 1 << 24, after: Nanos::ZERO }],
        growth: None,
        most_out: 0,
        reads: None,
        rate: None,
        queue: None,
    }
}

/// A request of 100 bytes, and the response after `think`.
fn download(bytes: i64, think: Nanos) -> Setup {
    let request = WriteStep { heard: 0, pause: Nanos::ZERO, bytes: 100 };
    let response = WriteStep { heard: 101, pause: think, bytes };
    Setup {
        ends: [end(vec![request]), end(vec![response])],
        rtt: RTT,
        opening: Nanos::ZERO,
        lost_handshake: false,
        sack: true,
        seed: 0,
        earlier: Earlier::Unknown,
        reuse: None,
        spans: vec![Span { asked: None, answered: 1 + bytes }],
    }
}

fn rounds(setup: &Setup) -> f64 {
    let played = play(setup).expect("it ends");
    assert_eq!(played.exchanges, [played.transfer], "the exchange is all there is");
    played.transfer.0 as f64 / RTT.0 as f64
}

#[test]
fn slow_start_doubles_each_round() {
    let sizes =
        [(1_000, 2.0), (10_000, 2.0), (10_001, 3.0), (30_000, 3.0), (30_001, 4.0), (70_000, 4.0), (150_000, 5.0)];
    for (bytes, expected) in sizes {
        assert_eq!(rounds(&download(bytes, Nanos::ZERO)), expected, "{bytes} bytes");
    }
}

#[test]
fn thought_adds_what_it_takes() {
    let thought = rounds(&download(30_000, RTT.times(3)));
    assert_eq!(thought - rounds(&download(30_000, Nanos::ZERO)), 3.0);
}

#[test]
fn a_window_of_ten_segments_lets_ten_go_each_round() {
    let mut setup = download(100_000, Nanos::ZERO);
    setup.ends[0].openings = (0..=100)
        .map(|at| WindowOpening { arrived: 1 + at * 1_000, edge: 10_001 + at * 1_000, after: Nanos::ZERO })
        .collect();
    assert_eq!(rounds(&setup), 11.0);
}

#[test]
fn a_send_buffer_of_ten_segments_does_the_same() {
    let mut setup = download(100_000, Nanos::ZERO);
    setup.ends[1].send_buffer = vec![BufferLevel { until: i64::MAX, full: 10_000, wake: 0 }];
    assert_eq!(rounds(&setup), 11.0);
}

#[test]
fn a_writer_blocked_where_the_captured_one_was_not_is_woken_when_a_third_is_free() {
    let mut setup = download(60_000, Nanos::ZERO);
    setup.ends[1].send_buffer = vec![
        BufferLevel { until: 28_001, full: 12_000, wake: 8_000 },
        BufferLevel { until: 60_001, full: 12_000, wake: 0 },
    ];
    let late = rounds(&setup);
    setup.ends[1].wakes_by_rule = true;
    assert!(rounds(&setup) <= late);
    assert_eq!(setup.ends[1].wakes_at(28_001), Some(8_000));
    assert_eq!((setup.ends[1].wakes_at(40_000), setup.ends[1].wakes_at(60_001)), (Some(8_000), Some(0)));
}

/// A download from a writer of large frames, after an initial window of 40 segments.
fn framed(bytes: i64, rtt: Nanos) -> Setup {
    let mut setup = Setup { rtt, ..download(bytes, Nanos::ZERO) };
    setup.ends[1].initial_window = 40;
    setup.ends[1].frames = Some(FrameBuffer { wake: 20_000, at_once: false });
    setup
}

#[test]
fn a_writer_of_large_frames_sends_all_that_the_window_permits_and_stops_with_a_frame_unsent() {
    // Flights of 40, 65 and 145 segments.
    assert_eq!(rounds(&framed(250_000, RTT)), 4.0);
    assert_eq!(rounds(&framed(251_000, RTT)), 5.0);
}

#[test]
fn a_push_of_whole_frames_leaves_none_to_be_filled_again() {
    let stops = |rtt| play(&framed(251_000, rtt)).map(|played| played.whole_frames);
    assert_eq!([stops(RTT), stops(Nanos::from_micros(900))], [Some(false), Some(true)]);
}

#[test]
fn a_bottleneck_takes_its_time_for_each_byte() {
    let mut setup = download(100_000, Nanos::ZERO);
    setup.ends[1].rate = Some(50_000.0);
    let seconds = 0.2 + 100_000.0 / 50_000.0;
    assert!((rounds(&setup) / 10.0 - seconds).abs() < 0.1);
}

#[test]
fn one_loss_in_the_middle_costs_a_round_at_most_and_a_lost_tail_a_probe() {
    let mut setup = download(100_000, Nanos::ZERO);
    let whole = rounds(&setup);
    setup.ends[1].losses = vec![Loss { at: 40_500, times: 1 }];
    assert!(rounds(&setup) - whole <= 1.0);
    setup.ends[1].losses = vec![Loss { at: 99_999, times: 1 }];
    let tail = rounds(&setup) - whole;
    assert!((1.0..=4.5).contains(&tail), "{tail}");
}

#[test]
fn whatever_is_lost_the_transfer_ends() {
    for times in 1..6 {
        let mut setup = download(60_000, Nanos::ZERO);
        setup.ends[1].losses = (0..60).step_by(3).map(|at| Loss { at: 1 + at * 1_000, times }).collect();
        assert!(play(&setup).is_some(), "each third segment lost {times} times");
    }
}

#[test]
fn lost_acknowledgements_cost_a_timeout_and_no_window() {
    let mut setup = download(100_000, Nanos::ZERO);
    let whole = play(&setup).expect("it ends").transfer;
    setup.ends[0].lost_acks = vec![LostAcks { from: 10_001, repeats: 1 }];
    let played = play(&setup).expect("it ends");
    let late = played.transfer - whole;
    assert!((RTT.times(2)..RTT.times(6)).contains(&late), "{late:?}");
    assert!(played.sent_again <= 2, "{}: everything had arrived", played.sent_again);
    Change::new("loss", Some(0)).expect("there is such a change").apply(&mut setup, View::Likely);
    assert_eq!(play(&setup).expect("it ends").transfer, whole);
}

#[test]
fn data_for_which_the_window_cannot_move_are_acknowledged_late() {
    let mut setup = download(60_000, Nanos::ZERO);
    let whole = play(&setup).expect("it ends").transfer;
    setup.ends[0].held = vec![(10_001, 30_001)];
    assert_eq!(play(&setup).expect("it ends").transfer - whole, Nanos::from_millis(40));
}

#[test]
fn a_woken_writer_writes_after_the_acknowledgements_that_show_a_loss() {
    let transfers = (200_000..500_000).step_by(20_000).map(|bytes| {
        let mut setup = download(bytes, Nanos::ZERO);
        setup.ends[1].losses = vec![Loss { at: 135_500, times: 1 }];
        setup.ends[1].one_segment = true;
        let tuned = play(&setup).expect("it ends").transfer;
        // A writer with all data in its buffer sends the whole window before it sees the loss.
        setup.ends[1].one_segment = false;
        tuned - play(&setup).expect("it ends").transfer
    });
    let later: Vec<_> = transfers.collect();
    assert!(later.iter().all(|late| *late >= Nanos::ZERO) && later.contains(&RTT), "{later:?}");
}

#[test]
fn a_lost_syn_costs_its_timeout() {
    let mut setup = download(1_000, Nanos::ZERO);
    (setup.opening, setup.lost_handshake) = (RTT.times(30), true);
    assert_eq!(rounds(&setup), 2.0 + 30.0);
    Change::new("loss", Some(0)).expect("there is such a change").apply(&mut setup, View::Likely);
    assert_eq!(rounds(&setup), 2.0);
}

#[test]
fn a_window_with_less_than_a_segment_of_room_opens_when_its_reader_reads() {
    let mut setup = download(10_000, Nanos::ZERO);
    let opening = |arrived, edge, after| WindowOpening { arrived, edge, after: Nanos::from_millis(after) };
    // The captured sender stopped within its sixth segment; this one stops before it.
    setup.ends[0].openings = vec![opening(1, 5_501, 0), opening(5_301, 40_000, 30)];
    let played = play(&setup).expect("it ends");
    assert!(played.transfer < RTT.times(3) + Nanos::from_millis(40), "{:?}", played.transfer);
}

#[test]
fn a_window_that_waits_for_its_reader_is_opened_by_no_later_reading() {
    let mut setup = download(10_000, Nanos::ZERO);
    let opening = |arrived, edge, after| WindowOpening { arrived, edge, after: Nanos::from_millis(after) };
    setup.ends[0].openings = vec![opening(1, 5_001, 0), opening(5_001, 6_001, 300), opening(6_001, 40_000, 1)];
    let played = play(&setup).expect("it ends");
    assert!(played.transfer > Nanos::from_millis(400), "{:?}", played.transfer);
}

#[test]
fn a_slow_handshake_without_a_loss_stays_with_loss_0() {
    let mut setup = download(1_000, Nanos::ZERO);
    setup.opening = RTT.times(3);
    Change::new("loss", Some(0)).expect("there is such a change").apply(&mut setup, View::Likely);
    assert_eq!(rounds(&setup), 2.0 + 3.0);
}

#[test]
fn an_idle_longer_than_the_timeout_lowers_the_window() {
    let mut setup = download(150_000, Nanos::ZERO);
    setup.ends[0].steps.push(WriteStep { heard: 150_001, pause: Nanos::from_millis(5_000), bytes: 100 });
    setup.ends[1].steps.push(WriteStep { heard: 201, pause: Nanos::ZERO, bytes: 150_000 });
    let restarted = play(&setup).expect("it ends").transfer;
    setup.ends[1].idle_restart = false;
    let kept = play(&setup).expect("it ends").transfer;
    assert!(restarted - kept >= RTT.times(2), "{restarted:?} {kept:?}");
}

#[test]
fn a_second_small_write_waits_for_the_delayed_acknowledgement_of_the_first() {
    let small = |heard| WriteStep { heard, pause: Nanos::ZERO, bytes: 100 };
    let mut setup = download(100, Nanos::ZERO);
    setup.ends[0].steps = vec![small(0), small(0), small(101), small(0)];
    setup.ends[1].steps = vec![WriteStep { heard: 201, ..small(0) }, WriteStep { heard: 401, ..small(0) }];
    let held = play(&setup).expect("it ends").transfer;
    setup.ends[0].nagle = false;
    let free = play(&setup).expect("it ends").transfer;
    // The first pair waits a round trip for an immediate ACK; the second also waits for a delayed one.
    assert_eq!(held - free, RTT.times(2) + Nanos::from_millis(40));
}

#[test]
fn a_used_connection_has_neither_handshake_nor_slow_start_before_it() {
    let mut setup = download(20_000, Nanos::ZERO);
    assert_eq!(rounds(&setup), 3.0);
    let change = Change::new("reuse-connection", Some(1)).expect("there is such a change");
    change.apply(&mut setup, View::Hopeful);
    assert_eq!(play(&setup).map(|played| played.transfer), Some(RTT));
    change.apply(&mut setup, View::Doubtful);
    assert_eq!(play(&setup).map(|played| played.transfer), Some(RTT.times(2)), "an idle has lowered the window");
}

#[test]
fn a_flow_of_a_hundred_thousand_segments_is_played() {
    let mut setup = download(100_000_000, Nanos::ZERO);
    setup.ends[0].openings[0].edge = 1 << 30;
    setup.ends[1].losses = (1..40).map(|at| Loss { at: at * 2_000_500, times: 1 }).collect();
    let played = play(&setup).expect("it ends");
    assert!(played.sent_again >= 39);
}

#[test]
fn a_tuned_window_grows_from_the_end_of_the_first_full_round_trip_on() {
    let mut setup = download(130_000, Nanos::ZERO);
    setup.ends[1].initial_window = 20;
    assert_eq!(rounds(&setup), 4.0, "20, 40 and 80 segments");
    let growth = WindowGrowth { first: 20_000, enough: 10_000, slope: 2.0, most: 1 << 24 };
    setup.ends[0].growth = Some(growth);
    assert_eq!(rounds(&setup), 5.0, "20 and 20 segments, before the window of 60 lets the sender double again");
    setup.ends[0].growth = Some(WindowGrowth { enough: 20_000, ..growth });
    assert_eq!(rounds(&setup), 8.0, "flights of 20 segments never start the growth");
}

#[test]
fn a_frame_that_is_cut_at_the_windows_edge_fills_the_window() {
    let mut setup = download(60_000, Nanos::ZERO);
    setup.ends[0].openings = (0..=60)
        .map(|at| WindowOpening { arrived: 1 + at * 1_000, edge: 3_401 + at * 1_000, after: Nanos::ZERO })
        .collect();
    let whole = rounds(&setup);
    setup.ends[1].cuts_frames = true;
    setup.ends[1].nagle = false;
    assert!(rounds(&setup) < whole, "{whole}");
}

#[test]
fn chance_loses_more_packets_the_larger_its_share() {
    let sent_again = |share| {
        let mut setup = download(400_000, Nanos::ZERO);
        setup.ends[1].loss_share = share;
        (0..10).filter_map(|seed| play(&Setup { seed, ..setup.clone() })).map(|played| played.sent_again).sum::<u64>()
    };
    assert_eq!(sent_again(0.0), 0);
    let (few, many) = (sent_again(0.01), sent_again(0.05));
    assert!((20..=100).contains(&few) && many > 3 * few, "{few} {many}");
}

#[test]
fn a_full_queue_loses_what_a_deeper_one_holds() {
    let mut setup = download(200_000, Nanos::ZERO);
    setup.ends[1].initial_window = 60;
    setup.ends[1].rate = Some(1_000_000.0);
    let holds = |bytes| {
        let mut setup = setup.clone();
        setup.ends[1].queue = Some(QueueDepth { bytes, overflowed: true });
        play(&setup).expect("it ends")
    };
    let (shallow, deep) = (holds(40_000), holds(400_000));
    assert_eq!(deep, play(&setup).expect("it ends"));
    assert!(shallow.sent_again >= 20, "{}", shallow.sent_again);
    assert!(shallow.transfer > deep.transfer);
}

#[test]
fn a_used_connection_delays_the_acknowledgement_that_nagle_waits_for() {
    let mut setup = download(250, Nanos::ZERO);
    setup.ends[1].steps.push(WriteStep { heard: 0, pause: Nanos::ZERO, bytes: 900 });
    setup.spans[0].answered = 1 + 1_150;
    let fresh = play(&setup).expect("it ends").transfer;
    assert_eq!(fresh, RTT.times(3), "handshake, first write, second write after its acknowledgement");
    let reused = |idle| {
        let mut setup = setup.clone();
        setup.reuse = Some(Reuse { idle, uses: 1, window: 1.0 });
        play(&setup).expect("it ends").transfer
    };
    assert_eq!(reused(Nanos::ZERO), RTT.times(2) + Nanos::from_millis(40));
    assert_eq!(reused(Nanos::from_millis(1_000)), RTT.times(2), "no conversation after a pause");
}

#[test]
fn a_used_connection_keeps_the_window_that_its_receiver_has_grown() {
    let mut setup = download(300_000, Nanos::ZERO);
    let grows = |at: i64| WindowOpening { arrived: 1 + at, edge: 1 + 2 * at + 20_000, after: Nanos::ZERO };
    setup.ends[0].openings = (0..=300).map(|at| grows(at * 1_000)).collect();
    let fresh = rounds(&setup);
    setup.reuse = Some(Reuse { idle: Nanos::ZERO, uses: 1, window: 1.0 });
    assert!(rounds(&setup) <= 2.0, "{fresh}");
}

#[test]
fn a_connection_used_often_has_a_larger_window_than_one_used_once() {
    let after = |uses| {
        let mut setup = download(100_000, Nanos::ZERO);
        // The writer leaves the first use's window at fewer segments than the response has.
        setup.ends[End::Server].send_buffer = vec![BufferLevel { until: 60_000, full: 20_000, wake: 13_000 }];
        setup.reuse = Some(Reuse { idle: Nanos::ZERO, uses, window: 1.0 });
        rounds(&setup)
    };
    assert!(after(3) <= after(1), "{} {}", after(3), after(1));
    let mut grown = download(100_000, Nanos::ZERO);
    grown.reuse = Some(Reuse { idle: Nanos::ZERO, uses: 1, window: 0.3 });
    let small = rounds(&grown);
    grown.reuse = Some(Reuse { idle: Nanos::ZERO, uses: 2, window: 0.3 });
    assert!(rounds(&grown) < small, "{small}: windows of 0.3 grow again");
}
