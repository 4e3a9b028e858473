"""Changes between two captures, as tables, words and JSON."""
