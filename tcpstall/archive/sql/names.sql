-- Which names of servers lose most time, and to what?
-- The name in the TLS hello, or the HTTP Host.
SELECT coalesce(server_name, http_host) AS name, cause, count(*) FILTER (lost_ns > 0) AS waits,
       sum(lost_ns) / 1e9 AS lost_s
FROM stalls WHERE cause <> 'app-limited' AND (server_name IS NOT NULL OR http_host IS NOT NULL)
GROUP BY ALL ORDER BY lost_s DESC LIMIT 20
