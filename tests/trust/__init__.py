"""How far results can be trusted, by what a capture lacks."""
