"""Captures checked against rules, as lines, JSON and JUnit XML."""
