"""What two captures of both ends say together, as tables, words and JSON."""
