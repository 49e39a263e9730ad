"""Attention executed well: the same result with less memory traffic. Modules are imported by name; no model is known here.

Importing this package needs neither Triton nor CUDA nor torch; the modules under `kernels.gpu` need Triton.
"""
