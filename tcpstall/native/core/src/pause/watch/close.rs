//! Ends one sender's part of a flow.

use super::super::arrange;
use super::super::bottleneck::BusyPeriod;
use super::super::builder::PauseEnd;
use super::super::burst::Burst;
use super::super::over::{LastSilence, Over};
use super::super::pauses::Pauses;
use super::super::settle::Shown;
use super::Watch;
use crate::flow::End;
use crate::time::Nanos;

/// Result of one sender's builder.
#[derive(Default)]
pub(super) struct Closed {
    pub(super) over: Option<Over>,
    pub(super) pauses: Pauses,
    pub(super) bursts: Vec<Burst>,
    pub(super) busy_periods: Vec<BusyPeriod>,
}

impl Watch {
    /// Applies the ACKs still under way, and closes what is open.
    pub(super) fn close(&mut self, sender: End, threshold: Nanos, base_rtt: Option<Nanos>) -> Closed {
        if let Some(last) = self.left_out_after {
            self.builders[sender].on_left_out(last);
        }
        if self.connection.half(sender).awaits_acks() {
            self.apply_waiting_acks(sender, Nanos(i64::MAX));
            self.connection.keep_distances();
        }
        let half = self.connection.half(sender);
        let builder = &mut self.builders[sender];
        // A FIN ends the wait, unless data before it was still being repaired after it. So does a RST, unless its sender
        // went on: then it came from elsewhere.
        let last = |over: &Nanos| !builder.repairs_after(*over) && *over >= builder.last_data();
        let over = builder.fin.filter(last).unwrap_or(self.connection.end);
        let (busy_periods, dropped) =
            builder.bottleneck.as_mut().map_or_else(Default::default, |bottleneck| bottleneck.finish(half));
        builder.dropped += dropped;
        if !builder.sending() && builder.pause_room > 0 {
            return Closed { busy_periods, ..Closed::default() };
        }
        builder.prepare(Nanos(i64::MAX), || base_rtt, half, &self.models[sender], false);
        let heard = self.connection.has_spoken(sender.peer());
        let last = LastSilence { end: over, threshold, least: self.connection.distances()[sender], heard };
        if let Some(over) = builder.over(&last, half) {
            let mut bursts = std::mem::take(&mut builder.bursts);
            bursts.push(builder.current_burst());
            return Closed { over: Some(over), pauses: Pauses::default(), bursts, busy_periods };
        }
        let ending = PauseEnd {
            time: over,
            next_packet: None,
            echo: None,
            lost: 0,
            hole: (0, 0),
            missing_ids: (0, 0),
            base_rtt,
        };
        builder.close(&ending, half, &mut self.models[sender]);
        let clock_steps = self.clock_steps.as_deref();
        let shown = Shown { connection: &self.connection, sender, threshold, clock_steps };
        let (pauses, bursts) = arrange::arrange(builder, &busy_periods, &shown);
        Closed { over: None, pauses, bursts, busy_periods }
    }
}
