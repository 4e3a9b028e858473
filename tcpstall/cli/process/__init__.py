"""The process of a command: its signals, its streams and its terminal, its progress, and its end."""
