-- Which services lose most time, and to how many connections?
SELECT service, count(*) AS flows, sum(lost_ns) / 1e9 AS lost_s,
       round(100 * sum(lost_ns) / sum(duration_ns), 1) AS percent
FROM flows GROUP BY service ORDER BY lost_s DESC LIMIT 20
