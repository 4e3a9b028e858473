-- Which SYN options of clients do servers, or what lies between, not take up?
SELECT service, count(*) AS flows, count(*) FILTER (client_sack_permitted AND NOT server_sack_permitted) AS without_sack,
       count(*) FILTER (client_timestamps AND NOT server_timestamps) AS without_timestamps
FROM flows WHERE server_syns > 0 GROUP BY service ORDER BY without_sack + without_timestamps DESC, flows DESC LIMIT 20
