"""A scan while it runs: its tasks on processors or on a cluster, and its progress."""
