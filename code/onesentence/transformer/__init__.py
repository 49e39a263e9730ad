"""The Transformer and its parts; modules are imported by name."""
