-- Why could files not be read?
SELECT exit_code, regexp_replace(error, '.*: ', '') AS reason, count(*) AS files, any_value(name) AS one_of_them
FROM errors GROUP BY ALL ORDER BY files DESC
