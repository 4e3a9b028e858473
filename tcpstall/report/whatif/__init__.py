"""Predicted gain of a change, as tables, words and JSON."""
