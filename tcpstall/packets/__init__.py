"""Captures out: packets written again from what the core read."""
