"""Naive versions of what the library computes: slow, and short enough to be checked by eye."""
