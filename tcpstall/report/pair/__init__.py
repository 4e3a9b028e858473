"""The diagnosis from captures of both ends, as tables, words and JSON."""
