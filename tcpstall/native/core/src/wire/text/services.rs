//! TCP ports of the service names that tcpdump prints in their place.

/// The port of a service; `None` if the name is not in the table.
///
/// Source: IANA's Service Name and Transport Protocol Port Number Registry, and the aliases that the `services` files of
/// Linux and the BSDs add to it.
pub(super) fn port(name: &[u8]) -> Option<u16> {
    let name = std::str::from_utf8(name).ok()?;
    let index = PORTS.binary_search_by(|(known, _)| known.cmp(&name)).ok()?;
    Some(PORTS[index].1)
}

/// Sorted by name, for the binary search.
#[rustfmt::skip]
const PORTS: &[(&str, u16)] = &[
    ("XmlIpcRegSvc", 9092), ("acr-nema", 104), ("afs3-callback", 7001), ("afs3-fileserver", 7000),
    ("afs3-prserver", 7002), ("amanda", 10080), ("amqp", 5672), ("amqps", 5671), ("bacula-dir", 9101),
    ("bacula-fd", 9102), ("bacula-sd", 9103), ("bgp", 179), ("bgpd", 2605), ("binkp", 24554),
    ("blackice-icecap", 8081), ("bootpc", 68), ("bootps", 67), ("canna", 5680), ("cfengine", 5308), ("chargen", 19),
    ("cisco-sccp", 2000), ("commplex-link", 5001), ("commplex-main", 5000), ("cslistener", 9000),
    ("cvspserver", 2401), ("cvsup", 5999), ("daap", 3689), ("daytime", 13), ("db-lsp", 17500), ("ddi-tcp-1", 8888),
    ("diameter", 3868), ("dicom", 104), ("dircproxy", 57000), ("discard", 9), ("distcc", 3632), ("domain", 53),
    ("domain-s", 853), ("echo", 7), ("eforward", 2181), ("efs", 520), ("epmap", 135), ("epmd", 4369),
    ("etcd-client", 2379), ("etcd-server", 2380), ("exec", 512), ("f5-iquery", 4353), ("fido", 60179), ("finger", 79),
    ("font-server", 7100), ("ftp", 21), ("ftp-data", 20), ("ftps", 990), ("ftps-data", 989), ("git", 9418),
    ("glrpc", 9080), ("gnunet", 2086), ("gnutella-rtr", 6347), ("gnutella-svc", 6346), ("gopher", 70), ("gpsd", 2947),
    ("gris", 2135), ("gsigatekeeper", 2119), ("h323hostcall", 1720), ("hbci", 3000), ("hostnames", 101),
    ("hp-pdl-datastr", 9100), ("http", 80), ("http-alt", 8080), ("http-proxy", 8080), ("https", 443), ("iax", 4569),
    ("icpv2", 3130), ("ident", 113), ("imap", 143), ("imap2", 143), ("imaps", 993), ("ipp", 631), ("iprop", 2121),
    ("ipsec-nat-t", 4500), ("irc", 194), ("irdmi", 8000), ("isakmp", 500), ("iscsi-target", 3260), ("isisd", 2608),
    ("iso-tsap", 102), ("italk", 12345), ("jetdirect", 9100), ("kamanda", 10081), ("kerberos", 88),
    ("kerberos-adm", 749), ("kpasswd", 464), ("l2f", 1701), ("ldap", 389), ("ldaps", 636), ("login", 513),
    ("lotusnote", 1352), ("macromedia-fcs", 1935), ("mdns", 5353), ("memcache", 11211), ("microsoft-ds", 445),
    ("mqtt", 1883), ("ms-sql-m", 1434), ("ms-sql-s", 1433), ("ms-streaming", 1755), ("ms-wbt-server", 3389),
    ("msexch-routing", 691), ("msp", 18), ("mtn", 4691), ("mysql", 3306), ("nbd", 10809), ("ncube-lm", 1521),
    ("ndmp", 10000), ("netbios-dgm", 138), ("netbios-ns", 137), ("netbios-ssn", 139), ("netconf-ssh", 830),
    ("netstat", 15), ("newoak", 4001), ("nfs", 2049), ("nntp", 119), ("nntps", 563), ("nqs", 607), ("nsca", 5667),
    ("ntp", 123), ("nut", 3493), ("openvpn", 1194), ("opsession-prxy", 3307), ("oracle", 1521), ("ospfd", 2604),
    ("palace-2", 9993), ("pcsync-https", 8443), ("personal-agent", 5555), ("pop3", 110), ("pop3s", 995),
    ("postgresql", 5432), ("postgrey", 10023), ("pptp", 1723), ("printer", 515), ("puppet", 8140), ("qotd", 17),
    ("radius", 1812), ("radius-acct", 1813), ("radmin-port", 4899), ("redis", 6379), ("remctl", 4373), ("rfb", 5900),
    ("rmiregistry", 1099), ("rpcbind", 111), ("rplay", 5555), ("rsync", 873), ("rtelnet", 107), ("rtmp", 1935),
    ("rtsp", 554), ("scp-config", 10001), ("sd", 9876), ("search-agent", 1234), ("secure-mqtt", 8883),
    ("sgi-cad", 17004), ("shell", 514), ("sieve", 4190), ("silc", 706), ("simplifymedia", 8087), ("sip", 5060),
    ("sip-tls", 5061), ("smtp", 25), ("snmp", 161), ("snmp-trap", 162), ("socks", 1080), ("ssh", 22), ("stun", 3478),
    ("stuns", 5349), ("submission", 587), ("submissions", 465), ("sun-answerbook", 8888), ("sunproxyadmin", 8081),
    ("sunrpc", 111), ("suucp", 4031), ("svn", 3690), ("syslog", 514), ("syslog-tls", 6514), ("systat", 11),
    ("tacacs", 49), ("tcpmux", 1), ("telnet", 23), ("telnets", 992), ("terabase", 4000), ("tfido", 60177),
    ("tftp", 69), ("time", 37), ("tinc", 655), ("tproxy", 8081), ("turn", 3478), ("turns", 5349), ("upnotifyp", 4445),
    ("us-cli", 8082), ("us-srv", 8083), ("venus", 2430), ("vnc-server", 5900), ("wap-wsp", 9200), ("webcache", 8080),
    ("webmin", 10000), ("websm", 9090), ("whois", 43), ("wnn6", 22273), ("wsman", 5985), ("wsmans", 5986),
    ("www", 80), ("www-http", 80), ("x11", 6000), ("x11-1", 6001), ("x11-2", 6002), ("x11-3", 6003), ("x11-4", 6004),
    ("x11-5", 6005), ("x11-6", 6006), ("x11-7", 6007), ("xfs", 7100), ("xmpp-client", 5222), ("xmpp-server", 5269),
    ("xtel", 1313), ("zabbix-agent", 10050), ("zabbix-trapper", 10051), ("zebra", 2601), ("zope", 9673),
];

#[cfg(test)]
mod tests {
    use super::{PORTS, port};

    #[test]
    fn the_table_is_sorted() {
        assert!(PORTS.is_sorted_by(|one, next| one.0 < next.0));
    }

    #[test]
    fn known_services_have_their_ports() {
        assert_eq!(port(b"http"), Some(80));
        assert_eq!(port(b"postgresql"), Some(5432));
        assert_eq!(port(b"x11-1"), Some(6001));
        assert_eq!(port(b"no-such-service"), None);
    }
}
