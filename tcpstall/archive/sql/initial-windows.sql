-- With how many segments do servers begin?
-- Of connections in which they sent more than ten.
SELECT service, round(server_initial_window_bytes / server_mss_bytes) AS segments, count(*) AS flows,
       median(base_rtt_ns) / 1e6 AS rtt_ms
FROM flows WHERE server_initial_window_bytes IS NOT NULL AND server_bytes > 10 * server_mss_bytes
GROUP BY ALL ORDER BY flows DESC LIMIT 20
