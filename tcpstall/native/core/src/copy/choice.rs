//! Selects the packets to write.

use std::collections::VecDeque;

use crate::anonymise::Anonymise;
use crate::capture::Frame;
use crate::time::Nanos;
use crate::wire::fragment::{Datagram, datagram};
use crate::wire::{Endpoint, Flags, Segment, Skip, decode_into};

/// IP packets whose fragments are followed at once.
const FOLLOWED: usize = 64;

/// Time for which RSTs after a connection's end belong to it: the time after which the run starts a new flow with the
/// same ends.
const TRAIL: Nanos = Nanos::from_millis(120_000);

/// A part of a connection's time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// Both ends, in any order.
    pub ends: [Endpoint; 2],
    /// Time of the first packet.
    pub from: Nanos,
    /// Time of the last packet, inclusive; the RSTs after it count too, until another packet comes.
    pub until: Nanos,
}

/// Selection of packets.
#[derive(Clone, Debug)]
pub enum Choice {
    /// All packets.
    Everything,
    /// Packets of these connections, at these times.
    Some(Stretches),
}

/// Parts of connections.
#[derive(Clone, Debug, Default)]
pub struct Stretches {
    wanted: Vec<Wanted>,
    /// IP packets of which later fragments may come, which have no ports.
    fragmented: VecDeque<Datagram>,
}

impl Choice {
    /// Selects the packets of these stretches.
    pub fn of(wanted: Vec<Stretch>) -> Choice {
        let wanted = wanted.into_iter().map(|stretch| Wanted { stretch, over: false }).collect();
        Choice::Some(Stretches { wanted, fragmented: VecDeque::new() })
    }

    /// True if the frame is to be written. The ends are pseudonyms where addresses are replaced.
    pub(super) fn takes(&mut self, frame: &Frame<'_>, anonymise: Option<&mut Anonymise>) -> bool {
        let Choice::Some(stretches) = self else { return true };
        stretches.take(frame, anonymise)
    }
}

impl Stretches {
    fn take(&mut self, frame: &Frame<'_>, anonymise: Option<&mut Anonymise>) -> bool {
        // Times of stretches are the analysis's; the copy keeps those of the capture.
        let time = frame.time.in_range();
        let may_be = |wanted: &Wanted| wanted.stretch.from <= time && !wanted.is_past(time);
        if !self.wanted.iter().any(may_be) {
            return false;
        }
        match ends(frame, anonymise) {
            Ok((ends, flags, fragmented)) => {
                let mut takes = false;
                for wanted in self.wanted.iter_mut().filter(|wanted| may_be(wanted)) {
                    takes |= are(ends, wanted.stretch.ends) && wanted.takes(time, flags);
                }
                if takes && fragmented {
                    self.fragmented.extend(datagram(frame));
                    self.fragmented.drain(..self.fragmented.len().saturating_sub(FOLLOWED));
                }
                takes
            }
            Err(Skip::IpFragment) => datagram(frame).is_some_and(|datagram| self.fragmented.contains(&datagram)),
            Err(_) => false,
        }
    }
}

/// A stretch, and whether it is over.
#[derive(Clone, Debug)]
struct Wanted {
    stretch: Stretch,
    over: bool,
}

impl Wanted {
    fn is_past(&self, time: Nanos) -> bool {
        time > self.stretch.until && (self.over || time - self.stretch.until >= TRAIL)
    }

    /// Takes in a packet of its connection. A flow ends with its first RST: RSTs that follow at once still belong to
    /// it.
    fn takes(&mut self, time: Nanos, flags: Flags) -> bool {
        if time <= self.stretch.until {
            return true;
        }
        self.over |= !flags.has(Flags::RST);
        !self.over
    }
}

/// True if these are the same ends, in either order.
pub(super) fn are(ends: [Endpoint; 2], [one, other]: [Endpoint; 2]) -> bool {
    ends == [one, other] || ends == [other, one]
}

/// Source and destination of the frame's segment, its flags, and whether more fragments follow.
pub(super) fn ends(frame: &Frame<'_>, anonymise: Option<&mut Anonymise>) -> Result<([Endpoint; 2], Flags, bool), Skip> {
    let mut segment = Segment::default();
    decode_into(frame, &mut segment)?;
    let mut ends = [segment.source, segment.destination];
    if let Some(anonymise) = anonymise {
        ends = ends.map(|end| Endpoint { address: anonymise.address(end.address), ..end });
    }
    Ok((ends, segment.flags, segment.fragmented))
}
