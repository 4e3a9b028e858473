"""Answers for programs that ask instead of people: agents, over the Model Context Protocol."""
