//! Detects what a reset broke off: TLS's handshake, a request that was not answered, or a transfer.

use super::given_up::LEAST_SEALED;
use crate::results::rows::FlowRow;

/// The reset came before the first request: after the client's hello, or after its end of the handshake.
pub(super) fn in_tls_handshake(row: &FlowRow) -> bool {
    let connection = &row.connection;
    let small = connection.in_vain.is_none_or(|asked| asked.bytes < LEAST_SEALED);
    let before_request = connection.exchanges == 0 || connection.exchanges == 1 && small;
    connection.tls_at_once && row.handshake.complete && before_request
}

/// Nothing of the answer to the last request had come.
pub(super) fn before_answer(row: &FlowRow) -> bool {
    row.connection.in_vain.is_some()
}
