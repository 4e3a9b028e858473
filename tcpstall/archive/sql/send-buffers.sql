-- Since when do senders run into their send buffers, and at which services?
SELECT service, min(time) AS since, count(DISTINCT (scan, flow)) AS flows, median(in_flight_bytes) AS in_flight
FROM stalls WHERE cause = 'sndbuf-limited' AND confidence >= 0.6 GROUP BY service ORDER BY flows DESC LIMIT 20
