"""Translators: a source sentence in, a target sentence out. PyTorch for training, NumPy beside it for reading."""
