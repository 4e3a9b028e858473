-- How much was sent again, hour by hour?
SELECT hour, sum(client_bytes + server_bytes) / 1e9 AS gigabytes,
       100.0 * sum(client_retransmitted_bytes + server_retransmitted_bytes) / sum(client_bytes + server_bytes)
         AS percent_again
FROM flows GROUP BY hour ORDER BY hour
