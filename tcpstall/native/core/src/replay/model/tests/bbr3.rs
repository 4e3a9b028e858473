//! BBR version 3 in the model, by draft-ietf-ccwg-bbr.

use super::download;
use crate::flow::End;
use crate::replay::model::play;
use crate::replay::setup::{Control, QueueDepth, Setup};
use crate::time::Nanos;

fn with(control: Control, bytes: i64) -> Setup {
    let mut setup = download(bytes, Nanos::ZERO);
    setup.ends[End::Server].control = control;
    setup
}

fn milliseconds(setup: &Setup) -> i64 {
    play(setup).expect("ends").transfer.0 / 1_000_000
}

/// A link of 1 MB/s before a queue of this size.
fn behind(control: Control, bytes: i64, queue: i64) -> Setup {
    let mut setup = with(control, bytes);
    let server = &mut setup.ends[End::Server];
    server.rate = Some(1_000_000.0);
    server.queue = Some(QueueDepth { bytes: queue, overflowed: true });
    setup
}

#[test]
fn startup_paces_at_four_times_ln_2() {
    // Twenty segments after the first flight leave at 27.7 in each round trip: later than version 1, at 28.9.
    let [three, one] = [Control::Bbr3, Control::Bbr].map(|control| milliseconds(&with(control, 30_000)));
    assert!((one..one + 10).contains(&three) && three > one, "{three} {one}");
}

#[test]
fn startup_ends_where_the_bandwidth_no_longer_grows() {
    let deep = behind(Control::Bbr3, 5_000_000, 1 << 30);
    let transfer = milliseconds(&deep);
    assert!((5_000..6_000).contains(&transfer), "a full link takes 5 s: {transfer}");
}

#[test]
fn startup_ends_by_losses_where_the_queue_is_small() {
    // Two fifths of the bandwidth-delay product of 100 kB: version 1 loses data in every startup round and goes on.
    let again = |control| play(&behind(control, 2_000_000, 40_000)).expect("ends").sent_again;
    let (three, one) = (again(Control::Bbr3), again(Control::Bbr));
    assert!(three < one, "{three} {one}");
}

#[test]
fn losses_below_two_percent_do_not_lower_the_long_term_bound() {
    let under_loss = |share| {
        let mut setup = with(Control::Bbr3, 3_000_000);
        setup.ends[End::Server].rate = Some(2_000_000.0);
        setup.ends[End::Server].loss_share = share;
        let mut all: Vec<i64> = (0..15).map(|seed| milliseconds(&Setup { seed, ..setup.clone() })).collect();
        all.sort_unstable();
        all[7]
    };
    let (none, few, many) = (under_loss(0.0), under_loss(0.005), under_loss(0.1));
    assert!(few < 2 * none, "{none} {few}");
    assert!(many > 2 * few, "{few} {many}");
}

#[test]
fn a_long_transfer_measures_the_round_trip_after_five_seconds() {
    let own = play(&behind(Control::Bbr3, 8_000_000, 1 << 30)).expect("ends").transfer;
    assert!(own > Nanos::from_millis(8_000) && own < Nanos::from_millis(10_000), "{own:?}");
}
