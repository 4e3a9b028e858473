//! Writes a report flow by flow: JSON, NDJSON, CSV.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::value::RawValue;

use super::findings::{FindingRow, Findings};
use super::json;
use super::rows::{FlowRow, StallRow};
use super::services::Services;
use crate::json::{PAGE, Page, Print, Row};

/// The report's schema, `tcpstall.report/1`.
pub const SCHEMA: &str = "tcpstall.report/1";
/// The version of tcpstall.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Format of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// One `tcpstall.report/1` object.
    Json,
    /// A line per flow, then a line per service, finding and capture; `type` names the kind.
    Ndjson,
    /// A row per stall.
    Csv,
}

impl Shape {
    /// The format with this name.
    pub fn from_name(name: &str) -> Option<Shape> {
        match name {
            "json" => Some(Shape::Json),
            "ndjson" => Some(Shape::Ndjson),
            "csv" => Some(Shape::Csv),
            _ => None,
        }
    }
}

/// Columns of the CSV form.
const CSV_HEADER: &str = "flow,client,client_port,server,server_port,sender,start_ns,end_ns,duration_ns,ended,cause,detail,\
confidence,in_flight_bytes,peer_window_bytes,cwnd_estimate_segments,burst_bytes,last_packet,freed_by_packet,next_packet,stall";

/// Makes the JSON text of findings, given the number of flows.
pub type Told<'a> = &'a mut dyn FnMut(Vec<FindingRow>, u64) -> io::Result<Option<String>>;

/// Writes rows as they come. The object's `services` and `captures` follow its `flows`, because they are known only at
/// the end.
pub struct ReportWriter<W: Write> {
    out: W,
    shape: Shape,
    flows: u64,
    services: Services,
    findings: Findings,
    /// Flows that are still to be written.
    text: Page,
}

impl<W: Write> ReportWriter<W> {
    /// Writes the beginning of the report.
    pub fn begin(mut out: W, shape: Shape) -> io::Result<ReportWriter<W>> {
        match shape {
            Shape::Json => write!(out, "{{\"schema\":\"{SCHEMA}\",\"tcpstall\":\"{VERSION}\",\"flows\":[")?,
            Shape::Ndjson => {}
            Shape::Csv => writeln!(out, "{CSV_HEADER}")?,
        }
        Ok(ReportWriter {
            out,
            shape,
            flows: 0,
            services: Services::default(),
            findings: Findings::default(),
            text: Page::new(if shape == Shape::Csv { 0 } else { PAGE }),
        })
    }

    /// Writes one flow.
    pub fn flow(&mut self, row: &FlowRow) -> io::Result<()> {
        match self.shape {
            Shape::Json => {
                let first = self.flows == 0;
                self.text.append(&mut self.out, |text| {
                    text.constant(if first { "\n" } else { ",\n" });
                    row.print(text);
                })?;
            }
            Shape::Ndjson => {
                self.text.append(&mut self.out, |text| {
                    text.constant("{\"type\":\"flow\"");
                    row.fields(text, b',');
                    text.constant("}\n");
                })?;
            }
            Shape::Csv => row.stalls.iter().try_for_each(|stall| csv_row(&mut self.out, row, stall))?,
        }
        self.flows += 1;
        if self.shape != Shape::Csv {
            self.services.add(row);
            self.findings.add(row);
        }
        Ok(())
    }

    /// Flows written so far.
    pub fn flows(&self) -> u64 {
        self.flows
    }

    /// Writes the end of the report, with the result of each capture. `told` makes the JSON text of the findings;
    /// `None` leaves them out.
    pub fn end(mut self, captures: &[impl Serialize], told: Told<'_>) -> io::Result<()> {
        self.text.write_to(&mut self.out)?;
        match self.shape {
            Shape::Json => {
                self.out.write_all(b"\n],")?;
                if self.services.dropped() > 0 {
                    write!(self.out, "\"services_dropped\":{},", self.services.dropped())?;
                }
                self.out.write_all(b"\"services\":")?;
                serde_json::to_writer(&mut self.out, &self.services.rows())?;
                if let Some(text) = told(self.findings.rows(), self.flows)? {
                    write!(self.out, ",\n\"findings\":{text}")?;
                }
                self.out.write_all(b",\n\"captures\":")?;
                json::foreign(&mut self.out, captures)?;
                self.out.write_all(b"}\n")?;
            }
            Shape::Ndjson => {
                let out = &mut self.out;
                if self.services.dropped() > 0 {
                    line(out, "services-dropped", "services_dropped", &self.services.dropped())?;
                }
                for service in self.services.rows() {
                    line(out, "service", "service", &service)?;
                }
                if let Some(text) = told(self.findings.rows(), self.flows)? {
                    for finding in serde_json::from_str::<Vec<&RawValue>>(&text)? {
                        line(out, "finding", "finding", finding)?;
                    }
                }
                for capture in captures {
                    line(out, "capture", "capture", capture)?;
                }
            }
            Shape::Csv => {}
        }
        self.out.flush()
    }
}

fn line(out: &mut impl Write, kind: &str, name: &str, value: &(impl Serialize + ?Sized)) -> io::Result<()> {
    write!(out, "{{\"type\":\"{kind}\",\"{name}\":")?;
    json::foreign(out, value)?;
    out.write_all(b"}\n")
}

fn csv_row(out: &mut impl Write, flow: &FlowRow, stall: &StallRow) -> io::Result<()> {
    let known = |value: Option<u64>| value.map_or_else(String::new, |value| value.to_string());
    let evidence = &stall.evidence;
    writeln!(
        out,
        "{},{},{},{},{},{},{},{},{},{},{},{},{:.2},{},{},{},{},{},{},{},{}",
        flow.id,
        flow.client.address,
        flow.client.port,
        flow.server.address,
        flow.server.port,
        stall.sender.name(),
        stall.start_ns.0,
        stall.end_ns.0,
        stall.duration_ns.0,
        stall.ended,
        stall.cause.name(),
        stall.detail,
        stall.confidence,
        known(evidence.in_flight_bytes),
        known(evidence.peer_window_bytes),
        known(evidence.cwnd_estimate_segments),
        known(evidence.burst_bytes),
        known(evidence.last_packet.map(|packet| packet.0)),
        known(evidence.freed_by_packet.map(|packet| packet.0)),
        known(evidence.next_packet.map(|packet| packet.0)),
        stall.number,
    )
}
