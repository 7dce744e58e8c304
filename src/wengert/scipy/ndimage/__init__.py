"""scipy.ndimage with derivatives. See ../_frame.py.

Images, weights of filters, coordinates and transformations differentiate. Results have the dtype of the image.
"""

from wengert.scipy._frame import Submodule as _Submodule
from wengert.scipy.ndimage import _filters, _fourier, _generic, _interpolation, _measurements, _morphology

_module = _Submodule("ndimage", globals())
__getattr__, __dir__ = _module.lookups()

for _part in (_filters, _fourier, _generic, _interpolation, _measurements, _morphology):
    for _name in _part.__all__:
        _module.differentiates(_name)(getattr(_part, _name))

_module.constant(
    "The result is an index, a label or a condition.",
    "binary_closing", "binary_dilation", "binary_erosion", "binary_fill_holes", "binary_hit_or_miss", "binary_opening",
    "binary_propagation", "find_objects", "histogram", "label", "maximum_position", "minimum_position", "value_indices",
    "watershed_ift",
)  # fmt: skip
_module.constant(
    "The result is a distance between elements, which counts where an image is 0.",
    "distance_transform_bf", "distance_transform_cdt", "distance_transform_edt",
)  # fmt: skip
_module.constant("The result is a table of conditions.", "generate_binary_structure", "iterate_structure")
