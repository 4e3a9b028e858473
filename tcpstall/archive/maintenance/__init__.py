"""A store kept sound and small, rows taken out of it, and the same rows for other tools."""
