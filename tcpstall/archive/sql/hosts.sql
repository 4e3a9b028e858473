-- Which hosts lose time to what?
-- `host` is the end that caused a wait.
SELECT host, cause, sum(waits) AS waits, sum(lost_ns) / 1e9 AS lost_s
FROM hours WHERE cause <> 'app-limited' AND waits > 0 GROUP BY ALL ORDER BY lost_s DESC LIMIT 20
