//! Rows in a store of many captures: each names its scan, its flow, its capture and its sensor.

use std::sync::Arc;

use super::columns::{self, Column, Columns, addresses, flags, integers, signed, texts};
use super::findings;
use super::rows::FlowRow;

/// Origin of the rows of one capture.
#[derive(Clone, Debug)]
pub struct Origin {
    /// Name of the scan.
    pub scan: Arc<str>,
    /// Label of the place where the capture was made.
    pub sensor: Option<Arc<str>>,
    /// Name of the capture.
    pub capture: String,
}

/// Origins of rows, by the numbers of their captures.
#[derive(Clone, Copy, Debug)]
pub struct Origins<'a>(pub &'a [Origin]);

impl<'a> Origins<'a> {
    /// Origin of each row, looked up once: rows are too large to be read once for each column.
    fn of(self, flows: &[&FlowRow]) -> Vec<Option<&'a Origin>> {
        match self.0 {
            [only] => vec![Some(only); flows.len()],
            several => flows.iter().map(|flow| several.get(flow.capture as usize)).collect(),
        }
    }

    fn columns(self, flows: &[&FlowRow]) -> [Column; 4] {
        let origins = self.of(flows);
        [
            texts("scan", &origins, |origin| origin.map(|origin| &origin.scan)),
            integers("flow", flows, |flow| signed(flow.id)),
            texts("capture", &origins, |origin| origin.map(|origin| &origin.capture)),
            texts("sensor", &origins, |origin| origin.and_then(|origin| origin.sensor.as_ref())),
        ]
    }

    /// Table with one flow per row.
    pub fn flows(self, rows: &[FlowRow]) -> Columns {
        let flows: Vec<&FlowRow> = rows.iter().collect();
        let others = columns::flows(rows).into_iter().filter(|column| !matches!(&*column.name, "flow" | "capture"));
        self.columns(&flows).into_iter().chain(others).collect()
    }

    /// Table with one stall per row.
    pub fn stalls(self, rows: &[FlowRow]) -> Columns {
        self.of_flows(&repeated(rows, |flow| flow.stalls.len()), columns::stalls(rows))
    }

    /// Table with one exchange per row.
    pub fn exchanges(self, rows: &[FlowRow]) -> Columns {
        self.of_flows(&repeated(rows, |flow| flow.exchanges.as_ref().map_or(0, Vec::len)), columns::exchanges(rows))
    }

    /// Table with one flow's contribution to one finding per row.
    pub fn findings(self, rows: &[FlowRow]) -> Columns {
        let parts = findings::parts(rows);
        let flows: Vec<&FlowRow> = parts.iter().map(|part| part.flow).collect();
        self.of_flows(&flows, findings::columns(&parts).into())
    }

    /// Adds the columns of the flow to rows of which a flow has several; `flows` has the flow of each row.
    fn of_flows(self, flows: &[&FlowRow], columns: Columns) -> Columns {
        let ends = [
            addresses("client_address", flows, |flow| flow.client.address),
            integers("client_port", flows, |flow| Some(i64::from(flow.client.port))),
            addresses("server_address", flows, |flow| flow.server.address),
            integers("server_port", flows, |flow| Some(i64::from(flow.server.port))),
            texts("label", flows, |flow| flow.label.as_deref()),
            texts("server_name", flows, |flow| columns::named(flow, |names| &names.server_name)),
            texts("http_host", flows, |flow| columns::named(flow, |names| &names.http_host)),
            flags("at_end", flows, |flow| flow.at_end),
        ];
        let others = columns.into_iter().filter(|column| column.name != "flow");
        self.columns(flows).into_iter().chain(ends).chain(others).collect()
    }
}

/// The flow of each such row; `count` is the number of rows of a flow.
fn repeated(rows: &[FlowRow], count: impl Fn(&FlowRow) -> usize) -> Vec<&FlowRow> {
    rows.iter().flat_map(|flow| std::iter::repeat_n(flow, count(flow))).collect()
}
