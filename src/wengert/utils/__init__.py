"""Tools around tensors: hooks."""
