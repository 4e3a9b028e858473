//! BBR in the model: its pace, its independence of losses and its empty queue.

use super::{RTT, download};
use crate::flow::End;
use crate::replay::model::play;
use crate::replay::setup::{Control, QueueDepth, Setup};
use crate::time::Nanos;

fn bbr(bytes: i64) -> Setup {
    let mut setup = download(bytes, Nanos::ZERO);
    setup.ends[End::Server].control = Control::Bbr;
    setup
}

fn milliseconds(setup: &Setup) -> i64 {
    play(setup).expect("ends").transfer.0 / 1_000_000
}

/// The middle of 15 throws of the dice.
fn median_under_loss(setup: &Setup, share: f64) -> i64 {
    let mut setup = setup.clone();
    setup.ends[End::Server].loss_share = share;
    let mut all: Vec<i64> = (0..15).map(|seed| milliseconds(&Setup { seed, ..setup.clone() })).collect();
    all.sort_unstable();
    all[7]
}

#[test]
fn its_second_flight_is_paced_over_a_third_of_a_round_trip() {
    // Handshake, request and first flight take two round trips; twenty further segments leave at 28.6 in each.
    let own = milliseconds(&bbr(30_000));
    assert!((350..375).contains(&own), "{own}");
    assert_eq!(milliseconds(&download(30_000, Nanos::ZERO)), 300);
}

#[test]
fn a_larger_first_flight_is_paced_from_its_eleventh_segment_on() {
    let mut setup = bbr(40_000);
    setup.ends[End::Server].initial_window = 40;
    let own = milliseconds(&setup);
    assert!((220..235).contains(&own), "{own}");
}

#[test]
fn losses_by_chance_hardly_slow_it() {
    let [measured, reno] = [Control::Bbr, Control::Reno].map(|control| {
        let mut setup = download(3_000_000, Nanos::ZERO);
        setup.ends[End::Server].control = control;
        (milliseconds(&setup), median_under_loss(&setup, 0.01))
    });
    assert!(measured.1 < 2 * measured.0, "{measured:?}");
    assert!(reno.1 > 3 * measured.1, "{reno:?}");
}

#[test]
fn it_fills_a_link_and_leaves_its_queue_nearly_empty() {
    let mut setup = bbr(5_000_000);
    let server = &mut setup.ends[End::Server];
    // A bandwidth-delay product of 100 kB before a queue of 250 kB.
    server.rate = Some(1_000_000.0);
    server.queue = Some(QueueDepth { bytes: 250_000, overflowed: true });
    let played = play(&setup).expect("ends");
    assert_eq!(played.sent_again, 0, "startup's window is 2.9 times the product");
    let least = 5_000 + RTT.0 / 1_000_000;
    let took = played.transfer.0 / 1_000_000;
    assert!((least..least + 700).contains(&took), "{took}");
}

#[test]
fn after_ten_seconds_it_measures_the_round_trip_with_four_segments() {
    let at = |bytes| {
        let mut setup = bbr(bytes);
        setup.ends[End::Server].rate = Some(1_000_000.0);
        milliseconds(&setup)
    };
    let [before, after] = [(5_000_000, 7_000_000), (8_000_000, 13_000_000)].map(|(short, long)| at(long) - at(short));
    assert!((2_000..2_050).contains(&before), "{before}");
    assert!((5_050..5_400).contains(&after), "{after}");
}

#[test]
fn what_its_application_did_not_write_is_no_rate_of_the_path() {
    let mut setup = bbr(10_000);
    setup.ends[End::Server].steps.extend((1..20).map(|_| crate::replay::setup::WriteStep {
        heard: 101,
        pause: Nanos::from_millis(150),
        bytes: 2_000,
    }));
    let small = setup.clone();
    setup.ends[End::Server].steps.push(crate::replay::setup::WriteStep {
        heard: 101,
        pause: Nanos::from_millis(150),
        bytes: 400_000,
    });
    let last = milliseconds(&setup) - milliseconds(&small);
    // Writes of two segments would be a rate of 20 segments a second, at which 400 take 20 seconds.
    assert!(last < 1_500, "{last}");
}
