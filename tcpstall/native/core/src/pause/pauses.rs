//! Settled pauses with their contexts: the rules read these and nothing else, and nothing changes them.

mod after_recovery;
mod before_report;

use std::ops::Deref;

use super::bottleneck::BusyPeriod;
use super::evidence::Facts;
use crate::time::Nanos;
use crate::traits::{Read, Traits};

/// Flights equal to the byte from which that is no accident.
pub(super) const ALIKE: usize = 3;

/// Evidence from the neighbours of a pause.
#[derive(Clone, Copy, Debug, Default)]
pub struct Context {
    /// Consecutive pauses, this one among them, that began with about the same number of bytes in flight.
    pub plateau_rounds: u32,
    /// Those of these pauses after a burst that was not the first of an answer.
    pub plateau_refills: u32,
    /// At one of these pauses the sender went on without an ACK.
    pub plateau_passed: bool,
    /// At half of these pauses or more the data left later after the ACK than a host answers.
    pub plateau_late: bool,
    /// Median of those flights, bytes.
    pub plateau: i64,
    /// The sender sets PSH on each segment: none shows whether more was queued.
    pub pushes_each: bool,
    /// Some segment of the sender has PSH.
    pub pushes: bool,
    /// This flight equals that median to the byte, as several others do, and ends within a segment: a limit counted in
    /// bytes was full.
    pub brimful: bool,
    /// Neither at the sender's pause before this one nor at the one after it did an ACK release more, with half as much in
    /// flight.
    pub lone: bool,
    /// ACKs ended several waits of the sender with as many bytes in flight.
    pub repeated: bool,
    /// At least as many of the sender's waits with data in flight ended at an ACK as did not.
    pub mostly_refilled: bool,
    /// Bytes in flight at the start of the sender's next pause.
    pub next_flight: Option<i64>,
    /// The sender went on with a whole segment alone and without PSH, whose ACK let more go.
    pub goes_on_alone: bool,
    /// The data that followed was beyond data that the tap had not seen.
    pub goes_on_beyond: bool,
    /// Where the modelled window was full before, the first of several ACKs that came together let more go each time.
    pub goes_at_first: bool,
    /// A round later the sender waited again with no more in flight, and had more to send: no window in slow start did not grow.
    pub stands_next: bool,
    /// Rate of the pause: its burst divided by its length, bytes per second.
    pub pace: Option<f64>,
    /// Bytes that left since the last rest, silences of a small part of this pause aside; 0 where it was no pace's.
    pub rested_after: u64,
    /// Highest rate of a train of several frames of the sender, bytes per second: no line on the path is slower.
    pub fastest: f64,
    /// Other pauses of the sender with that rate within 15 %.
    pub pace_agreement: u32,
    /// Pauses of the sender that could have been paced.
    pub pace_candidates: u32,
    /// Those in which nothing was sent again and no loss was reported.
    pub calm_candidates: u32,
    /// The sender rested in proportion to bursts of different sizes.
    pub in_proportion: bool,
    /// The pause before those of a pace, as long or down to half as long.
    pub first_rest: bool,
    /// Pauses too short for a pause in the burst before that had the same pace.
    pub kept_pace: u32,
    /// The pause is one of many of the same length, however much was sent before: an application writes on a beat.
    pub beat: bool,
    /// One short write follows another as late as others that no ACK released: an application's timer ticks.
    pub ticks: bool,
    /// The bursts around the pause begin as far apart as others of which no ACK released the second.
    pub in_step: bool,
    /// Data of the sender often left just before an ACK that it seems to follow: the sender writes in step with its ACKs.
    pub meets_acks: bool,
    /// So many of those bursts are as far apart that their spacing is no accident.
    pub on_beat: bool,
    /// Share of the pauses that could have been paced but ended at an ACK, 0 to 1.
    pub released_share: f64,
    /// Consecutive turns whose first burst was cut at the same count of segments as this pause's turn.
    pub turns_cut_alike: u32,
    /// That count, if this pause follows the first burst of a turn, or a burst in which each ACK released that many
    /// segments.
    pub cut_at: Option<u32>,
    /// Segments that each ACK let go, however many it covered, where that left the wait below an earlier flight.
    pub per_ack: Option<u32>,
    /// Waits of the flow at that cap.
    pub per_ack_waits: u32,
    /// The count grew from turn to turn.
    pub cut_grows: bool,
    /// On the pause's plateau, data repeatedly went on at an ACK that had covered less than a third, or its frames show that.
    pub dripping: bool,
    /// Among waits that an ACK ended with whole segments in flight, the flights grew a little from each to the next.
    pub creeping: bool,
    /// The flights around the pause grew as a congestion window counted in bytes does.
    pub bytes_grow: bool,
    /// Bursts that ended in the middle of a write brought more from round trip to round trip.
    pub rounds_grow: bool,
    /// The sender wrote less than a segment with nothing in flight: a write leaves as it was written.
    pub small_writes: bool,
    /// From the first pause to the one after this, each flight of whole segments was about twice the one before.
    pub doubling: bool,
    /// The busy period of the path from the pause's start to its end.
    pub bottleneck: Option<BusyPeriod>,
    /// The sender's data is mostly let go by the peer's messages, after ACKs that let nothing go.
    pub let_go_by_messages: bool,
    /// A queue before the tap let the next data through at that rate.
    pub shaped: bool,
    /// The first data was no later than the path of the handshake explains, although later answers took less.
    pub as_in_handshake: bool,
    /// A relay may acknowledge for the server, and the pause is no longer than two round trips of the path behind it.
    pub may_be_behind_relay: bool,
    /// Time when the server sent its SYN-ACK again inside this pause, its first: until then it had received neither the client's
    /// ACK nor the request.
    pub unasked_until: Option<Nanos>,
    /// A timeout that the tap saw only as a silence came before, and the window climbs back from a segment.
    pub after_timeout: bool,
    /// A retransmission timeout had come before, needless or not.
    pub timed_out: bool,
    /// An earlier pause of the sender left no room in the peer's window.
    pub window_filled_before: bool,
    /// The connection's first flight had more than one segment: so has its initial window.
    pub begins_with_several: bool,
    /// Sizes of the window at which the sender left, as at this pause, just a segment of it unused.
    pub spared_windows: u32,
    /// The peer's application lagged for so long that its reading, not the size of its buffer, made the sender wait.
    pub reader_behind: bool,
    /// Rate at which the peer's application read while it lagged, over the whole flow, bytes per second.
    pub drain: Option<u64>,
    /// Traits that the flow shows of its sender.
    pub traits: Traits,
    /// Evidence that these traits give for the pause.
    pub read: Read,
}

