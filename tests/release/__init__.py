"""Parts of a release beside the program: man pages, completions, wheels for many machines, an image."""
