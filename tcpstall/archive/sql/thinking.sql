-- Which servers take longest to answer?
-- Their own time, without travel and transfer.
SELECT service, count(*) AS requests, quantile_cont(think_ns, [0.5, 0.95, 0.99]) AS p50_p95_p99_ns
FROM exchanges WHERE requester = 'client' AND think_ns > 0 GROUP BY service ORDER BY max(think_ns) DESC LIMIT 20
