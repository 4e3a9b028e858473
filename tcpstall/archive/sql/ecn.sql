-- Is ECN accepted where it is offered, and is less sent again there?
SELECT service, count(*) FILTER (client_ecn) AS offered, count(*) FILTER (client_ecn AND server_ecn) AS accepted,
       100 * sum(server_retransmitted_bytes) FILTER (server_ecn) / sum(server_bytes) FILTER (server_ecn) AS again_percent,
       100 * sum(server_retransmitted_bytes) FILTER (NOT server_ecn) / sum(server_bytes) FILTER (NOT server_ecn)
         AS again_percent_without
FROM flows GROUP BY service ORDER BY offered DESC LIMIT 20
