"""The figures behind a label: sizes, rates, counts that a stall carries as evidence."""
