"""Functions of DuckDB that a question may call: they compute from their arguments and look at nothing else."""

__all__ = ["ALLOWED", "MAKERS"]

MAKERS = frozenset({"unnest", "range", "generate_series"})
"""Functions that may stand for a table. All others read files, settings or memory."""

ALLOWED = frozenset(
    """
    abs acos acosh asin asinh atan atan2 atanh bit_count cbrt ceil ceiling cos cosh cot degrees divide even exp
    factorial fdiv floor fmod gamma gcd greatest greatest_common_divisor isfinite isinf isnan lcm least
    least_common_multiple lgamma ln log log10 log2 mod multiply nextafter pi pow power radians round round_even sign
    signbit sin sinh sqrt subtract add tan tanh trunc xor

    any_value approx_count_distinct approx_quantile approx_top_k arbitrary arg_max arg_max_null arg_min arg_min_null
    argmax argmin array_agg avg bit_and bit_or bit_xor bool_and bool_or corr count count_if count_star countif
    covar_pop covar_samp entropy favg first fsum geomean geometric_mean group_concat histogram kurtosis kurtosis_pop
    last list listagg mad max max_by mean median min min_by mode product quantile quantile_cont quantile_disc
    regr_avgx regr_avgy regr_count regr_intercept regr_r2 regr_slope regr_sxx regr_sxy regr_syy reservoir_quantile
    sem skewness stddev stddev_pop stddev_samp string_agg sum sumkahan kahan_sum var_pop var_samp variance wavg
    weighted_avg

    cume_dist dense_rank fill first_value lag last_value lead nth_value ntile percent_rank rank rank_dense row_number

    ascii array_to_string bar base64 bin bit_length char_length character_length chr concat concat_ws contains
    damerau_levenshtein editdist3 ends_with format format_bytes formatreadabledecimalsize formatreadablesize from_base64
    from_hex hamming hash hex ilike_escape instr jaccard jaro_similarity jaro_winkler_similarity lcase left length len
    levenshtein like_escape lower lpad ltrim md5 mismatches not_ilike_escape not_like_escape octet_length ord overlay
    parse_dirname parse_dirpath parse_filename parse_formatted_bytes parse_path path_join position prefix printf
    regexp_escape regexp_extract regexp_extract_all regexp_full_match regexp_matches regexp_replace
    regexp_split_to_array regexp_split_to_table repeat replace reverse right rpad rtrim sha1 sha256 split split_part
    starts_with str_split str_split_regex string_split string_split_regex string_to_array strip_accents strlen strpos
    substr substring suffix to_base to_base64 to_binary to_hex translate trim ucase unbin unhex unicode upper url_decode
    url_encode

    age century current_date current_localtime current_localtimestamp date_add date_diff date_part date_sub date_trunc
    datediff datepart datesub datetrunc day dayname dayofmonth dayofweek dayofyear days_in_month decade epoch epoch_ms
    epoch_ns epoch_us era get_current_time get_current_timestamp hour isodow isoyear julian last_day make_date make_time
    make_timestamp make_timestamp_ms make_timestamp_ns make_timestamptz microsecond millennium millisecond minute month
    monthname nanosecond now quarter second strftime strptime time_bucket timezone timezone_hour timezone_minute
    to_centuries to_days to_decades to_hours to_microseconds to_millennia to_milliseconds to_minutes to_months
    to_quarters to_seconds to_timestamp to_weeks to_years today try_strptime week weekday weekofyear year yearweek

    aggregate apply array_aggr array_aggregate array_append array_apply array_cat array_concat array_contains
    array_distinct array_extract array_filter array_has array_has_all array_has_any array_indexof array_intersect
    array_length array_pop_back array_pop_front array_position array_prepend array_push_back array_push_front
    array_reduce array_resize array_reverse array_reverse_sort array_select array_slice array_sort array_transform
    array_unique array_value array_where array_zip cardinality element_at filter flatten generate_series
    list_aggr list_aggregate list_any_value list_append list_apply list_avg list_cat list_concat list_contains
    list_count list_distinct list_element list_extract list_filter list_first list_has list_has_all list_has_any
    list_histogram list_indexof list_intersect list_last list_max list_median list_min list_mode list_pack
    list_position list_prepend list_product list_reduce list_resize list_reverse list_reverse_sort list_select
    list_slice list_sort list_stddev_pop list_stddev_samp list_string_agg list_sum list_transform list_unique list_value
    list_var_pop list_var_samp list_where list_zip map map_concat map_contains map_entries map_extract map_extract_value
    map_from_entries map_keys map_values range reduce row struct_concat struct_contains struct_extract struct_extract_at
    struct_has struct_indexof struct_insert struct_keys struct_pack struct_position struct_update struct_values unnest

    array_to_json from_json json json_array json_array_length json_contains json_exists json_extract json_extract_path
    json_extract_path_text json_extract_string json_group_array json_group_object json_keys json_merge_patch json_object
    json_pretty json_quote json_structure json_transform json_type json_valid json_value row_to_json to_json

    alias constant_or_null equi_width_bins error if is_histogram_other_bin nullif switch typeof
    can_cast_implicitly
    """.split()  # noqa: SIM905 - quotes around 400 words say nothing
)
"""By name, in small letters. Operators are written in signs and need no name here."""
