"""Changes that were really made, for the predictions of `tcpstall whatif`."""
