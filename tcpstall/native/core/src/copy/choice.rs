//! Which packets are written.

use std::collections::VecDeque;

use crate::capture::Frame;
use crate::disguise::Disguise;
use crate::time::Nanos;
use crate::wire::fragment::{Datagram, datagram};
use crate::wire::{Endpoint, Segment, Skip, decode_into};

/// IP packets whose fragments are followed at once.
const FOLLOWED: usize = 64;

/// A part of a connection's time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// Both ends, in any order.
    pub ends: [Endpoint; 2],
    /// From this packet time on.
    pub from: Nanos,
    /// To this one, which belongs to it.
    pub until: Nanos,
}

/// Which packets.
#[derive(Clone, Debug)]
pub enum Choice {
    /// All of them.
    Everything,
    /// Those of these connections, at these times.
    Some(Stretches),
}

/// Parts of connections.
#[derive(Clone, Debug, Default)]
pub struct Stretches {
    wanted: Vec<Stretch>,
    /// Of which later fragments may come, which have no ports.
    fragmented: VecDeque<Datagram>,
}

impl Choice {
    /// The packets of these.
    pub fn of(wanted: Vec<Stretch>) -> Choice {
        Choice::Some(Stretches { wanted, fragmented: VecDeque::new() })
    }

    /// True if the frame is to be written. Ends are pseudonyms where there is a disguise.
    pub(super) fn takes(&mut self, frame: &Frame<'_>, disguise: Option<&mut Disguise>) -> bool {
        let Choice::Some(stretches) = self else { return true };
        stretches.take(frame, disguise)
    }
}

impl Stretches {
    fn take(&mut self, frame: &Frame<'_>, disguise: Option<&mut Disguise>) -> bool {
        let at = |stretch: &&Stretch| stretch.from <= frame.time && frame.time <= stretch.until;
        if !self.wanted.iter().any(|stretch| at(&stretch)) {
            return false;
        }
        match ends(frame, disguise) {
            Ok((ends, fragmented)) => {
                let wanted = self.wanted.iter().filter(at).any(|stretch| are(ends, stretch.ends));
                if wanted && fragmented {
                    self.fragmented.extend(datagram(frame));
                    self.fragmented.drain(..self.fragmented.len().saturating_sub(FOLLOWED));
                }
                wanted
            }
            Err(Skip::IpFragment) => datagram(frame).is_some_and(|datagram| self.fragmented.contains(&datagram)),
            Err(_) => false,
        }
    }
}

/// True if these are the ends, either way round.
pub(super) fn are(ends: [Endpoint; 2], [one, other]: [Endpoint; 2]) -> bool {
    ends == [one, other] || ends == [other, one]
}

/// Who speaks to whom in the frame, and whether more fragments follow.
pub(super) fn ends(frame: &Frame<'_>, disguise: Option<&mut Disguise>) -> Result<([Endpoint; 2], bool), Skip> {
    let mut segment = Segment::default();
    decode_into(frame, &mut segment)?;
    let mut ends = [segment.source, segment.destination];
    if let Some(disguise) = disguise {
        ends = ends.map(|end| Endpoint { address: disguise.address(end.address), ..end });
    }
    Ok((ends, segment.fragmented))
}
