"""Questions to a store, and what answers them."""
