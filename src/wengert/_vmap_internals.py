"""torch._vmap_internals: an older home of vmap."""

from wengert.autograd.vmap import vmap as vmap

_vmap = vmap

__all__ = ["vmap"]
