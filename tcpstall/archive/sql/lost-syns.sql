-- Which services need several SYNs, and what does that cost?
SELECT service, count(*) AS flows, count(*) FILTER (client_syns > 1) AS with_lost_syns,
       100.0 * count(*) FILTER (client_syns > 1) / count(*) AS percent, sum(time_handshake_ns) / 1e9 AS handshake_s
FROM flows WHERE client_syns > 0 GROUP BY service ORDER BY with_lost_syns DESC, flows DESC LIMIT 20
