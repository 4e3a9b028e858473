"""An Analysis for reading in a terminal: the answer, the flows, their stalls."""
