"""Helpers of programs: flatten, optimizers, fixed points, traces that run again."""

from wengert.hips.misc.flatten import flatten as flatten
from wengert.hips.misc.tracers import const_graph as const_graph
