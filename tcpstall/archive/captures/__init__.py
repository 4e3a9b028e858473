"""Captures found under paths, URLs and in archives, and opened where they lie."""
