"""Remedies of each finding, as tables, as Markdown and as JSON."""
