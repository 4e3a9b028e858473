//! Compares the model with a Linux sender, round by round.

use super::*;

const RTT: Nanos = Nanos::from_millis(20);
const RTO: Nanos = Nanos::from_millis(220);

/// An ACK of everything up to `snd_una`, a round trip after it was sent, on a path without a queue.
fn acknowledged(snd_una: i64) -> AckSample {
    AckSample { snd_una, snd_nxt: snd_una, holes: false, now: Nanos(snd_una), sample: Some(RTT), least: Some(RTT) }
}

/// Sends up to `out` segments, then has them all acknowledged.
fn round(model: &mut Cwnd, sent: &mut i64, out: u32) {
    let una = *sent;
    *sent += i64::from(out);
    model.on_send(out, una, *sent);
    model.on_ack(out, &acknowledged(*sent));
}

#[test]
fn full_rounds_double_the_window() {
    let (mut model, mut sent) = (Cwnd::default(), 0);
    for expected in [20, 40, 80] {
        let out = model.segments();
        round(&mut model, &mut sent, out);
        assert_eq!(model.segments(), expected);
    }
    assert_eq!(model.phase(), CongestionPhase::SlowStart);
}

#[test]
fn a_round_cut_short_grows_by_what_was_acknowledged_and_no_further_than_twice_what_was_out() {
    let (mut model, mut sent) = (Cwnd::default(), 0);
    [10, 20].into_iter().for_each(|out| round(&mut model, &mut sent, out));
    round(&mut model, &mut sent, 32);
    assert_eq!(model.segments(), 72);
    round(&mut model, &mut sent, 20);
    assert_eq!(model.segments(), 72, "72 is more than twice the 20 that were out");
}

#[test]
fn an_idle_halves_the_window_once_a_timeout_until_a_small_burst_confirms_it() {
    let (mut model, mut sent) = (Cwnd::default(), 0);
    [10, 20, 40, 80].into_iter().for_each(|out| round(&mut model, &mut sent, out));
    model.on_idle(Nanos(RTO.0 * 2 + 1), RTO);
    assert_eq!((model.segments(), model.before_idle()), (40, Some(160)));
    model.on_send(40, sent, sent + 40);
    assert_eq!(model.segments(), 40);
}

#[test]
fn a_large_burst_after_an_idle_shows_that_nothing_was_lowered() {
    let (mut model, mut sent) = (Cwnd::default(), 0);
    [10, 20, 40, 80].into_iter().for_each(|out| round(&mut model, &mut sent, out));
    model.on_idle(Nanos::from_millis(10_000), RTO);
    assert_eq!(model.segments(), INITIAL_WINDOW);
    model.on_send(100, sent, sent + 100);
    assert_eq!((model.segments(), model.before_idle()), (160, None));
}

#[test]
fn an_idle_shorter_than_the_timeout_changes_nothing() {
    let (mut model, mut sent) = (Cwnd::default(), 0);
    [10, 20].into_iter().for_each(|out| round(&mut model, &mut sent, out));
    model.on_idle(RTO, RTO);
    assert_eq!((model.segments(), model.before_idle()), (40, None));
}

#[test]
fn a_loss_lowers_the_window_once_a_flight() {
    let (mut model, mut sent) = (Cwnd::default(), 0);
    [10, 20, 40].into_iter().for_each(|out| round(&mut model, &mut sent, out));
    model.on_loss(80, sent + 80, sent);
    let lowered = model.segments();
    assert_eq!(lowered, 56, "717/1024 of 80");
    model.on_loss(70, sent + 80, sent + 10);
    assert_eq!((model.segments(), model.losses(), model.phase()), (lowered, 1, CongestionPhase::Recovery));
}

/// Ten segments fill the window; seven follow them, which ACKs `one_by_one` let go or not. Gives the window after their ACKs.
fn after_seven_more(first: u32, one_by_one: bool) -> u32 {
    let (mut model, mut sent) = (Cwnd::default(), 0);
    round(&mut model, &mut sent, first);
    if one_by_one {
        model.goes_on(sent);
    }
    round(&mut model, &mut sent, 7);
    model.segments()
}

#[test]
fn acks_one_by_one_keep_a_full_window_full_although_the_rest_is_smaller() {
    assert_eq!((after_seven_more(10, true), after_seven_more(10, false)), (27, 20));
    assert_eq!(after_seven_more(4, true), after_seven_more(4, false), "four segments had not filled it");
}

#[test]
fn a_long_idle_brings_back_a_window_that_was_lost_track_of() {
    let (mut model, mut sent) = (Cwnd::default(), 0);
    model.begins();
    model.lose_track();
    [10, 20].into_iter().for_each(|out| round(&mut model, &mut sent, out));
    assert!(!model.certain());
    model.on_idle(Nanos::from_millis(10_000), RTO);
    assert!(model.certain());
    model.on_send(39, sent, sent + 39);
    assert!(!model.certain(), "a burst that large was no restart");
}

