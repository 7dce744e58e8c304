"""Compiled kernels over raw arrays, and their plain-NumPy twins. Empty so far: operations run through NumPy."""
