//! Remarks on packets.

use hashbrown::HashMap;

use super::choice::{are, ends};
use crate::anonymise::Anonymise;
use crate::capture::Frame;
use crate::time::Nanos;
use crate::wire::Endpoint;

/// A packet identified by its time and its connection, where its number is unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    /// Time at the tap.
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
    /// Adds a remark on the packet with that number.
    pub fn at(&mut self, packet: u64, text: String) {
        self.by_number.entry(packet).or_default().push(text);
    }

    /// Adds a remark on the first packet at that moment.
    pub fn when(&mut self, moment: Moment, text: String) {
        self.by_time.entry(moment.time.0).or_default().push((moment.ends, text));
    }

    /// Takes out the remarks on this frame.
    pub(super) fn of(&mut self, frame: &Frame<'_>, anonymise: Option<&mut Anonymise>) -> Vec<String> {
        if self.by_number.is_empty() && self.by_time.is_empty() {
            return Vec::new();
        }
        let mut found = self.by_number.remove(&frame.packet.0).unwrap_or_default();
        if let Some(waiting) = self.by_time.get_mut(&frame.time.in_range().0)
            && let Ok((ends, ..)) = ends(frame, anonymise)
        {
            found.extend(waiting.extract_if(.., |(of, _)| are(ends, *of)).map(|(_, text)| text));
            if waiting.is_empty() {
                self.by_time.remove(&frame.time.in_range().0);
            }
        }
        found
    }
}
