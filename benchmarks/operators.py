"""Operators of every kind, one at a time, small and of a usual size. `run.py --only operators` prints them, the slowest first.

A program hides a slow operator among fast ones. Here each operator is timed alone, with all its gradients.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
from measure import compare, time_rounds

ROUND_SECONDS = 0.01  # there are many


class Operator(NamedTuple):
    """A call to time.

    small, usual: the shapes of the floating inputs. whole: an input of whole numbers for each of the two sizes, as its shape
    followed by an upper bound: (8, 10, 100) stands for 8 x 10 numbers below 100.
    """

    name: str
    call: Callable[..., Any]  # of the library, the floating inputs and the whole numbers
    small: tuple[tuple[int, ...], ...]
    usual: tuple[tuple[int, ...], ...]
    whole: tuple[tuple[int, ...], tuple[int, ...]] | None = None


def _kernel(name: str, *settings: Any, **named: Any) -> Callable[..., Any]:
    """Return a call of a function of nn.functional with these settings after its inputs."""
    return lambda torch, *inputs: getattr(torch.nn.functional, name)(*inputs, *settings, **named)


def _method(name: str, *settings: Any, **named: Any) -> Callable[..., Any]:
    """Return a call of a function of torch with these settings after its inputs."""
    return lambda torch, *inputs: getattr(torch, name)(*inputs, *settings, **named)


def _linalg(name: str, *settings: Any, **named: Any) -> Callable[..., Any]:
    return lambda torch, *inputs: getattr(torch.linalg, name)(*inputs, *settings, **named)


def _spd(torch: ModuleType, x: Any) -> Any:
    """Return a positive definite matrix."""
    return x @ x.transpose(-1, -2) + x.shape[-1] * torch.eye(x.shape[-1])


_POOL2 = (((1, 3, 9, 9),), ((16, 32, 28, 28),))
_POOL1 = (((1, 3, 9),), ((16, 32, 256),))
_POOL3 = (((1, 2, 6, 6, 6),), ((4, 8, 16, 16, 16),))
_PLANE = (((4, 5),), ((512, 512),))
_SQUARE = (((4, 4),), ((128, 128),))

OPERATORS = [
    # Pooling, resampling, windows.
    Operator("avg_pool1d", _kernel("avg_pool1d", 2), *_POOL1),
    Operator("avg_pool2d", _kernel("avg_pool2d", 2), *_POOL2),
    Operator("avg_pool3d", _kernel("avg_pool3d", 2), *_POOL3),
    Operator("max_pool1d", _kernel("max_pool1d", 2), *_POOL1),
    Operator("max_pool2d", _kernel("max_pool2d", 2), *_POOL2),
    Operator("max_pool3d", _kernel("max_pool3d", 2), *_POOL3),
    Operator("adaptive_avg_pool2d", _kernel("adaptive_avg_pool2d", 4), *_POOL2),
    Operator("adaptive_max_pool2d", _kernel("adaptive_max_pool2d", 4), *_POOL2),
    Operator("adaptive_max_pool3d", _kernel("adaptive_max_pool3d", 4), *_POOL3),
    Operator("interpolate, nearest", _kernel("interpolate", scale_factor=2), *_POOL2),
    Operator("interpolate, bilinear", _kernel("interpolate", scale_factor=2, mode="bilinear"), *_POOL2),
    Operator("interpolate, bicubic", _kernel("interpolate", scale_factor=2, mode="bicubic"), *_POOL2),
    Operator(
        "grid_sample",
        _kernel("grid_sample", align_corners=False),
        ((1, 2, 5, 5), (1, 4, 4, 2)),
        ((4, 3, 64, 64), (4, 64, 64, 2)),
    ),
    Operator("unfold", _kernel("unfold", 3), ((1, 2, 6, 6),), ((8, 8, 32, 32),)),
    Operator("pad, reflect", _kernel("pad", (1, 2, 1, 2), mode="reflect"), *_POOL2),
    # Convolutions.
    Operator("conv1d", _kernel("conv1d"), ((1, 2, 10), (3, 2, 3)), ((8, 16, 256), (32, 16, 5))),
    Operator("conv2d", _kernel("conv2d"), ((1, 2, 6, 6), (3, 2, 3, 3)), ((8, 16, 28, 28), (32, 16, 3, 3))),
    Operator("conv3d", _kernel("conv3d"), ((1, 1, 4, 4, 4), (2, 1, 3, 3, 3)), ((2, 4, 12, 12, 12), (8, 4, 3, 3, 3))),
    Operator("conv2d, depthwise", _kernel("conv2d", groups=4), ((1, 4, 6, 6), (4, 1, 3, 3)), ((8, 4, 28, 28), (4, 1, 3, 3))),
    Operator("conv_transpose2d", _kernel("conv_transpose2d"), ((1, 2, 4, 4), (2, 3, 3, 3)), ((8, 16, 14, 14), (16, 8, 4, 4))),
    Operator(
        "conv_transpose3d", _kernel("conv_transpose3d"), ((1, 2, 3, 3, 3), (2, 2, 2, 2, 2)), ((2, 4, 8, 8, 8), (4, 4, 3, 3, 3))
    ),
    # Normalisation, activations with sums.
    Operator(
        "batch_norm",
        lambda torch, x, w, b: torch.nn.functional.batch_norm(x, None, None, w, b, training=True),
        ((4, 3), (3,), (3,)),
        ((16, 32, 28, 28), (32,), (32,)),
    ),
    Operator(
        "group_norm",
        lambda torch, x, w, b: torch.nn.functional.group_norm(x, 2, w, b),
        ((2, 4, 3), (4,), (4,)),
        ((16, 32, 28, 28), (32,), (32,)),
    ),
    Operator("instance_norm", _kernel("instance_norm"), ((2, 3, 8),), ((16, 32, 28, 28),)),
    Operator(
        "layer_norm",
        lambda torch, x, w, b: torch.nn.functional.layer_norm(x, (x.shape[-1],), w, b),
        ((4, 6), (6,), (6,)),
        ((512, 128), (128,), (128,)),
    ),
    Operator("glu", _kernel("glu"), ((4, 6),), ((512, 512),)),
    Operator("softmax", _method("softmax", -1), *_PLANE),
    Operator("gelu", _kernel("gelu"), *_PLANE),
    Operator("normalize", _kernel("normalize"), *_PLANE),
    Operator("cosine_similarity", _kernel("cosine_similarity"), ((4, 5), (4, 5)), ((512, 128), (512, 128))),
    # Losses.
    Operator("nll_loss", _kernel("nll_loss"), ((4, 5),), ((512, 100),), ((4, 5), (512, 100))),
    Operator("cross_entropy", _kernel("cross_entropy"), ((4, 5),), ((512, 100),), ((4, 5), (512, 100))),
    Operator("mse_loss", _kernel("mse_loss"), ((4, 5), (4, 5)), ((512, 100), (512, 100))),
    Operator("smooth_l1_loss", _kernel("smooth_l1_loss"), ((4, 5), (4, 5)), ((512, 100), (512, 100))),
    Operator("multi_margin_loss", _kernel("multi_margin_loss"), ((4, 5),), ((512, 100),), ((4, 5), (512, 100))),
    Operator("kl_div", _kernel("kl_div", reduction="batchmean"), ((4, 5), (4, 5)), ((512, 100), (512, 100))),
    Operator(
        "ctc_loss",
        lambda torch, x, labels: torch.nn.functional.ctc_loss(
            torch.log_softmax(x, -1), labels + 1, [x.shape[0]] * x.shape[1], [labels.shape[1]] * x.shape[1]
        ),
        ((6, 2, 5),),
        ((50, 16, 20),),
        ((2, 2, 4), (16, 20, 19)),
    ),
    Operator("pdist", _kernel("pdist"), ((4, 3),), ((100, 32),)),
    Operator("cdist", _method("cdist"), ((4, 3), (5, 3)), ((100, 32), (100, 32))),
    # Sorting, choosing, scattering, gathering.
    Operator("sort", lambda torch, x: torch.sort(x, -1)[0], *_PLANE),
    Operator("topk", lambda torch, x: torch.topk(x, 3)[0], *_PLANE),
    Operator("kthvalue", lambda torch, x: torch.kthvalue(x, 2)[0], *_PLANE),
    Operator("median", lambda torch, x: torch.median(x, -1)[0], *_PLANE),
    Operator("max, dim", lambda torch, x: torch.max(x, -1)[0], *_PLANE),
    Operator("max", _method("max"), *_PLANE),
    Operator("cummax", lambda torch, x: torch.cummax(x, -1)[0], *_PLANE),
    Operator("gather", lambda torch, x, i: torch.gather(x, 1, i), ((4, 5),), ((512, 512),), ((4, 3, 5), (512, 128, 512))),
    Operator(
        "scatter_add",
        lambda torch, x, y, i: torch.scatter_add(x, 1, i, y),
        ((4, 5), (4, 3)),
        ((512, 512), (512, 128)),
        ((4, 3, 5), (512, 128, 512)),
    ),
    Operator(
        "scatter_reduce, amax",
        lambda torch, x, y, i: torch.scatter_reduce(x, 1, i, y, "amax"),
        ((4, 5), (4, 3)),
        ((512, 512), (512, 128)),
        ((4, 3, 5), (512, 128, 512)),
    ),
    Operator("index_select", lambda torch, x, i: torch.index_select(x, 0, i), ((4, 5),), ((512, 512),), ((3, 4), (100, 512))),
    Operator(
        "index_add",
        lambda torch, x, y, i: torch.index_add(x, 0, i, y),
        ((4, 5), (3, 5)),
        ((512, 512), (100, 512)),
        ((3, 4), (100, 512)),
    ),
    Operator("x[i]", lambda torch, x, i: x[i], ((4, 5),), ((512, 512),), ((3, 4), (100, 512))),
    Operator(
        "embedding", lambda torch, w, i: torch.nn.functional.embedding(i, w), ((10, 4),), ((10000, 64),), ((3, 10), (256, 10000))
    ),
    Operator("where", lambda torch, x, y: torch.where(x > y, x, y), ((4, 5), (4, 5)), ((512, 512), (512, 512))),
    # Shapes.
    Operator("cat", lambda torch, x, y: torch.cat([x, y], 1), ((4, 5), (4, 5)), ((512, 512), (512, 512))),
    Operator("stack", lambda torch, x, y: torch.stack([x, y]), ((4, 5), (4, 5)), ((512, 512), (512, 512))),
    Operator("split", lambda torch, x: torch.split(x, x.shape[1] // 2, 1)[1], ((4, 6),), ((512, 512),)),
    Operator("permute, reshape", lambda torch, x: x.permute(1, 0).reshape(-1), *_PLANE),
    Operator("expand", lambda torch, x: x.expand(x.shape[0], 4, x.shape[2]), ((4, 1, 5),), ((256, 1, 256),)),
    Operator("roll", lambda torch, x: torch.roll(x, 2, 1), *_PLANE),
    Operator("flip", lambda torch, x: torch.flip(x, (0,)), *_PLANE),
    Operator("diagonal", _method("diagonal"), *_PLANE),
    Operator("diag_embed", _method("diag_embed"), ((4,),), ((512,),)),
    Operator("tril", _method("tril"), *_PLANE),
    Operator("repeat", lambda torch, x: x.repeat(2, 2), *_PLANE),
    # Reductions, statistics.
    Operator("mean, dim", lambda torch, x: x.mean(1), *_PLANE),
    Operator("var", lambda torch, x: x.var(1), *_PLANE),
    Operator("norm, dim", lambda torch, x: torch.linalg.vector_norm(x, dim=1), *_PLANE),
    Operator("logsumexp", _method("logsumexp", 1), *_PLANE),
    Operator("prod, dim", lambda torch, x: torch.prod(x, 1), *_PLANE),
    Operator("cumsum", _method("cumsum", 1), *_PLANE),
    Operator("cumprod", _method("cumprod", 1), ((4, 5),), ((512, 64),)),
    Operator("logcumsumexp", _method("logcumsumexp", 1), *_PLANE),
    # Products.
    Operator("x @ y", lambda torch, x, y: x @ y, ((4, 4), (4, 4)), ((128, 128), (128, 128))),
    Operator("linear", _kernel("linear"), ((4, 5), (3, 5), (3,)), ((64, 256), (128, 256), (128,))),
    Operator("bmm", _method("bmm"), ((2, 3, 4), (2, 4, 3)), ((16, 64, 64), (16, 64, 64))),
    Operator("einsum", lambda torch, x, y: torch.einsum("bij,bjk->ik", x, y), ((2, 3, 4), (2, 4, 3)), ((16, 64, 64), (16, 64, 64))),
    Operator("baddbmm", _method("baddbmm"), ((2, 3, 3), (2, 3, 4), (2, 4, 3)), ((16, 64, 64), (16, 64, 64), (16, 64, 64))),
    Operator("outer", _method("outer"), ((4,), (5,)), ((512,), (512,))),
    Operator("cross", _linalg("cross"), ((4, 3), (4, 3)), ((10000, 3), (10000, 3))),
    Operator("attention", _kernel("scaled_dot_product_attention"), ((1, 2, 4, 3),) * 3, ((8, 4, 64, 32),) * 3),
    # Linear algebra.
    Operator("slogdet", lambda torch, x: torch.linalg.slogdet(x)[1], *_SQUARE),
    Operator("inv", lambda torch, x: torch.linalg.inv(_spd(torch, x)), *_SQUARE),
    Operator("solve", lambda torch, x, y: torch.linalg.solve(_spd(torch, x), y), ((4, 4), (4, 2)), ((128, 128), (128, 16))),
    Operator("cholesky", lambda torch, x: torch.linalg.cholesky(_spd(torch, x)), *_SQUARE),
    Operator(
        "solve_triangular",
        lambda torch, x, y: torch.linalg.solve_triangular(_spd(torch, x), y, upper=True),
        ((4, 4), (4, 2)),
        ((128, 128), (128, 16)),
    ),
    Operator("lu_factor", lambda torch, x: torch.linalg.lu_factor(x)[0], *_SQUARE),
    Operator("qr", lambda torch, x: torch.linalg.qr(x)[1], *_SQUARE),
    Operator("eigh", lambda torch, x: torch.linalg.eigh(_spd(torch, x))[0], *_SQUARE),
    Operator("svd", lambda torch, x: torch.linalg.svd(x, full_matrices=False)[1], *_SQUARE),
    Operator("matrix_exp", _linalg("matrix_exp"), *_SQUARE),
    Operator(
        "multi_dot",
        lambda torch, x, y, z: torch.linalg.multi_dot([x, y, z]),
        ((3, 4), (4, 5), (5, 2)),
        ((64, 128), (128, 32), (32, 64)),
    ),
    # Transforms, special functions.
    Operator("fft", lambda torch, x: torch.fft.fft(x).real, *_PLANE),
    Operator("rfft2", lambda torch, x: torch.fft.rfft2(x).abs(), *_PLANE),
    Operator("lgamma", lambda torch, x: torch.lgamma(x + 3), *_PLANE),
    Operator("erfinv", lambda torch, x: torch.erfinv(0.9 * x), *_PLANE),
    Operator("x ** y", lambda torch, x, y: (x + 2) ** y, ((4, 5), (4, 5)), ((512, 512), (512, 512))),
    Operator("clamp", lambda torch, x: torch.clamp(x, -0.5, 0.5), *_PLANE),
]


def prepare(torch: ModuleType, operator: Operator, usual: bool) -> dict[str, Callable[[], Any]]:
    """Return programs on one library, float32: "forward" makes no graph, "both" computes all gradients."""
    rng = np.random.default_rng(0)
    shapes = operator.usual if usual else operator.small
    leaves = [torch.tensor(rng.uniform(-1, 1, shape).astype(np.float32), requires_grad=True) for shape in shapes]
    whole = []
    if operator.whole is not None:
        *shape, bound = operator.whole[usual]
        whole = [torch.tensor(rng.integers(0, bound, shape))]
    cotangent = rng.uniform(-1, 1, tuple(operator.call(torch, *leaves, *whole).shape)).astype(np.float32)
    arriving = torch.tensor(cotangent)

    def forward() -> Any:
        with torch.no_grad():
            return operator.call(torch, *leaves, *whole)

    def both() -> Any:
        for leaf in leaves:
            leaf.grad = None
        operator.call(torch, *leaves, *whole).backward(arriving)
        return leaves[0].grad.numpy()

    return {"forward": forward, "both": both}


def measure_operators(libraries: dict[str, ModuleType], rounds: int, chosen: str = "") -> Iterator[dict[str, Any]]:
    """Yield seconds for each operator and size, of the forward alone and with gradients, by library. Ratios if torch is installed.

    chosen: text that the names of the operators have to contain."""
    for operator in OPERATORS:
        for size in ("small", "usual") if chosen in operator.name else ():
            programs = {label: prepare(library, operator, size == "usual") for label, library in libraries.items()}
            _check(operator, [parts["both"]() for parts in programs.values()])
            result: dict[str, Any] = {"operator": operator.name, "size": size}
            for part in ("forward", "both"):
                times = time_rounds({label: parts[part] for label, parts in programs.items()}, rounds, True, ROUND_SECONDS)
                result[part] = {label: min(seconds) for label, seconds in times.items()}
                if "torch" in times:
                    result[part]["ratio"], result[part]["low"], result[part]["high"] = compare(times["torch"], times["wengert"])
            yield result


def _check(operator: Operator, values: list[Any]) -> None:
    scale = np.abs(values[0]).max() or 1.0  # a matrix's derivatives lose digits together, not one by one
    for value in values:
        np.testing.assert_allclose(value / scale, values[0] / scale, atol=1e-4, err_msg=f"{operator.name}: results differ")
