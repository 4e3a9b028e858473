//! Tests of whole pastes: text around the packet lines, and replacements of names.

use super::{as_segment, numbers, segment, segments};
use crate::wire::Endpoint;
use crate::wire::text::{Paste, TextLine};

const PACKETS: [&str; 6] = [
    "11:21:45.942172 IP 192.168.247.130.58306 > 192.168.247.129.8888: Flags [S], seq 4207345593, win 64240, options [mss 1460,sackOK,TS val 366649653 ecr 0,nop,wscale 7], length 0",
    "11:21:45.945721 IP 192.168.247.129.8888 > 192.168.247.130.58306: Flags [S.], seq 2682032804, ack 4207345594, win 28960, options [mss 1460,sackOK,TS val 1138245146 ecr 366649653,nop,wscale 7], length 0",
    "11:21:45.945988 IP 192.168.247.130.58306 > 192.168.247.129.8888: Flags [.], ack 1, win 502, options [nop,nop,TS val 366649656 ecr 1138245146], length 0",
    "11:21:45.949242 IP 192.168.247.129.8888 > 192.168.247.130.58306: Flags [.], seq 1:7241, ack 1, win 227, options [nop,nop,TS val 1138245150 ecr 366649656], length 7240",
    "......",
    "11:21:45.967918 IP 192.168.247.130.58306 > 192.168.247.129.8888: Flags [.], ack 503409, win 4591, options [nop,nop,TS val 366649678 ecr 1138245168], length 0",
];

/// The paste as copied from a terminal, with blanks turned into no-break spaces as browsers do.
fn terminal() -> Vec<String> {
    let around = [
        "[root@localhost zorro]# tcpdump -i ens33 -nn port 8888",
        "tcpdump: verbose output suppressed, use -v or -vv for full protocol decode",
        "listening on ens33, link-type EN10MB (Ethernet), capture size 262144 bytes",
    ];
    let mut lines: Vec<String> = around.iter().map(|line| line.replace(' ', "\u{a0}")).collect();
    for packet in PACKETS {
        lines.extend([packet.replace(' ', "\u{a0}"), String::new(), "# (a remark by hand)".into()]);
    }
    lines.extend(
        ["^C", "119 packets captured", "131\u{a0}packets received by filter", "12\u{a0}packets dropped by kernel"]
            .map(String::from),
    );
    lines
}

#[test]
fn a_terminal_gives_what_its_packet_lines_give() {
    let terminal = terminal();
    let around: Vec<&str> = terminal.iter().map(String::as_str).collect();
    assert_eq!(segments(&around), segments(&PACKETS));
    assert_eq!(numbers(&PACKETS)[3..], [(2_682_032_805, 4_207_345_594), (4_207_345_594, 2_682_536_213)]);
}

#[test]
fn a_terminal_gives_the_capture_loss_and_the_marks() {
    let mut paste = Paste::new();
    let readings: Vec<TextLine> = terminal().iter().map(|line| paste.line(line.as_bytes())).collect();
    assert_eq!(readings.iter().filter(|&&reading| reading == TextLine::LeftOut).count(), 1);
    assert_eq!(readings.iter().filter(|&&reading| as_segment(reading).is_some()).count(), 5);
    assert_eq!((paste.dropped_by_kernel(), paste.packets(), paste.damaged()), (Some(12), 5, 0));
}

#[test]
fn closing_counts_of_several_captures_add_up() {
    let mut paste = Paste::new();
    assert_eq!(paste.dropped_by_kernel(), None);
    for line in [
        "0 packets dropped by kernel",
        "^C3 packets dropped by kernel",
        "1 packet dropped by kernel",
        "9 packets dropped by interface",
    ] {
        assert_eq!(paste.line(line.as_bytes()), TextLine::Remark);
    }
    assert_eq!(paste.dropped_by_kernel(), Some(4));
}

#[test]
fn marks_of_left_out_lines_are_seen_and_prose_is_not() {
    let reading = |line: &str| Paste::new().line(line.as_bytes());
    for mark in [
        "......",
        "...",
        "\u{2026}",
        " . . .",
        "[...]",
        "(snip)",
        "[snip]",
        "<snip>",
        "--- 345 lines omitted ---",
        "> ...",
        "\u{a0}......",
    ] {
        assert_eq!(reading(mark), TextLine::LeftOut, "{mark}");
    }
    for prose in [
        "",
        ".",
        "# ...",
        "---",
        "and then it hangs...",
        "the sender skipped slow start",
        "[root@host ~]#",
        "\t0x0000:  4500 003c",
    ] {
        assert_eq!(reading(prose), TextLine::Remark, "{prose}");
    }
}

#[test]
fn mail_quotes_tabs_colours_and_html_are_cleaned_away() {
    let plain = segment(PACKETS[0]);
    for line in [
        format!("> {}", PACKETS[0]),
        format!(">> | \t{}\r", PACKETS[0]),
        format!("^C{}", PACKETS[0]),
        format!("\u{feff}    {}  ", PACKETS[0]),
        PACKETS[0].replace(' ', "\t"),
        PACKETS[0].replace('>', "&gt;"),
        PACKETS[0].replace("Flags", "\u{1b}[01;31mFlags\u{1b}[0m"),
    ] {
        assert_eq!(segment(&line), plain, "{line}");
    }
}

#[test]
fn names_stand_for_stable_addresses_and_known_ports() {
    let line = "10:00:00.0 IP web-1.example.com.51000 > localhost.https: Flags [S], seq 1, win 9, length 0";
    let mut paste = Paste::new();
    let segment = as_segment(paste.line(line.as_bytes())).unwrap();
    assert_eq!((segment.source.port, segment.destination.port), (51000, 443));
    let names: Vec<_> = paste.names().iter().map(|(name, address)| (name.as_str(), *address)).collect();
    assert_eq!(names, [("web-1.example.com", segment.source.address), ("localhost", segment.destination.address)]);
    for (_, address) in names {
        assert_eq!(address.0 >> 96, 0x2001_0db8);
    }
    paste.line(line.as_bytes());
    assert_eq!(paste.names().len(), 2);
    assert_eq!(as_segment(Paste::new().line(line.as_bytes())).unwrap().source, segment.source);
    assert!(paste.services().is_empty());
}

#[test]
fn an_unknown_service_gets_a_dynamic_port_and_is_listed() {
    let mut paste = Paste::new();
    let mut ends = |source: &str| -> Endpoint {
        let line = format!("10:00:00.0 IP 10.0.0.1.{source} > 10.0.0.2.ssh: Flags [S], seq 1, win 9, length 0");
        as_segment(paste.line(line.as_bytes())).unwrap().source
    };
    let (first, again, other) = (ends("our-own-service"), ends("our-own-service"), ends("another-service"));
    assert_eq!(first, again);
    assert_ne!(first, other);
    assert!(first.port >= 49_152);
    assert_eq!(
        paste.services(),
        [("our-own-service".to_string(), first.port), ("another-service".to_string(), other.port)]
    );
}

#[test]
fn packets_are_counted_whatever_they_are() {
    let mut paste = Paste::new();
    paste.line(b"10:00:00.0 ARP, Request who-has 10.0.0.1 tell 10.0.0.2, length 46");
    paste.line(b"10:00:00.1 IP 10.0.0.1.53 > 10.0.0.2.53: UDP, length 9");
    paste.line(b"10:00:00.2 IP 10.0.0.1.80 > 10.0.0.2.81: tcp 0");
    let segment = as_segment(paste.line(PACKETS[0].as_bytes())).unwrap();
    assert_eq!((segment.packet.0, paste.packets(), paste.damaged()), (4, 4, 1));
}
