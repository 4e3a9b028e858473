//! Status of one input: packets read and skipped, warnings and errors.

use serde::Serialize;

use crate::capture::{Capture, CaptureError, Compression, Format, LinkType};
use crate::flow::tap::clock_steps::ClockSteps;
use crate::results::capture_trust::CaptureTrust;
use crate::time::Nanos;
use crate::wire::{Segment, Skip};

/// Share of missing data that deserves a warning: less touches fewer than one in a hundred rounds of ten segments.
const WORTH_A_WARNING: f64 = 0.001;

/// Longest time without any packet of a capture that was taken at one go, by a clock that was right.
const LEAP: Nanos = Nanos::from_millis(24 * 3_600_000);

const IMPOSSIBLE_TIMES: &str = "packets are stamped before 1970 or after 2116 and stand at that limit; times and waits around them are not real: check the interface's time offset (if_tsoffset)";

/// libpcap stamps packets of the netfilter log when it reads them, and the kernel collects them for up to a second (Linux
/// `NFULNL_TIMEOUT_DEFAULT`).
const LATE_STAMPS: &str = "packets of the netfilter log are stamped when they are read, up to a second late: waits shorter than that may not be real; capture on the interface instead (tcpdump -i any)";

/// A capture that is taken from the device's buffer now and then, as of phones, is stamped when the buffer is read.
const IN_CLUMPS: &str = "both ends' timestamps show packets that were stamped late, many at once: the waits between them may not be real; capture on a machine in the path (a router, a mirror port)";

/// A warning to the reader of the report.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Warning {
    /// Permanent code.
    pub code: &'static str,
    /// Number of occurrences.
    pub count: u64,
    /// Text: one sentence.
    pub message: String,
}

/// Number of packets without a segment, by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Skipped {
    /// No IP inside.
    pub not_ip: u64,
    /// IP, but not TCP.
    pub not_tcp: u64,
    /// A fragment other than the first.
    pub ip_fragment: u64,
    /// Cut before the end of the TCP header.
    pub cut_short: u64,
}

impl Skipped {
    pub(super) fn count(&mut self, skip: Skip) {
        match skip {
            Skip::NotIp => self.not_ip += 1,
            Skip::NotTcp => self.not_tcp += 1,
            Skip::IpFragment => self.ip_fragment += 1,
            Skip::CutShort => self.cut_short += 1,
        }
    }
}

/// One input of a run.
#[derive(Clone, Debug, Default, Serialize)]
pub struct CaptureStatus {
    /// Path as the caller gave it.
    pub path: String,
    /// `pcap`, `pcapng`, `tcpdump-text`; `None` where the format is unknown.
    pub format: Option<&'static str>,
    /// `gzip`, `zstd`, `lz4`, `xz`, `bzip2`; absent where the input is not compressed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compression: Option<&'static str>,
    /// Names of its link types.
    pub link_types: Vec<String>,
    /// Captures with one number were read as one stream; absent where the capture was read alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stream: Option<u32>,
    /// Number of its first packet in a set of several captures, where packet numbers continue.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_packet: Option<u64>,
    /// Packets read.
    pub packets: u64,
    /// TCP segments among the packets.
    pub tcp_segments: u64,
    /// First packet.
    pub first_ns: Option<Nanos>,
    /// Last packet.
    pub last_ns: Option<Nanos>,
    /// Warnings to the reader of the report.
    pub warnings: Vec<Warning>,
    /// Packets that gave no segment.
    pub skipped: Skipped,
    /// Trust in the labels.
    pub trust: CaptureTrust,
    #[serde(skip)]
    clock_steps: ClockSteps,
    /// Sum of the times without any packet, each longer than [`LEAP`].
    #[serde(skip)]
    leaps: Nanos,
    /// Packets with an impossible time.
    #[serde(skip)]
    impossible_times: u64,
    /// Reason why the capture could not be read to its end, in one line.
    pub error: Option<String>,
    /// Exit code: 0 read whole, 3 cannot open, 4 not a capture, 5 damaged.
    #[serde(skip)]
    pub exit_code: u8,
}

impl CaptureStatus {
    pub(super) fn new(path: &str) -> CaptureStatus {
        CaptureStatus { path: path.to_owned(), ..CaptureStatus::default() }
    }

