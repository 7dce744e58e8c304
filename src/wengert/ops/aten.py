"""Operations under the names of torch.ops.aten, as in `wengert.ops.aten.mm.default`, for policies of selective checkpoints."""

from __future__ import annotations

from functools import cache


class OpOverload:
    """An operation, as a policy of selective checkpoints receives it. All overloads of an operation are one object."""

    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        self._name = name

    def name(self) -> str:
        """Qualified name of the operation, such as aten::mm."""
        return f"aten::{self._name}"

    def __str__(self) -> str:
        return f"aten.{self._name}.default"

    def __repr__(self) -> str:
        return f"<OpOverload(op='aten.{self._name}', overload='default')>"


class OpOverloadPacket:
    """The overloads of one operation. Every attribute, `default` or another, is the same OpOverload."""

    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, overload: str) -> OpOverload:
        if overload.startswith("__"):
            raise AttributeError(overload)
        return overload_of(self._name)

    def __str__(self) -> str:
        return f"aten.{self._name}"

    __repr__ = __str__


@cache
def overload_of(name: str) -> OpOverload:
    """The OpOverload of this name: the same object at each call."""
    return OpOverload(name)


@cache
def _packet_of(name: str) -> OpOverloadPacket:
    return OpOverloadPacket(name)


def __getattr__(name: str) -> OpOverloadPacket:
    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return _packet_of(name)
