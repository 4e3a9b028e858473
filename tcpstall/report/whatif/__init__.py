"""What a change would buy, as tables, words and JSON."""