/// A pause as the rules see it: its settled facts and its context. It cannot be changed:
///
/// ```compile_fail,E0594
/// fn change(mut pause: tcpstall_core::pause::Pause) {
///     pause.left_in_flight = 0;
/// }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Pause<'a> {
    /// Facts about the pause itself.
    pub facts: &'a Facts,
    /// Evidence from its neighbours.
    pub context: &'a Context,
}

impl Deref for Pause<'_> {
    type Target = Facts;

    #[inline]
    fn deref(&self) -> &Facts {
        self.facts
    }
}

impl<'a> Pause<'a> {
    /// Other `facts` in the same context: the pause as it would be without an event in it, or a part of it.
    #[must_use]
    pub fn with<'b>(&self, facts: &'b Facts) -> Pause<'b>
    where
        'a: 'b,
    {
        Pause { facts, context: self.context }
    }

    /// The flight is the middle one of its plateau to the byte, and ends within a segment: a limit counted in bytes.
    pub fn stands_to_the_byte(&self) -> bool {
        let alike = self.context.plateau_rounds as usize >= ALIKE && self.flight_at_start == self.context.plateau;
        alike && self.short_segment_out
    }

    /// The peer's message let the data go, as others did in the flow.
    pub fn is_let_go_by_message(&self) -> bool {
        self.context.let_go_by_messages && self.went_on_at_message()
    }

    /// A writer woken by an ACK continued: within the tolerance, or a little later on a plateau. A blocked writer wakes before its
    /// buffer is empty: one that comes later than a host wakes it, again and again after the last ACK, writes by a timer of its own.
    pub fn refilled(&self) -> bool {
        self.ended && (self.released_by_ack() || self.follows_late() && !self.follows_emptied())
    }

    /// On a plateau the data followed a little later than an ACK explains.
    fn follows_late(&self) -> bool {
        let late = || self.after_ack().is_some_and(|span| span <= self.rtt().scaled(0.2));
        // At the sender no path lies between an ACK and its answer.
        let silent = || self.near_sender() && self.fell_silent();
        self.context.plateau_rounds >= 5 && !self.left_first() && late() && !silent()
    }

    /// All had been acknowledged by then, as at most flights of the plateau.
    pub fn follows_emptied(&self) -> bool {
        self.context.plateau_late && self.left_in_flight == 0 && self.follows_late() && !self.released_by_ack()
    }
}

/// Rest of a pause that is judged by itself, with what is left of its context.
#[derive(Clone, Debug)]
pub struct Rest {
    /// Facts about the rest.
    pub facts: Facts,
    /// Its context.
    pub context: Context,
}

impl Rest {
    /// The rest as a pause.
    pub fn pause(&self) -> Pause<'_> {
        Pause { facts: &self.facts, context: &self.context }
    }
}

/// The settled pauses of one sender in order of time, each with its context.
#[derive(Clone, Debug, Default)]
pub struct Pauses {
    facts: Vec<Facts>,
    contexts: Vec<Context>,
}

impl Pauses {
    /// Pauses with these `facts`; `contexts` are in the same order.
    pub(super) fn new(facts: Vec<Facts>, contexts: Vec<Context>) -> Pauses {
        Pauses { facts, contexts }
    }

    /// Number of pauses.
    pub fn len(&self) -> usize {
        self.facts.len()
    }

    /// There is no pause.
    pub fn is_empty(&self) -> bool {
        self.facts.is_empty()
    }

    /// The pauses in order of time.
    pub fn iter(&self) -> impl Iterator<Item = Pause<'_>> {
        self.facts.iter().zip(&self.contexts).map(|(facts, context)| Pause { facts, context })
    }

    /// Their facts alone, in the same order.
    pub fn facts(&self) -> &[Facts] {
        &self.facts
    }

    /// The newest pause.
    pub fn last(&self) -> Option<Pause<'_>> {
        self.facts.last().zip(self.contexts.last()).map(|(facts, context)| Pause { facts, context })
    }

    /// The memory of the facts, for another flow.
    pub(super) fn into_facts(self) -> Vec<Facts> {
        self.facts
    }
}
