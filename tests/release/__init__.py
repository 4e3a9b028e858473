"""What a release brings beside the program: man pages, completions, wheels for many machines, an image."""
