"""tcpstall as users install it: into an environment of its own, from any folder."""
