"""The kernels over windows of pictures, arrays whose last dims are spatial.

As in `rows`, each returns None for what it does not take, and always where nothing is compiled.

fill_columns(columns, padded, stride, dilation): whether columns, (n, channels, *kernel, *count), have been filled with the
windows of padded; add_up_columns(columns, size, stride, padding, dilation): the adjoint of padding and that. Both are of two
spatial dims. Of one to three: max_pool(x, kernel, stride, padding, dilation, count, places): the windows' largest
elements (the first of equal ones, or the last NaN) and, if places is true, their places in the picture as a vector;
max_pool_stretches(x, count): both for so many stretches, as even as can be; add_at_places(values, places, size): the adjoint.

resample(x, tables, divisor): x resampled along its last dims, with a table for each of these, of one to three: (starts, inputs,
weights of x's dtype, or None where all are 1), or None for a dim that stays as it is. Output j is the sum of the weighted inputs
from starts[j] up to starts[j + 1]; all are divided by a number.

sample_grid(x, grid, options): images, (n, channels, *size) with two or three spatial dims, at the points of grid, (n, ..., dims);
sample_grid_adjoint(ct, grid, shape, options), its adjoint in x; sample_grid_moved(ct, x, grid, options), the cotangent of grid.
options: a mode (0 linear, 1 nearest, 2 cubic), what is outside (0 zeros, 1 the border, 2 reflection), and whether -1 and 1 are
the centres of the outermost elements.

Of arrays with one to three spatial dims: convolve(x, weight, bias, stride, padding, dilation, count, groups); convolve_adjoint(y,
weight, stride, padding, dilation, size, groups), its adjoint in x; convolve_weight(x, y, stride, padding, dilation, kernel,
groups), in the weight. Windows are given by tuples with a number a dim.
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
