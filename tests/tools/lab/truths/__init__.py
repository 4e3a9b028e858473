"""The truth of a scenario: every wait with the limit that the kernel was at, and how well a report agrees."""
