-- Which networks of clients lose most, and how far away are they?
-- IPv4, by 24 bits.
SELECT regexp_replace(client_address, '[0-9]+$', '0/24') AS network, count(DISTINCT client_address) AS clients,
       count(*) AS flows, sum(lost_ns) / 1e9 AS lost_s, median(base_rtt_ns) / 1e6 AS rtt_ms
FROM flows WHERE NOT contains(client_address, ':') GROUP BY network ORDER BY lost_s DESC LIMIT 20
