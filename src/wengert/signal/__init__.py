"""Signals: windows holds what pieces of them are multiplied by."""

from wengert.signal import windows as windows
