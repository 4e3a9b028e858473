"""The files of a store: which of them count, what is in them, and where they are kept."""
