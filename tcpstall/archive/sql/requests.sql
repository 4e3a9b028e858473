-- How long do requests take, by service?
SELECT service, count(*) AS requests, quantile_cont(latency_ns, [0.5, 0.95, 0.99]) AS p50_p95_p99_ns
FROM exchanges WHERE complete GROUP BY service ORDER BY requests DESC LIMIT 20
