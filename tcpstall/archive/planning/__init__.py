"""What a scan will read: captures as sets, less those that the store has."""
