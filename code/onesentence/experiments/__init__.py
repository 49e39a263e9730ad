"""Controlled experiments: one module each, run(config) -> Record."""
