-- When was time lost to full receive windows?
SELECT hour, count(*) AS waits, sum(lost_ns) / 1e9 AS lost_s
FROM stalls WHERE cause = 'rwnd-limited' GROUP BY hour ORDER BY hour
