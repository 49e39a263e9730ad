"""Doctests of modules that need Triton are collected only where Triton is: Linux x86-64."""

from __future__ import annotations

from importlib.util import find_spec

collect_ignore = [] if find_spec("triton") else ["onesentence/kernels/gpu"]
