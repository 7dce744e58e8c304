"""torch.onnx: exporting is refused."""

from __future__ import annotations

from typing import Any

from wengert import errors

__all__ = ["export", "is_in_onnx_export"]


def is_in_onnx_export() -> bool:
    """Whether a model is being exported: always False."""
    return False


def export(*_: Any, **__: Any) -> Any:
    """Raise MissingFeatureError: models are not exported to ONNX."""
    raise errors.MissingFeatureError(
        "onnx.export is not part of wengert. Hint: save model.state_dict() with wengert.save, load it into the same model in "
        "torch, and export that."
    )


def __dir__() -> list[str]:
    return sorted(__all__)
