"""Trust in results, by the gaps of a capture."""
