"""What to change about a finding, and what the kernel says of it."""
