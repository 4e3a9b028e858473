"""Cost of a packet: it must not grow with the packets before it, whatever a stranger sends."""
