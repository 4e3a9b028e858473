"""Tools that people run by hand: they make fixtures, figures and pictures, and have tests of their own.

Folders beside this one test tcpstall; a `__main__.py` there runs a longer form of the same tests.
"""
