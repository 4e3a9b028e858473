//! Thresholds that several rules share and `explain` prints. Users set the link's rate alone.

/// Thresholds of the rules.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// Segments in flight ÷ modelled cwnd from which the congestion window counts as full. Measured on labelled kernel
    /// senders: 1.00 at the 5th and 95th percentile where cwnd was the limit, 0.25 to 0.50 where the send buffer was.
    pub cwnd_share: f64,
    /// The same share after a loss, when the model is an estimate.
    pub cwnd_share_after_loss: f64,
    /// Pauses on one plateau from which the plateau is a send buffer's.
    pub plateau_rounds: u32,
    /// Pauses with the same rate from which the rate is called pacing.
    pub pace_agreement: u32,
    /// Share of the candidate pauses that must have the rate.
    pub pace_share: f64,
    /// Rate of the link including its headers, where the user knows it.
    pub link_bytes_per_s: Option<u64>,
    /// Turns cut at the same count from which the cut is called burst moderation.
    pub cut_turns: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            cwnd_share: 0.85,
            cwnd_share_after_loss: 0.85,
            plateau_rounds: 3,
            pace_agreement: 4,
            pace_share: 0.5,
            link_bytes_per_s: None,
            cut_turns: 5,
        }
    }
}

impl Limits {
    /// The text with these thresholds in place of their names in braces.
    pub(super) fn filled_in(&self, text: String) -> String {
        let percent = |share: f64| format!("{:.0} %", share * 100.0);
        let values = [
            ("{cwnd_share}", percent(self.cwnd_share)),
            ("{cwnd_share_after_loss}", percent(self.cwnd_share_after_loss)),
            ("{plateau_rounds}", self.plateau_rounds.to_string()),
            ("{pace_agreement}", self.pace_agreement.to_string()),
            ("{pace_share}", percent(self.pace_share)),
            ("{cut_turns}", self.cut_turns.to_string()),
        ];
        values.iter().fold(text, |text, (name, value)| text.replace(name, value))
    }
}
