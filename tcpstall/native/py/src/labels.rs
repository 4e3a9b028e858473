//! Labels of flows, read by Python in what their ends said first.

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use tcpstall_core::flow::Direction;
use tcpstall_core::tables::FlowRow;

/// Asks Python for the label of each flow that began with something that has a name.
pub(crate) struct Labels {
    read: Option<Py<PyAny>>,
}

impl Labels {
    pub(crate) fn new(read: Option<Py<PyAny>>) -> Labels {
        Labels { read }
    }

    /// Puts the label on the row, if there is one; what Python raises ends the run.
    pub(crate) fn put(&self, row: &mut FlowRow) -> PyResult<()> {
        let Some(starts) = row.starts.take() else { return Ok(()) };
        let Some(read) = &self.read else { return Ok(()) };
        let label: Option<(String, String)> = Python::attach(|py| {
            let [client, server] = Direction::BOTH.map(|sender| PyBytes::new(py, starts.of(sender)));
            read.call1(py, (client, server))?.extract(py)
        })?;
        if let Some((source, label)) = label {
            row.label = Some(label);
            row.label_source = Some(source);
        }
        Ok(())
    }
}
