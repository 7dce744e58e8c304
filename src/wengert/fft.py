"""Discrete Fourier transforms, under torch.fft's names."""

from wengert.ops import functions as _functions

globals().update(_functions("fft"))
