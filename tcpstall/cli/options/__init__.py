"""Options of the commands: each with what people may type, and what it means."""
