"""Names for operations in the form of torch.ops.aten: `wengert.ops.aten.mm.default`, to tell a policy what to save."""

from __future__ import annotations

from functools import cache


class OpOverload:
    """An operation, as policies of selective checkpoints get it. One object for all overloads: here, operations have one."""

    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        self._name = name

    def name(self) -> str:
        """aten::mm"""
        return f"aten::{self._name}"

    def __str__(self) -> str:
        return f"aten.{self._name}.default"

    def __repr__(self) -> str:
        return f"<OpOverload(op='aten.{self._name}', overload='default')>"


class OpOverloadPacket:
    """A name of operations; its attributes, `default` and any other, are the operation."""

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
    """The operation of a name."""
    return OpOverload(name)


@cache
def _packet_of(name: str) -> OpOverloadPacket:
    return OpOverloadPacket(name)


def __getattr__(name: str) -> OpOverloadPacket:
    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return _packet_of(name)
