"""Attention in Triton, for CUDA; elsewhere its kernels run under Triton's interpreter (TRITON_INTERPRET=1), for tests.

Importing this package needs neither Triton nor CUDA; its modules need Triton. They are imported by name.
"""
