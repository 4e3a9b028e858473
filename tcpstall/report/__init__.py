"""Pages of a terminal, a browser and other programs; a command imports what it shows."""
