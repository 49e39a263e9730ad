"""Attention: how scores become weights over source positions, and weights a vector that is read.

Modules are imported by name, as in `from onesentence.attention.read import read`; this file stays
empty of code, so that a page depends on those modules only that it uses.
"""
