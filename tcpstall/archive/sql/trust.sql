-- How far can the labels be trusted, and what do the captures lack?
SELECT trust_level, trust_reasons, count(*) AS flows, sum(lost_ns) / 1e9 AS lost_s
FROM flows GROUP BY ALL ORDER BY flows DESC LIMIT 20
