"""Neural networks: functional holds the operations."""

from wengert.nn import functional as functional
