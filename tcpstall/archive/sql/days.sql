-- How much data is there of each day?
SELECT day, count(*) AS flows, sum(client_bytes + server_bytes) / 1e9 AS gigabytes FROM flows GROUP BY day ORDER BY day
