"""Many captures: found, put together, analysed and kept."""
