"""Names of dtypes, tensors and operations, as messages write them. A dtype may be ours, NumPy's, or the name of one."""

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
    """Name of a dtype in Python: torch.float32."""
    return f"torch.{str(dtype).removeprefix('torch.')}"


def scalar_name(dtype: object) -> str:
    """Name of a dtype in torch's messages: Float."""
    name = str(dtype).removeprefix("torch.")
    return _SCALAR_NAMES.get(name, name)


def tensor_type(dtype: object, place: str = "cpu") -> str:
    """Name of the tensors of a dtype on a device, "cpu" or "cuda:0": torch.FloatTensor, torch.cuda.FloatTensor."""
    kind = place.partition(":")[0]
    return f"torch.{'' if kind == 'cpu' else kind + '.'}{scalar_name(dtype)}Tensor"


def type_name(x: type | str) -> str:
    """Name of a class, which may be given by its name."""
    return x if isinstance(x, str) else x.__name__


def operation_name(node_name: str) -> str:
    """Name of the operation that a node belongs to: Add for AddBackward0."""
    return node_name.rstrip("0123456789").removesuffix("Backward")


def called(op: str) -> str:
    """Public name of an operation: _pad carries out pad."""
    if op.startswith("__"):
        return op
    return op.removeprefix("_").removeprefix("torch_").removeprefix("nn.functional_").removesuffix("_rounded")


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
    """Name of a dtype in C++, which some of torch's messages use: c10::Half."""
    name = str(dtype).removeprefix("torch.")
    return _C_NAMES.get(name, name)
