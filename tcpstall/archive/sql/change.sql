-- What did services lose per connection before and after a moment?
-- Of a deploy, say: `--set at=2026-03-01T10:00`, UTC.
WITH each AS (SELECT service, lost_ns / 1e6 AS lost_ms, time >= $at::TIMESTAMP AS later FROM flows)
SELECT service, count(*) FILTER (NOT later) AS flows_before, count(*) FILTER (later) AS flows_after,
       avg(lost_ms) FILTER (NOT later) AS lost_before_ms, avg(lost_ms) FILTER (later) AS lost_after_ms
FROM each GROUP BY service HAVING flows_before > 0 AND flows_after > 0
ORDER BY lost_after_ms - lost_before_ms DESC LIMIT 20
