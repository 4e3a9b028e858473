//! What is said at packets.

use hashbrown::HashMap;

use super::choice::{are, ends};
use crate::capture::Frame;
use crate::disguise::Disguise;
use crate::time::Nanos;
use crate::wire::Endpoint;

/// A packet told by its time and its connection, where its number is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    /// When the tap saw it.
    pub time: Nanos,
    /// Both ends of its connection, in any order.
    pub ends: [Endpoint; 2],
}

/// Remarks that wait for their packets.
#[derive(Clone, Debug, Default)]
pub struct Remarks {
    by_number: HashMap<u64, Vec<String>>,
    by_time: HashMap<i64, Vec<([Endpoint; 2], String)>>,
}

impl Remarks {
    /// A remark at the packet of that number.
    pub fn at(&mut self, packet: u64, text: String) {
        self.by_number.entry(packet).or_default().push(text);
    }

    /// A remark at the first packet of that moment.
    pub fn when(&mut self, moment: Moment, text: String) {
        self.by_time.entry(moment.time.0).or_default().push((moment.ends, text));
    }

    /// Those at this frame, which wait no more.
    pub(super) fn of(&mut self, frame: &Frame<'_>, disguise: Option<&mut Disguise>) -> Vec<String> {
        if self.by_number.is_empty() && self.by_time.is_empty() {
            return Vec::new();
        }
        let mut found = self.by_number.remove(&frame.packet.0).unwrap_or_default();
        if let Some(waiting) = self.by_time.get_mut(&frame.time.in_range().0)
            && let Ok((ends, ..)) = ends(frame, disguise)
        {
            found.extend(waiting.extract_if(.., |(of, _)| are(ends, *of)).map(|(_, text)| text));
            if waiting.is_empty() {
                self.by_time.remove(&frame.time.in_range().0);
            }
        }
        found
    }
}
