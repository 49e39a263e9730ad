"""Experiments: one module each, `run(config)` trains and returns a record with every seed."""
