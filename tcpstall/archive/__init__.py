"""Many captures: found, analysed, kept in a store that answers questions."""
