//! Rows in a store of many captures: each names its scan, its flow, its capture and its sensor.

use std::sync::Arc;

use super::columns::texts::Texts;
use super::columns::values::Values;
use super::columns::{self, Column, Columns, addresses, flags, integers, signed, texts};
use super::findings;
use super::rows::{FlowRow, StallRow};
use crate::causes::Cause;
use crate::causes::details;
use crate::flow::End;
use crate::wire::Endpoint;

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

impl Origins<'_> {
    fn columns(self, flows: &[&FlowRow]) -> [Column; 4] {
        let flow = integers("flow", flows, |flow| signed(flow.id));
        if let [only] = self.0 {
            let of_all = |name: &'static str, value| Column {
                name: name.into(),
                values: Values::Texts(Texts::repeated(value, flows.len())),
            };
            let sensor = only.sensor.as_deref();
            return [
                of_all("scan", Some(&only.scan)),
                flow,
                of_all("capture", Some(&only.capture)),
                of_all("sensor", sensor),
            ];
        }
        let origins: Vec<Option<&Origin>> = flows.iter().map(|flow| self.0.get(flow.capture as usize)).collect();
        [
            texts("scan", &origins, |origin| origin.map(|origin| &origin.scan)),
            flow,
            texts("capture", &origins, |origin| origin.map(|origin| &origin.capture)),
            texts("sensor", &origins, |origin| origin.and_then(|origin| origin.sensor.as_ref())),
        ]
    }

    /// The tables by name.
    pub fn tables(self, rows: &[FlowRow]) -> [(&'static str, Columns); 4] {
        [
            ("flows", self.flows(rows)),
            ("stalls", self.stalls(rows)),
            ("exchanges", self.exchanges(rows)),
            ("findings", self.findings(rows)),
        ]
    }

    /// Table with one flow per row.
    fn flows(self, rows: &[FlowRow]) -> Columns {
        let flows: Vec<&FlowRow> = rows.iter().collect();
        let others = columns::flows(rows).into_iter().filter(|column| !matches!(&*column.name, "flow" | "capture"));
        self.columns(&flows).into_iter().chain(others).collect()
    }

    /// Table with one stall per row.
    fn stalls(self, rows: &[FlowRow]) -> Columns {
        let mut columns = self.of_flows(&repeated(rows, |flow| flow.stalls.len()), columns::stalls(rows));
        columns.extend(of_waits(rows));
        columns
    }

    /// Table with one exchange per row.
    fn exchanges(self, rows: &[FlowRow]) -> Columns {
        self.of_flows(&repeated(rows, |flow| flow.exchanges.as_ref().map_or(0, Vec::len)), columns::exchanges(rows))
    }

    /// Table with one flow's contribution to one finding per row.
    fn findings(self, rows: &[FlowRow]) -> Columns {
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

/// Columns of stalls that readers would otherwise compute of others; `tcpstall/archive/columns/computed.py` has them as
/// SQL, for rows that are written anew.
fn of_waits(rows: &[FlowRow]) -> [Column; 3] {
    let all: Vec<(&FlowRow, &StallRow)> =
        rows.iter().flat_map(|flow| flow.stalls.iter().map(move |stall| (flow, stall))).collect();
    let services = Texts::written(&all, |(flow, _)| flow.server, |server, text| text.push_str(&service_of(*server)));
    [
        integers("lost_ns", &all, |(_, stall)| {
            Some(if stall.detail == details::AWAITING_PEER { 0 } else { stall.duration_ns.0 })
        }),
        addresses("host", &all, |(flow, stall)| match responsible(stall) {
            End::Client => flow.client.address,
            End::Server => flow.server.address,
        }),
        Column { name: "service".into(), values: Values::Texts(services) },
    ]
}

/// An address and a port; brackets keep an IPv6 address apart from its port.
fn service_of(server: Endpoint) -> String {
    let mut text = String::new();
    server.address.write_to(&mut text);
    if text.contains(':') { format!("[{text}]:{}", server.port) } else { format!("{text}:{}", server.port) }
}

/// The end that caused a wait.
fn responsible(stall: &StallRow) -> End {
    match stall.cause {
        Cause::Handshake => End::Server,
        Cause::RwndLimited | Cause::ZeroWindow | Cause::DelayedAck => stall.sender.peer(),
        _ => stall.sender,
    }
}

/// The flow of each such row; `count` is the number of rows of a flow.
fn repeated(rows: &[FlowRow], count: impl Fn(&FlowRow) -> usize) -> Vec<&FlowRow> {
    rows.iter().flat_map(|flow| std::iter::repeat_n(flow, count(flow))).collect()
}
