-- Which hosts lose time to what?
-- `host` is the end that caused a wait.
SELECT host, cause, count(*) AS waits, sum(lost_ns) / 1e9 AS lost_s
FROM stalls WHERE cause <> 'app-limited' GROUP BY ALL ORDER BY lost_s DESC LIMIT 20
