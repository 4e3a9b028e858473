"""The network between the hosts: namespaces, and a middle that forwards frames, late or not at all."""
