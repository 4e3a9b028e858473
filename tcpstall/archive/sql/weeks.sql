-- What does the newest week lose more than the week before, by service and cause?
-- The newest week ends with the last hour in which a wait began.
WITH last AS (SELECT max(start_ns) AS ns, 7 * 86400000000000 AS week FROM hours WHERE waits > 0)
SELECT service, cause, coalesce(sum(lost_ns) FILTER (start_ns <= ns - week), 0) / 1e9 AS before_s,
       coalesce(sum(lost_ns) FILTER (start_ns > ns - week), 0) / 1e9 AS newest_s, newest_s - before_s AS more_s
FROM hours, last WHERE waits > 0 AND start_ns > ns - 2 * week GROUP BY ALL ORDER BY more_s DESC LIMIT 20
