-- Which clients announce less than their path could carry?
SELECT client_address, count(*) AS flows, median(client_announced_window_bytes) AS window_bytes,
       median(server_bdp_bytes) AS bdp_bytes, sum(lost_ns) / 1e9 AS lost_s
FROM flows WHERE client_announced_window_bytes < server_bdp_bytes GROUP BY client_address ORDER BY lost_s DESC LIMIT 20
