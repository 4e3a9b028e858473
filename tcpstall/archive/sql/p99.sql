-- What is the 99th percentile of requests by service, and what takes most of the time there?
WITH slow AS (
  SELECT server_address, server_port, count(*) AS requests, quantile_cont(latency_ns, 0.99) AS p99_ns
  FROM exchanges WHERE complete GROUP BY server_address, server_port ORDER BY p99_ns DESC LIMIT 20
)
SELECT any_value(service) AS service, any_value(requests) AS requests, any_value(p99_ns) / 1e6 AS p99_ms,
       list_max([{ms: coalesce(avg(think_ns), 0) / 1e6, part: 'the server''s own time'},
                 {ms: coalesce(avg(travel_ns), 0) / 1e6, part: 'travel'},
                 {ms: coalesce(avg(response_ns), 0) / 1e6, part: 'the response''s transfer'},
                 {ms: coalesce(avg(request_ns), 0) / 1e6, part: 'the request''s transfer'},
                 {ms: coalesce(avg(handshake_ns), 0) / 1e6, part: 'the handshake'}]) AS mostly
FROM exchanges JOIN slow USING (server_address, server_port) WHERE complete AND latency_ns >= p99_ns
GROUP BY server_address, server_port ORDER BY p99_ms DESC
