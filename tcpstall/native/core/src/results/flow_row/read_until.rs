//! Detects that an end stopped reading by force: nobody waits for what its peer sends after the RST.

use crate::flow::End;
use crate::pause::Finished;
use crate::time::Nanos;

/// Time of the peer's RST after which nobody reads the sender's data (RFC 9293 §3.5.2), or waits for it; `None` where the peer went on.
pub(super) fn read_until(flow: &Finished, sender: End) -> Option<Nanos> {
    let reset = flow.rounds().closing.filter(|closing| closing.reset && closing.by == sender.peer())?;
    flow.connection().silence[sender].follows_reset().then_some(reset.time)
}
