//! Recognises input that is not a capture of a supported format, with advice for each kind.

/// First bytes of known kinds of input.
const KNOWN: &[(&[u8], &str)] = &[
    (b"\x1f\x9d", "a file of compress; decompress it first: gzip -dc FILE | tcpstall analyze -"),
    (b"LZIP", "an lzip file; decompress it first: lzip -dc FILE | tcpstall analyze -"),
    (b"PK\x03\x04", "a zip archive; unpack it first: unzip -p FILE | tcpstall analyze -"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive; unpack it first: 7z x -so FILE | tcpstall analyze -"),
    (b"GMBU", "a Network Monitor capture; convert it first: editcap -F pcap FILE NEW.pcap"),
    (b"RTSS", "a Network Monitor capture; convert it first: editcap -F pcap FILE NEW.pcap"),
    (b"TRSNIFF data", "a Sniffer capture; convert it first: editcap -F pcap FILE NEW.pcap"),
    (b"iptrace ", "an iptrace capture; convert it first: editcap -F pcap FILE NEW.pcap"),
    (b"\xff\xd8\xff", "a JPEG image; give a pcap or pcapng file"),
    (b"\x89PNG\r\n", "a PNG image; give a pcap or pcapng file"),
    (b"GIF8", "a GIF image; give a pcap or pcapng file"),
    (b"%PDF-", "a PDF document; give a pcap or pcapng file"),
    (b"\x7fELF", "a program; give a pcap or pcapng file"),
    (b"SQLite format 3\0", "an SQLite database; give a pcap or pcapng file"),
    (b"\xff\xfe", "text in UTF-16; convert it first: iconv -f UTF-16 -t UTF-8 FILE | tcpstall analyze -"),
    (b"\xfe\xff", "text in UTF-16; convert it first: iconv -f UTF-16 -t UTF-8 FILE | tcpstall analyze -"),
    (b"<!DOCTYPE", "a web page, perhaps a download page saved in a capture's place; fetch the capture itself"),
    (b"<html", "a web page, perhaps a download page saved in a capture's place; fetch the capture itself"),
];

/// The kind of input, where its first bytes show it.
pub(super) fn name(sample: &[u8]) -> Option<&'static str> {
    /// Offset of a tar archive's magic number.
    const TAR_MAGIC: usize = 257;
    if sample.is_empty() {
        return Some("an empty file; check that the capture wrote anything");
    }
    if let Some((_, what)) = KNOWN.iter().find(|(magic, _)| sample.starts_with(magic)) {
        return Some(what);
    }
    if sample.get(TAR_MAGIC..).is_some_and(|rest| rest.starts_with(b"ustar")) {
        return Some("a tar archive; unpack it first: tar -xOf FILE | tcpstall analyze -");
    }
    if is_erf(sample) {
        return Some("an ERF capture; convert it first: editcap -F pcap FILE NEW.pcap");
    }
    None
}

/// Description of unknown input.
pub(super) fn unknown(sample: &[u8]) -> String {
    let shown: Vec<String> = sample.iter().take(4).map(|byte| format!("{byte:02x}")).collect();
    format!(
        "data of an unknown kind (first bytes {}); tcpstall reads pcap, pcapng, snoop and the text that tcpdump prints",
        shown.join(" ")
    )
}

/// Recognises Endace's records, which have no magic number, by two consecutive records with a known type and a possible
/// length.
fn is_erf(sample: &[u8]) -> bool {
    const HEADER: usize = 16;
    const LAST_TYPE: u8 = 48;
    let length = |at: usize| {
        let header = sample.get(at..)?.first_chunk::<HEADER>()?;
        let kind = header[8] & 0x7f;
        let length = usize::from(u16::from_be_bytes([header[10], header[11]]));
        ((1..=LAST_TYPE).contains(&kind) && length >= HEADER).then_some(length)
    };
    length(0).and_then(length).is_some()
}
