"""Benchmarks of attention: cases, pinned backends, ceilings of the same machine, and the record that keeps them.

`python -m onesentence.kernels.bench` runs them; `kernels.bench.archive` reads what was run on a GPU elsewhere.
"""
