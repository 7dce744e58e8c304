"""Kernels over windows of pictures. Pictures are arrays whose last dims are spatial.

As in `rows`, each function returns None for arguments that it does not accept, and always without compiled kernels. Windows are
given by tuples with one number for each dim.

With two spatial dims:

- fill_columns(columns, padded, stride, dilation): fill columns: (n, channels, *kernel, *count) with the windows of padded. Returns
  True if it was done.
- add_up_columns(columns, size, stride, padding, dilation): the adjoint of padding and fill_columns.

With one to three spatial dims:

- max_pool(x, kernel, stride, padding, dilation, count, places): the largest element of each window: the first of equal ones, or the
  last NaN. If places is true, also its flat index in the picture.
- max_pool_stretches(x, count): adaptive maximum pooling: the largest elements of `count` even stretches of each dim, and
  their places.
- add_at_places(values, places, size): the adjoint of both.
- resample(x, tables, divisor): x resampled along its last dims, then divided by divisor. tables: one table for each of these dims,
  or None for a dim that stays unchanged. A table is (starts, inputs, weights of x's dtype or None for ones). Output j is the sum
  of the weighted inputs t, starts[j] <= t < starts[j + 1].
- convolve(x, weight, bias, stride, padding, dilation, count, groups): the convolution.
- convolve_adjoint(y, weight, stride, padding, dilation, size, groups): its adjoint in x.
- convolve_weight(x, y, stride, padding, dilation, kernel, groups): its adjoint in the weight.

With two or three spatial dims:

- sample_grid(x, grid, options): images x: (n, channels, *size) at the points of grid: (n, ..., dims).
- sample_grid_adjoint(ct, grid, shape, options): its adjoint in x.
- sample_grid_moved(ct, x, grid, options): the cotangent of grid.

options: the mode (0 linear, 1 nearest, 2 cubic), the values outside (0 zeros, 1 border, 2 reflection), and whether -1 and 1 are the
centres of the outermost elements.
"""

from __future__ import annotations

from wengert.kernels import compiled

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

fill_columns: Any = compiled("fill_columns")
add_up_columns: Any = compiled("add_up_columns")
max_pool: Any = compiled("max_pool")
max_pool_stretches: Any = compiled("max_pool_stretches")
add_at_places: Any = compiled("add_at_places")
resample: Any = compiled("resample")
sample_grid: Any = compiled("sample_grid")
sample_grid_adjoint: Any = compiled("sample_grid_adjoint")
sample_grid_moved: Any = compiled("sample_grid_moved")
convolve: Any = compiled("convolve")
convolve_adjoint: Any = compiled("convolve_adjoint")
convolve_weight: Any = compiled("convolve_weight")
