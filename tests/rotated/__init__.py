"""Files of one capture point: their names, and what is read across them."""
