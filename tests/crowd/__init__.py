"""Captures of very many flows, and what they cost."""
