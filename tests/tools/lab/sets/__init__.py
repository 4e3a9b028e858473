"""Sets of experiments."""
