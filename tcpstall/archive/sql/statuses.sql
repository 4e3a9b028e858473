-- Which HTTP hosts answer with which status, and how late?
-- Of the first answer of each connection.
SELECT http_host, http_status, count(*) AS flows, median(lost_ns) / 1e6 AS median_lost_ms
FROM flows WHERE http_status IS NOT NULL GROUP BY ALL ORDER BY http_status DESC, flows DESC LIMIT 40
