"""Attention in Triton: kernels for CUDA, under Triton's interpreter elsewhere."""
