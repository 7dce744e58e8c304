"""The class of arrays and numbers under differentiation."""

from wengert.hips.boxes import ArrayBox as ArrayBox
