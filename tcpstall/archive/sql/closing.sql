-- Who closes connections, and after how long a silence?
-- A server whose keep-alive ends before its clients' makes them connect anew.
SELECT service, closed_by, state, count(*) AS flows, median(idle_before_close_ns) / 1e9 AS silence_s
FROM flows WHERE closed_by IS NOT NULL GROUP BY ALL ORDER BY flows DESC LIMIT 20
