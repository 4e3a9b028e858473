"""Real Linux senders in network namespaces, and what their kernel says about every wait.

`fixtures/pairs` holds what became of transfers when something was really changed, a folder a situation:
`before.pcap.gz` and, for each change, its capture and a JSON, both named after it (`initcwnd-40.json`). Captures are
the sender's, cut to headers. A JSON says:

`set`       the change in the words of `tcpstall whatif --set`
`applied`   what was done on which host; `figures` are those of tests.tools.lab.changes.situation that are not its
            defaults
`service`   address and port of the server, on which every connection of the captures ends
`ranked`    whether the folder's changes compete to be the remedy: the shortest real transfer wins
`before`, `after`
  `capture`        the file beside the JSON: of all runs the one with the median transfer time
  `transfer_ns`    in that capture, from the first SYN until its host knew all data there: its own with the ACK that
                   covers it, its peer's when it came in; whatever the number of connections
  `client_transfer_ns`, `client_exchanges_ns`
                   the same run by the client's clock: from its first connect() to the end of its last read(); each
                   exchange from its first write(), or the connect() right before it, to the end of its read()
  `client_waited_ns`  the sum of the exchanges: the transfer without the client's own pauses
  `runs`           median, min and max of these times over `count` runs: no prediction can be closer than they are
  `handshakes_ns`  round trips without a queue, to be held against `rtt_asked_ns`
  `repeated_bytes` payload that the captured host sent twice: needlessly, for nothing was lost on the way
  `forwarder`      how late the middle was

One segment a buffer (`one_segment`) is the sender's interface with gso_max_segs 1: its kernel then puts one segment
into each buffer of the send queue, and SO_SNDBUF counts 2304 bytes for 1448 sent, as on stacks without segmentation
offload. Of 16 KB, which setsockopt() doubles, 20 to 22 KB are in flight (where memory was counted otherwise: 17 KB).
Not imitated: when an old kernel woke a blocked writer, and what it chose without SO_SNDBUF.
"""
