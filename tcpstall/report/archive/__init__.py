"""Answers of a store, for reading and for further programs."""
