//! What may have released the data that ended a pause.

use super::Pause;
use crate::time::Nanos;

impl Pause {
    /// By the sender's clock the data that ended the pause took longer to the tap than usual. If the ACK before it took as
    /// much longer to the sender, it left at once.
    pub fn may_be_path(&self) -> bool {
        let both_ways = self.held + self.held;
        let own = self.after_ack().unwrap_or_default() - both_ways;
        self.held > Nanos::ZERO && self.left_in_flight == 0 && own <= self.tolerance().times(3)
    }
}