/// Plays one ACK per segment, `spacing` apart: a bottleneck's ACK clock, with a round trip of `rtt`.
fn clocked_round(model: &mut Cwnd, sent: &mut i64, now: &mut Nanos, spacing: Nanos, rtt: Nanos) {
    let (out, una) = (model.segments(), *sent);
    *sent += i64::from(out);
    model.on_send(out, una, *sent);
    *now += rtt;
    for acked in 1..=i64::from(out) {
        let snd_una = una + acked;
        let ack = AckSample {
            snd_una,
            snd_nxt: snd_una + i64::from(out),
            holes: false,
            now: *now,
            sample: Some(rtt),
            least: Some(RTT),
        };
        model.on_ack(1, &ack);
        *now += spacing;
    }
}

#[test]
fn a_train_of_acks_half_a_round_trip_long_ends_slow_start() {
    let (mut model, mut sent, mut now) = (Cwnd::default(), 0, Nanos::from_millis(1_000));
    for _ in 0..4 {
        clocked_round(&mut model, &mut sent, &mut now, Nanos::from_millis(1), RTT);
    }
    assert_eq!(model.phase(), CongestionPhase::CongestionAvoidance);
    assert!((25..40).contains(&model.segments()), "{} segments", model.segments());
}

#[test]
fn a_round_trip_that_rises_ends_slow_start() {
    let (mut model, mut sent, mut now) = (Cwnd::default(), 0, Nanos::from_millis(1_000));
    let spacing = Nanos::from_micros(10);
    clocked_round(&mut model, &mut sent, &mut now, spacing, RTT);
    clocked_round(&mut model, &mut sent, &mut now, spacing, RTT + Nanos::from_millis(1));
    assert_eq!((model.segments(), model.phase()), (40, CongestionPhase::SlowStart), "1 ms is no sign of a queue");
    clocked_round(&mut model, &mut sent, &mut now, spacing, RTT + Nanos::from_millis(5));
    assert_eq!(model.phase(), CongestionPhase::CongestionAvoidance);
}

#[test]
fn a_flight_that_hystart_would_not_have_allowed_shows_a_sender_without_it() {
    let (mut model, mut sent, mut now) = (Cwnd::default(), 0, Nanos::from_millis(1_000));
    for _ in 0..4 {
        clocked_round(&mut model, &mut sent, &mut now, Nanos::from_millis(1), RTT);
    }
    model.on_send(80, sent, sent + 80);
    assert_eq!((model.segments(), model.phase()), (80, CongestionPhase::SlowStart));
}

#[test]
fn more_than_one_lost_syn_starts_from_one_segment() {
    let mut model = Cwnd::default();
    model.is_established(1);
    assert_eq!(model.segments(), INITIAL_WINDOW);
    model.is_established(2);
    assert_eq!(model.segments(), 1);
}

#[test]
fn cubic_comes_back_to_the_window_of_the_loss_and_lingers_there() {
    let (mut model, mut sent, mut now) = (Cwnd::default(), 0, Nanos::from_millis(1_000));
    [10, 20, 40, 80].into_iter().for_each(|out| round(&mut model, &mut sent, out));
    model.on_loss(160, sent, sent - 160);
    model
        .on_ack(1, &AckSample { snd_una: sent, snd_nxt: sent, holes: false, now, sample: Some(RTT), least: Some(RTT) });
    let lowered = model.segments();
    // RFC 9438 §4.2: K = cbrt(W_max (1 - beta) / C) seconds, here cbrt(160 · 0.3 / 0.4) = 4.9; Reno would be slower on this path.
    while now < Nanos::from_millis(5_900) {
        clocked_round(&mut model, &mut sent, &mut now, Nanos::ZERO, Nanos::from_millis(200));
    }
    assert_eq!(lowered, 112);
    assert!((152..=168).contains(&model.segments()), "{} segments", model.segments());
}

#[test]
fn a_loss_during_recovery_lowers_the_window_once_more_when_that_is_over() {
    let (mut model, mut sent) = (Cwnd::default(), 0);
    [10, 20, 40, 80].into_iter().for_each(|out| round(&mut model, &mut sent, out));
    model.begins();
    model.on_loss(160, sent, sent - 160);
    assert_eq!(model.segments(), 112);
    model.on_ack(1, &AckSample { holes: true, snd_nxt: sent + 100, ..acknowledged(sent) });
    assert_eq!((model.segments(), model.losses(), model.phase()), (78, 2, CongestionPhase::Recovery));
}

#[test]
fn half_of_a_full_window_after_a_loss_is_reno() {
    let (mut model, mut sent) = (Cwnd::default(), 0);
    [10, 20, 40, 80].into_iter().for_each(|out| round(&mut model, &mut sent, out));
    model.begins();
    model.on_send(160, sent, sent + 160);
    model.on_loss(160, sent + 160, sent);
    model.on_ack(1, &acknowledged(sent + 160));
    model.settles(81);
    assert_eq!(model.segments(), 81);
    model.on_send(81, sent + 160, sent + 241);
    model.on_loss(81, sent + 241, sent + 160);
    assert_eq!(model.segments(), 40);
}
