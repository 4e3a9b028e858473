"""Real Linux senders in network namespaces, and what their kernel says about every wait."""
