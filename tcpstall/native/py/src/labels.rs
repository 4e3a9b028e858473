//! Labels of flows, read by Python from the first bytes of their ends.

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use tcpstall_core::flow::End;
use tcpstall_core::results::FlowRow;
use tcpstall_core::results::rows::FlowNames;

/// A `tcpstall.labels.Label`.
type Label = (String, String, Option<String>, Option<String>, Option<String>, Option<u16>);

/// Asks Python for the label of each flow that begins with a known protocol element.
pub(crate) struct Labels {
    read: Option<Py<PyAny>>,
}

impl Labels {
    pub(crate) fn new(read: Option<Py<PyAny>>) -> Labels {
        Labels { read }
    }

    /// Sets the label of the row, if there is one; an exception in Python ends the run.
    pub(crate) fn put(&self, row: &mut FlowRow) -> PyResult<()> {
        let Some(starts) = row.first_payloads.take() else { return Ok(()) };
        let Some(read) = &self.read else { return Ok(()) };
        let label: Option<Label> = Python::attach(|py| {
            let [client, server] = End::BOTH.map(|sender| PyBytes::new(py, starts.of(sender)));
            read.call1(py, (client, server))?.extract(py)
        })?;
        if let Some((source, label, server_name, http_host, http_method, http_status)) = label {
            row.label = Some(label);
            row.label_source = Some(source);
            row.names = Some(Box::new(FlowNames { server_name, http_host, http_method, http_status }));
        }
        Ok(())
    }
}
