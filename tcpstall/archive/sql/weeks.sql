-- What does the newest week lose more than the week before, by service and cause?
WITH last AS (SELECT max(start_ns) AS ns, 7 * 86400000000000 AS week FROM stalls)
SELECT service, cause, coalesce(sum(lost_ns) FILTER (start_ns <= ns - week), 0) / 1e9 AS before_s,
       coalesce(sum(lost_ns) FILTER (start_ns > ns - week), 0) / 1e9 AS newest_s, newest_s - before_s AS more_s
FROM stalls, last WHERE start_ns > ns - 2 * week GROUP BY ALL ORDER BY more_s DESC LIMIT 20
