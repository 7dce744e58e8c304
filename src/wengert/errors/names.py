"""How messages name types: by values that need no import."""

from __future__ import annotations

_SCALAR_NAMES = {
    "bool": "Bool",
    "uint8": "Byte",
    "int8": "Char",
    "int16": "Short",
    "int32": "Int",
    "int64": "Long",
    "uint16": "UInt16",
    "uint32": "UInt32",
    "uint64": "UInt64",
    "float16": "Half",
    "bfloat16": "BFloat16",
    "float32": "Float",
    "float64": "Double",
    "complex64": "ComplexFloat",
    "complex128": "ComplexDouble",
}


def dtype_name(dtype: object) -> str:
    """torch.float32, from a dtype of this package, one of NumPy's, or its name."""
    return f"torch.{str(dtype).removeprefix('torch.')}"


def scalar_name(dtype: object) -> str:
    """Float, from a dtype as in `dtype_name`."""
    name = str(dtype).removeprefix("torch.")
    return _SCALAR_NAMES.get(name, name)


def tensor_type(dtype: object) -> str:
    """torch.FloatTensor, from a dtype as in `dtype_name`."""
    return f"torch.{scalar_name(dtype)}Tensor"


def type_name(x: type | str) -> str:
    """int, from the class or its name."""
    return x if isinstance(x, str) else x.__name__


def operation_name(node_name: str) -> str:
    """The operation that a node belongs to: Add for AddBackward0."""
    return node_name.rstrip("0123456789").removesuffix("Backward")


def called(op: str) -> str:
    """An operation's name as users call it: one with an underscore in front carries out the public one of its name."""
    return op if op.startswith("__") else op.removeprefix("_").removeprefix("torch_").removesuffix("_rounded")


_C_NAMES = {
    "bool": "bool",
    "uint8": "unsigned char",
    "int8": "signed char",
    "int16": "short int",
    "int32": "int",
    "int64": "long int",
    "float16": "c10::Half",
    "bfloat16": "c10::BFloat16",
    "float32": "float",
    "float64": "double",
    "complex64": "c10::complex<float>",
    "complex128": "c10::complex<double>",
}


def c_name(dtype: object) -> str:
    """torch's C++ name of a dtype, which some messages use."""
    name = str(dtype).removeprefix("torch.")
    return _C_NAMES.get(name, name)
