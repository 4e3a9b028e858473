"""Changes for each finding: sizes to set, commands, conditions, risks, and checks on the host first."""
