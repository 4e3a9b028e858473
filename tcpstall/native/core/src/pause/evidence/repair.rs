//! The repairs inside one pause: attempts with their triggers.

use crate::packet_no::PacketNo;
use crate::time::Nanos;

/// Trigger of a retransmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Trigger {
    /// The retransmission timer (RFC 6298 §5.4).
    Timeout,
    /// Duplicate ACKs or SACK blocks (RFC 5681 §3.2, RFC 6675, RACK in RFC 8985 §6).
    Fast,
    /// The probe timer: the last segment again, before the retransmission timer (RFC 8985 §7.3).
    TailProbe,
    /// Nothing that the tap saw, and sooner than any timer (RFC 6298 §2.3: the timeout exceeds the round trip): perhaps a
    /// router's report that a packet was too big (RFC 1191 §6.3, RFC 8201 §5.4).
    Unseen,
}

impl Trigger {
    /// Name in the report, the same as the stall's detail.
    pub const fn name(self) -> &'static str {
        match self {
            Trigger::Timeout => "timeout",
            Trigger::Fast => "fast-retransmit",
            Trigger::TailProbe => "tail-loss",
            Trigger::Unseen => "recovery",
        }
    }
}

/// One attempt: the retransmission that began a repair, or the same data once more because the first copy was lost too.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Attempt {
    /// Time of the attempt.
    pub time: Nanos,
    /// Trigger of the attempt.
    pub trigger: Trigger,
    /// Time since the sender last received anything new or last sent this data: the time that its timer measures.
    pub waited: Nanos,
}

/// The first retransmission inside a pause, and what was acknowledged in the pause before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct FirstCopy {
    /// Its time.
    pub time: Nanos,
    /// Its packet.
    pub packet: PacketNo,
    /// ACKs of new data before it.
    pub acks: u32,
    /// Bytes that they covered.
    pub acked: i64,
}

/// The repairs inside one pause.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct PauseRepairs {
    /// Attempts in order of time.
    pub attempts: Vec<Attempt>,
    /// Retransmitted frames, the attempts among them.
    pub sent: u32,
    /// Retransmitted frames that a DSACK, an echoed timestamp or an ACK showed needless: the original had arrived.
    pub needless: u32,
    /// Time of the last such proof, which tells the sender that nothing is missing.
    pub cleared: Option<Nanos>,
    /// Bytes in flight when the first lost segment was first sent, that segment included.
    pub congestion_point: Option<i64>,
    /// The first retransmission.
    pub first: FirstCopy,
    /// A copy was of the only segment out, to a peer without SACK, over a path shorter than any on which data is lost often: the
    /// original may have arrived, and its ACK may have been delayed.
    pub may_be_held: bool,
}

impl PauseRepairs {
    /// The retransmission timer began a repair.
    pub fn is_timed_out(&self) -> bool {
        self.attempts.iter().any(|attempt| attempt.trigger == Trigger::Timeout)
    }

    /// The attempt, if the data was sent again only once.
    pub fn only_copy(&self) -> Option<&Attempt> {
        self.attempts.first().filter(|_| self.sent == 1)
    }
}
