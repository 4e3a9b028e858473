"""Agents: the tools of `tcpstall serve --mcp`, called by a client of the mcp package."""
