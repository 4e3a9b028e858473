-- Which services answer from several distances: load balancers, several paths, middleboxes?
SELECT service, count(DISTINCT server_syn_ttl) AS ttls, min(server_syn_ttl) AS least, max(server_syn_ttl) AS most,
       count(*) AS flows
FROM flows WHERE server_syn_ttl IS NOT NULL GROUP BY service ORDER BY ttls DESC, flows DESC LIMIT 20
