//! Counts that are easily confused with one another; each has a type of its own.

/// The number of a packet in its capture, counting from 1 as Wireshark does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[serde(transparent)]
pub struct PacketNo(pub u64);
