//! Groups captures into streams, and orders the captures of a stream.

use std::collections::VecDeque;
use std::ops::ControlFlow;

use hashbrown::HashMap;

use super::RunOptions;
use super::reader::lane::Lane;
use super::status::CaptureStatus;
use crate::flow::tap::clock_steps::SHORTEST_STEP;
use crate::time::Nanos;

/// A time that never comes.
pub(super) const NEVER: Nanos = Nanos(i64::MAX);

/// Inputs that form one stream.
#[derive(Clone, Debug, Default)]
pub struct Sets {
    /// A number for each input: inputs with the same number form one stream. Each input beyond the end is a stream of
    /// its own.
    pub of: Vec<u32>,
    /// Inputs before which a file is missing, as the caller knows.
    pub missing_before: Vec<usize>,
    /// The first input that was not reported before: of the earlier inputs' flows only those that continue in it or
    /// later are reported.
    pub new_from: usize,
    /// Packets in files of the set that are not read; numbers continue after them.
    pub packets_before: u64,
    /// Packets at the beginning of the first read input that were reported before: no flow has them.
    pub known_packets: u64,
    /// Number of the first inputs that are only names: the restored stream has read them.
    pub names_only: usize,
    /// The stream is serialised after its last file: see [`super::Follower::put_down`].
    pub puts_down: bool,
    /// Pauses, exchanges and busy periods of all open flows that the stream is serialised with. Beyond it, flows with more
    /// than their share are parted: what they have so far is a row, and they continue without it, in further rows.
    pub most_past: Option<usize>,
}

impl Sets {
    /// True if this packet was reported before; the first packet of an input has number 1.
    #[inline]
    pub(super) fn has_told(&self, input: usize, packet: u64) -> bool {
        input == self.names_only && packet <= self.known_packets
    }

    /// The numbers of the read inputs of each set, in the order in which the sets begin.
    pub(super) fn groups(&self, inputs: usize) -> Vec<Vec<usize>> {
        let mut groups: Vec<Vec<usize>> = Vec::new();
        let mut places: HashMap<u32, usize> = HashMap::new();
        for input in self.names_only..inputs {
            let next = groups.len();
            match self.of.get(input).map_or(next, |set| *places.entry(*set).or_insert(next)) {
                place if place < next => groups[place].push(input),
                _ => groups.push(vec![input]),
            }
        }
        groups
    }
}

/// A capture that is opened when its turn comes.
pub(super) struct Coming {
    /// Number of the capture among the inputs of the run.
    pub(super) number: usize,
    /// Time of the stream at which its turn comes; at the latest its turn comes after the capture before.
    pub(super) opens: Nanos,
    /// The open capture, if it had to be opened to find its first packet and cannot be opened twice.
    pub(super) lane: Option<Lane>,
}

/// Orders the captures of a set by their first packets; a capture without a readable first packet follows the one given
/// before it. Where a reading waits, `again` decides whether to continue.
pub(super) fn in_order(
    set: &[usize],
    paths: &[String],
    options: &RunOptions,
    statuses: &mut [CaptureStatus],
    again: &mut dyn FnMut() -> ControlFlow<()>,
) -> ControlFlow<(), VecDeque<Coming>> {
    if let [number] = *set {
        return ControlFlow::Continue(VecDeque::from([Coming { number, opens: NEVER, lane: None }]));
    }
    let mut found = Vec::with_capacity(set.len());
    let mut before = None;
    for &number in set {
        let Some(path) = paths.get(number) else { continue };
        let (first, lane) = beginning(number, path, options, &mut statuses[number], again)?;
        before = after(before, first);
        found.push((before, first.is_some(), Coming { number, opens: NEVER, lane }));
    }
    found.sort_by_key(|(first, _, _)| *first);
    let mut opens = NEVER;
    for (first, known, coming) in found.iter_mut().rev() {
        if let Some(first) = first.filter(|_| *known) {
            // Packets stored out of order may precede the first packet by this much.
            opens = Nanos(first.0.saturating_sub(SHORTEST_STEP.0));
        }
        coming.opens = opens;
    }
    ControlFlow::Continue(found.into_iter().map(|(_, _, coming)| coming).collect())
}

/// Place of a capture that begins at `first`: packets stored slightly out of order may make it seem to begin before the
/// one given before it.
fn after(before: Option<Nanos>, first: Option<Nanos>) -> Option<Nanos> {
    let Some(first) = first else { return before };
    let slightly = |before: Nanos| before > first && before.0.saturating_sub(first.0) < SHORTEST_STEP.0;
    Some(before.filter(|before| slightly(*before)).unwrap_or(first))
}

/// The time of a capture's first packet, and the capture itself if it can be read only once.
fn beginning(
    number: usize,
    path: &str,
    options: &RunOptions,
    status: &mut CaptureStatus,
    again: &mut dyn FnMut() -> ControlFlow<()>,
) -> ControlFlow<(), (Option<Nanos>, Option<Lane>)> {
    // The error is reported when the capture's turn comes.
    let Ok(capture) = options.capture(path) else { return ControlFlow::Continue((None, None)) };
    if capture.reads_once() {
        let mut lane = Lane::new(number, capture);
        lane.begin(status, again)?;
        return ControlFlow::Continue((status.first_ns, Some(lane)));
    }
    let mut seen = CaptureStatus::default();
    Lane::new(number, capture.sparing()).begin(&mut seen, again)?;
    ControlFlow::Continue((seen.first_ns, None))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn groups(of: &[u32], inputs: usize) -> Vec<Vec<usize>> {
        Sets { of: of.to_vec(), ..Sets::default() }.groups(inputs)
    }

    #[test]
    fn each_input_stands_alone_where_nothing_is_said() {
        assert_eq!(groups(&[], 3), [[0], [1], [2]]);
    }

    #[test]
    fn inputs_with_one_number_are_one_set() {
        assert_eq!(groups(&[7, 1, 7, 1, 7], 5), [vec![0, 2, 4], vec![1, 3]]);
    }

    #[test]
    fn a_capture_that_seems_to_begin_slightly_earlier_stays_behind() {
        let ms = Nanos::from_millis;
        assert_eq!(after(Some(ms(10)), Some(Nanos(9_500_000))), Some(ms(10)));
        assert_eq!(after(Some(ms(10)), Some(ms(9))), Some(ms(9)));
        assert_eq!(after(Some(ms(10)), Some(ms(11))), Some(ms(11)));
        assert_eq!(after(Some(ms(10)), None), Some(ms(10)));
        assert_eq!(after(None, Some(ms(1))), Some(ms(1)));
    }
}
