-- Which captures show shut receive windows best?
SELECT capture, count(*) AS waits, max(duration_ns) / 1e9 AS longest_s,
       arg_max({host: client_address, port: client_port, stall: stall}, duration_ns) AS worst
FROM stalls WHERE cause = 'zero-window' GROUP BY capture ORDER BY longest_s DESC LIMIT 10
