"""The hosts: programs that talk by script, and what their kernels say of their sockets."""
