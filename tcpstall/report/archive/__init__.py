"""What a store answers, for reading and for further programs."""
