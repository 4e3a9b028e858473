"""A capture that goes on, as a picture of the terminal or as a line of JSON."""
