"""SciPy for differentiated functions: special, linalg, integrate, signal, and densities of stats."""
