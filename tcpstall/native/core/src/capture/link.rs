//! Link-layer header types of captures.

use std::borrow::Cow;

/// A link-layer header type (the LINKTYPE_ registry of tcpdump.org).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LinkType(pub u16);

impl LinkType {
    /// BSD loopback: an address family in the byte order of the host that captured.
    pub const NULL: LinkType = LinkType(0);
    /// Ethernet.
    pub const ETHERNET: LinkType = LinkType(1);
    /// PPP.
    pub const PPP: LinkType = LinkType(9);
    /// FDDI.
    pub const FDDI: LinkType = LinkType(10);
    /// Raw IP under the number that most systems use internally and that some tools write into files.
    pub const RAW_HOST: LinkType = LinkType(12);
    /// Raw IP under OpenBSD's internal number.
    pub const RAW_OPENBSD: LinkType = LinkType(14);
    /// PPP in HDLC-like framing.
    pub const PPP_HDLC: LinkType = LinkType(50);
    /// PPP over Ethernet without the Ethernet.
    pub const PPP_ETHER: LinkType = LinkType(51);
    /// Raw IP.
    pub const RAW: LinkType = LinkType(101);
    /// Cisco's HDLC.
    pub const C_HDLC: LinkType = LinkType(104);
    /// IEEE 802.11.
    pub const IEEE802_11: LinkType = LinkType(105);
    /// OpenBSD loopback: an address family in network byte order.
    pub const LOOP: LinkType = LinkType(108);
    /// Linux "cooked" capture, as with `-i any`.
    pub const LINUX_SLL: LinkType = LinkType(113);
    /// IEEE 802.11 after a radiotap header.
    pub const IEEE802_11_RADIOTAP: LinkType = LinkType(127);
    /// Another link type after a PPI header, which names it.
    pub const PPI: LinkType = LinkType(192);
    /// Raw IPv4.
    pub const IPV4: LinkType = LinkType(228);
    /// Raw IPv6.
    pub const IPV6: LinkType = LinkType(229);
    /// Linux's netfilter log.
    pub const NFLOG: LinkType = LinkType(239);
    /// Linux "cooked" capture, second version.
    pub const LINUX_SLL2: LinkType = LinkType(276);

    /// Every link type that is read.
    pub const ALL: [LinkType; 19] = [
        LinkType::NULL,
        LinkType::ETHERNET,
        LinkType::PPP,
        LinkType::FDDI,
        LinkType::RAW_HOST,
        LinkType::RAW_OPENBSD,
        LinkType::PPP_HDLC,
        LinkType::PPP_ETHER,
        LinkType::RAW,
        LinkType::C_HDLC,
        LinkType::IEEE802_11,
        LinkType::LOOP,
        LinkType::LINUX_SLL,
        LinkType::IEEE802_11_RADIOTAP,
        LinkType::PPI,
        LinkType::IPV4,
        LinkType::IPV6,
        LinkType::NFLOG,
        LinkType::LINUX_SLL2,
    ];

    /// The name that tcpdump and Wireshark users know, or `LINKTYPE_n`.
    pub fn name(self) -> Cow<'static, str> {
        Cow::Borrowed(match self {
            LinkType::NULL => "NULL",
            LinkType::ETHERNET => "EN10MB",
            LinkType::PPP => "PPP",
            LinkType::FDDI => "FDDI",
            LinkType::RAW_HOST | LinkType::RAW_OPENBSD | LinkType::RAW => "RAW",
            LinkType::PPP_HDLC => "PPP_HDLC",
            LinkType::PPP_ETHER => "PPP_ETHER",
            LinkType::C_HDLC => "C_HDLC",
            LinkType::IEEE802_11 => "IEEE802_11",
            LinkType::IEEE802_11_RADIOTAP => "IEEE802_11_RADIO",
            LinkType::PPI => "PPI",
            LinkType::NFLOG => "NFLOG",
            LinkType::LOOP => "LOOP",
            LinkType::LINUX_SLL => "LINUX_SLL",
            LinkType::IPV4 => "IPV4",
            LinkType::IPV6 => "IPV6",
            LinkType::LINUX_SLL2 => "LINUX_SLL2",
            LinkType(other) => return Cow::Owned(format!("LINKTYPE_{other}")),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::LinkType;

    #[test]
    fn an_unread_link_type_is_named_by_its_number() {
        assert_eq!(LinkType(276).name(), "LINUX_SLL2");
        assert_eq!(LinkType(14).name(), "RAW");
        assert_eq!(LinkType(220).name(), "LINKTYPE_220");
    }
}
