"""What to change about each finding, as tables, as Markdown and as JSON."""