    /// Takes in a packet's `time`; returns the time that the packet counts with.
    #[inline]
    pub(super) fn at(&mut self, time: Nanos) -> Nanos {
        let possible = time.in_range();
        self.impossible_times += u64::from(possible != time);
        let time = possible;
        let last = self.last_ns.unwrap_or(time);
        // One comparison: a step back is a huge number without a sign.
        if (time - last).0 as u64 > LEAP.0 as u64 {
            self.jumps(time, last);
        }
        self.first_ns = Some(self.first_ns.map_or(time, |first| first.min(time)));
        self.last_ns = Some(last.max(time));
        time
    }

    /// Takes in a packet that is stamped earlier than one before it, or long after it.
    #[cold]
    fn jumps(&mut self, time: Nanos, last: Nanos) {
        if time < last {
            self.clock_steps.goes_back(time, last);
        } else {
            self.leaps += time - last;
        }
    }

    /// Takes in segments that follow a packet of `from`, none of them earlier than the one before.
    pub(super) fn goes_on(&mut self, from: Nanos, segments: &[Segment]) {
        if segments.last().is_some_and(|last| last.time - from > LEAP) {
            self.leap(from, segments);
        }
    }

    /// Takes in segments that cover more than [`LEAP`].
    #[cold]
    fn leap(&mut self, from: Nanos, segments: &[Segment]) {
        let mut last = from;
        for segment in segments {
            self.leaps += Some(segment.time - last).filter(|gap| *gap > LEAP).unwrap_or_default();
            last = segment.time;
        }
    }

    pub(super) fn warn(&mut self, code: &'static str, count: u64, message: String) {
        self.warnings.push(Warning { code, count, message });
    }

    /// Copies the reader's description of the capture, once it is read.
    pub(super) fn describe(&mut self, capture: &Capture) {
        self.format = capture.format().filter(|_| self.exit_code != 4).map(Format::name);
        self.compression = capture.compression().map(Compression::name);
        self.link_types = capture.link_types().iter().map(|link| link.name().into_owned()).collect();
        if capture.untimed() > 0 {
            let message =
                "packets without a time stamp (simple packet blocks) stand at the time of the packet before them";
            self.warn("no-time", capture.untimed(), message.into());
        }
        if capture.link_types().contains(&LinkType::NFLOG) {
            self.warn("late-stamps", self.packets, LATE_STAMPS.into());
        }
        if self.impossible_times > 0 {
            self.warn("impossible-times", self.impossible_times, IMPOSSIBLE_TIMES.into());
        }
    }

    /// Adds the sums of what the capture lacks, once all flows are in, and warns where it matters.
    pub(super) fn doubt(&mut self) {
        self.trust.clock_steps = self.clock_steps.steps;
        if self.leaps > Nanos::ZERO {
            let days = self.leaps.0 / LEAP.0;
            let message = format!(
                "no packet is stamped for {days} {}: the file holds several captures, or a clock was wrong; the length of the capture includes that time",
                if days == 1 { "day" } else { "days" }
            );
            self.warn("clock-leaps", 1, message);
        }
        if let Some(share) = self.trust.unseen_share.filter(|share| *share >= WORTH_A_WARNING) {
            let message = format!(
                "{:.1} % of the data was acknowledged and is not in the capture; capture with a larger buffer (tcpdump -B)",
                share * 100.0
            );
            self.warn("unseen-data", self.trust.unseen_bytes, message);
        }
        if self.trust.flows_clock_stepped > 0 {
            let back = self.clock_steps.farthest.0 as f64 / 1e9;
            let message = format!(
                "packets are stamped up to {back:.3} s earlier than those before them; waits around them look too short"
            );
            self.warn("clock-steps", self.clock_steps.steps, message);
        }
        if self.trust.flows_stamped_late > 0 && !self.warnings.iter().any(|warning| warning.code == "late-stamps") {
            self.warn("late-stamps", self.trust.flows_stamped_late, IN_CLUMPS.into());
        }
        if self.trust.flows_options_cut > 0 {
            let message = "packets were cut inside their TCP options; capture with a snap length of at least 128 bytes (tcpdump -s 128)";
            self.warn("options-cut", self.trust.options_cut, message.into());
        }
    }

    pub(super) fn fail(&mut self, error: &CaptureError) {
        self.error = Some(error.to_string());
        self.exit_code = match error {
            CaptureError::Open { .. } => 3,
            CaptureError::NotACapture { .. } => 4,
            CaptureError::Damaged { .. } | CaptureError::Read { .. } | CaptureError::Interrupted => 5,
        };
        if let CaptureError::Damaged { truncated, .. } = error {
            let code = if *truncated { "truncated-file" } else { "damaged-file" };
            self.warn(code, 1, error.to_string());
        }
    }
}
