//! Interfaces at which segments were captured, by their numbers in a stream.

use hashbrown::HashMap;

use super::source::Source;
use crate::capture::Capture;

/// The interface of a segment, as its capture has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::engine) enum Interface {
    /// The capture does not say.
    Unknown,
    /// The number that the capturing host has for it: cooked captures are made at several interfaces at once.
    Index(u32),
    /// Its name.
    Named(Box<str>),
}

impl Interface {
    /// The interface of the segment that was read last.
    pub(in crate::engine) fn of(source: &Source, capture: &Capture) -> Interface {
        match (source.interface, capture.interface_key()) {
            (0, 0) => Interface::Unknown,
            (0, _) => capture.interface_name().map_or(Interface::Unknown, |name| Interface::Named(name.into())),
            (index, _) => Interface::Index(index),
        }
    }
}

/// Capture and keys in it of a segment's interface.
type Key = (usize, u32, u64);

/// The interfaces of a stream so far.
#[derive(Default)]
pub(in crate::engine) struct Interfaces {
    /// Their texts; the first one has the number 1, for 0 is none.
    texts: Vec<String>,
    named: HashMap<Box<str>, u16>,
    indexed: HashMap<u32, u16>,
    last: (Key, u16),
}

impl Interfaces {
    /// Those of a serialised stream.
    pub(in crate::engine) fn restored(texts: Vec<String>) -> Interfaces {
        let named = texts.iter().zip(1..).map(|(text, number)| (text.as_str().into(), number)).collect();
        Interfaces { texts, named, ..Interfaces::default() }
    }

    /// The texts, for serialising.
    pub(in crate::engine) fn texts(&self) -> &[String] {
        &self.texts
    }

    /// The text of a number.
    pub(in crate::engine) fn text(&self, number: u16) -> Option<&String> {
        self.texts.get(usize::from(number).checked_sub(1)?)
    }

    /// The number of the interface of the segment that was read last, in the capture with that number.
    #[inline]
    pub(in crate::engine) fn number(&mut self, number: usize, source: &Source, capture: &Capture) -> u16 {
        self.known(number, source, capture).unwrap_or_else(|| {
            let key = (number, source.interface, capture.interface_key());
            self.last = (key, self.numbered(&Interface::of(source, capture)));
            self.last.1
        })
    }

    /// The same, if the capture does not say, or if it is the interface that was numbered last.
    #[inline]
    pub(in crate::engine) fn known(&self, number: usize, source: &Source, capture: &Capture) -> Option<u16> {
        let key = (number, source.interface, capture.interface_key());
        match (key.1, key.2) {
            (0, 0) => Some(0),
            _ => (key == self.last.0).then_some(self.last.1),
        }
    }

    /// The number of an interface; 0 where the capture does not say, and where there are too many.
    pub(in crate::engine) fn numbered(&mut self, interface: &Interface) -> u16 {
        match interface {
            Interface::Unknown => 0,
            Interface::Index(index) => match self.indexed.get(index) {
                Some(number) => *number,
                None => {
                    let number = self.add(&format!("ifindex {index}"));
                    self.indexed.insert(*index, number);
                    number
                }
            },
            Interface::Named(name) => self.add(name),
        }
    }

    fn add(&mut self, text: &str) -> u16 {
        if let Some(number) = self.named.get(text) {
            return *number;
        }
        let Ok(number) = u16::try_from(self.texts.len() + 1) else { return 0 };
        self.texts.push(text.to_owned());
        self.named.insert(text.into(), number);
        number
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_one_number_also_in_a_stream_that_is_restored() {
        let mut all = Interfaces::default();
        let named = |name: &str| Interface::Named(name.into());
        let numbers = [named("eth0"), Interface::Index(3), Interface::Unknown, named("eth0"), Interface::Index(3)]
            .map(|each| all.numbered(&each));
        assert_eq!(numbers, [1, 2, 0, 1, 2]);
        let mut restored = Interfaces::restored(all.texts().to_vec());
        assert_eq!(
            [named("wlan0"), Interface::Index(3), named("eth0")].map(|each| restored.numbered(&each)),
            [3, 2, 1]
        );
        assert_eq!((restored.text(2).map(String::as_str), restored.text(0)), (Some("ifindex 3"), None));
    }

    #[test]
    fn interfaces_without_end_have_no_numbers() {
        let mut all = Interfaces::default();
        let numbers: Vec<u16> = (1..=70_000).map(|index| all.numbered(&Interface::Index(index))).collect();
        assert_eq!((numbers[65_534], numbers[65_535], numbers[69_999]), (65_535, 0, 0));
        assert_eq!(all.texts().len(), 65_535);
    }
}
