-- Which services are slow to connect to?
SELECT service, count(*) AS flows, quantile_cont(handshake_ns, 0.95) / 1e6 AS p95_ms, max(handshake_ns) / 1e6 AS worst_ms,
       count(*) FILTER (NOT handshake_complete) AS unanswered
FROM flows WHERE handshake_ns IS NOT NULL GROUP BY service ORDER BY p95_ms DESC LIMIT 20
