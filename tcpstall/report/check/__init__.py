"""Rules held against captures, as lines, JSON and JUnit XML."""
