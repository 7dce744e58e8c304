"""Where an entry of torch's operator database differs here, and why. An entry that agrees by now must not be named."""

from __future__ import annotations


def _each(reason: str, entries: str, *aspects: str) -> dict[tuple[str, str], str]:
    return {(entry, aspect): reason for entry in entries.split() for aspect in aspects}


_TIES = "of equal elements torch takes any, here it is the first"
_SINGLE = "torch computes with a constant or weights in single precision"

KNOWN: dict[tuple[str, str], str] = {
    **_each(_SINGLE, "nn.functional.hardsigmoid nn.functional.celu cov", "gradient"),
    **_each(_SINGLE, "nn.functional.celu cov", "second"),
    **_each("0, as that of the first derivative; torch's is NaN", "linalg.norm.subgradients_at_zero", "second"),
    **_each(_TIES, "topk kthvalue", "int64 value", "uint8 value"),
}  # fmt: skip

_SPARSE = "there are no sparse tensors"
_GPU = "a kernel of CUDA's, or one that writes kernels for it"

# Entries that are left out on purpose.
ABSENT: dict[str, str] = {
    **dict.fromkeys(("sparse.mm.reduce", "sparse.sampled_addmm", "to_sparse"), _SPARSE),
    **dict.fromkeys(("jiterator_unary", "jiterator_binary", "jiterator_4inputs_with_extra_args",
                     "jiterator_binary_return_by_ref", "jiterator_2inputs_2outputs", "torch._scaled_mm",
                     "torch._scaled_mm_v2"), _GPU),
}  # fmt: skip
