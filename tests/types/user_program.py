"""Calls as users write them. A line that ends in `# error` is one that both type checkers must refuse, and no other line is.

tests/architecture/test_types.py runs mypy --strict and pyright on this file.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, assert_type

import numpy as np

import wengert
import wengert as torch
import wengert.nn.functional as F
from wengert import Tensor, nn
from wengert.autograd import Function, gradcheck
from wengert.autograd.function import FunctionCtx, once_differentiable

# -- creation ------------------------------------------------------------------------------------------------------------

x = torch.tensor([1.0, 2.0], requires_grad=True)
assert_type(x, Tensor)
assert_type(torch.zeros(2, 3), Tensor)
assert_type(torch.zeros((2, 3), dtype=torch.float64), Tensor)
assert_type(torch.ones([2], requires_grad=True), Tensor)
assert_type(torch.ones(2, dtype=np.float32), Tensor)
assert_type(torch.full((2, 2), 3.0), Tensor)
assert_type(torch.eye(3), Tensor)
assert_type(torch.arange(5), Tensor)
assert_type(torch.arange(0, 1, 0.1), Tensor)
assert_type(torch.linspace(0, 1, 5), Tensor)
assert_type(torch.rand(2, 2, generator=torch.Generator()), Tensor)
assert_type(torch.randn(3), Tensor)
assert_type(torch.randint(0, 10, (3,)), Tensor)
assert_type(torch.randperm(4), Tensor)
assert_type(torch.empty(2), Tensor)
assert_type(torch.zeros_like(x), Tensor)
assert_type(torch.ones_like(x, dtype=torch.float64), Tensor)
assert_type(torch.from_numpy(np.ones(3)), Tensor)
assert_type(torch.as_tensor([1, 2]), Tensor)
assert_type(torch.normal(0.0, 1.0, (2, 2)), Tensor)
assert_type(torch.tril_indices(3, 3), Tensor)
assert_type(torch.manual_seed(0), torch.Generator)
torch.zeros("two")  # error
torch.ones(2, dtyp=torch.float32)  # error
torch.tensor()  # error
torch.full((2, 2))  # error
torch.eye("3")  # error
torch.tensor([1.0], require_grad=True)  # error
torch.zeros(2, requires_grad="yes")  # error
torch.randn(3, generator=0)  # error
torch.no_such_function(x)  # error

# -- arithmetic ----------------------------------------------------------------------------------------------------------

assert_type(x + 1, Tensor)
assert_type(1.5 * x - x / 2, Tensor)
assert_type(-(x**2), Tensor)
assert_type(2**x, Tensor)
assert_type(x @ x, Tensor)
assert_type(x // 2, Tensor)
assert_type(x % 2, Tensor)
assert_type(abs(x), Tensor)
assert_type(x > 0, Tensor)
assert_type(x == 0, Tensor)
assert_type(x != x, Tensor)
assert_type((x > 0) & (x < 1), Tensor)
assert_type(~(x > 0), Tensor)
assert_type(x.add(1, alpha=2), Tensor)
assert_type(torch.add(x, x, alpha=2), Tensor)
assert_type(torch.mul(x, 2.0), Tensor)
assert_type(torch.div(x, 2, rounding_mode="floor"), Tensor)
assert_type(torch.sub(x, x), Tensor)
assert_type(torch.pow(x, 2), Tensor)
assert_type(torch.where(x > 0, x, 0.0), Tensor)
assert_type(torch.clamp(x, min=0.0), Tensor)
assert_type(x.clamp(0, 1), Tensor)
assert_type(torch.maximum(x, x), Tensor)
assert_type(torch.lerp(x, x, 0.5), Tensor)
assert_type(torch.addcmul(x, x, x, value=2.0), Tensor)
assert_type(torch.exp(x), Tensor)
assert_type(x.sin().cos().tan(), Tensor)
assert_type(torch.exp(x, out=torch.empty(2)), Tensor)
assert_type(torch.atan2(x, x), Tensor)
assert_type(torch.isnan(x), Tensor)
x + "one"  # error
torch.div(x, 2, rounding_mode="up")  # error
torch.exp("x")  # error
torch.exp()  # error
x.sin(2)  # error
torch.add(x, x, alpha="2")  # error
torch.lerp(x, x)  # error
x.no_such_method()  # error
torch.exp(x, outt=x)  # error

# -- reductions ----------------------------------------------------------------------------------------------------------

assert_type(x.sum(), Tensor)
assert_type(x.sum(0), Tensor)
assert_type(x.sum(dim=0, keepdim=True), Tensor)
assert_type(x.sum(axis=0), Tensor)
assert_type(x.sum(axis=(0,), keepdims=True), Tensor)
assert_type(x.mean(dim=(0,)), Tensor)
assert_type(torch.sum(x, axis=0), Tensor)
assert_type(torch.mean(x, 0, True), Tensor)
assert_type(x.prod(0), Tensor)
assert_type(x.var(unbiased=False), Tensor)
assert_type(x.std(dim=0, correction=1), Tensor)
assert_type(torch.var_mean(x), tuple[Tensor, Tensor])
assert_type(x.max(), Tensor)
assert_type(x.max(0).values, Tensor)
assert_type(x.max(0).indices, Tensor)
assert_type(torch.max(x, x), Tensor)
assert_type(x.argmax(dim=0), Tensor)
assert_type(x.norm(), Tensor)
assert_type(x.norm(p=2, dim=0), Tensor)
assert_type(x.cumsum(0), Tensor)
assert_type(x.logsumexp(0), Tensor)
assert_type(x.softmax(0), Tensor)
assert_type(torch.softmax(x, dim=-1), Tensor)
assert_type(x.all(), Tensor)
assert_type(x.any(dim=0), Tensor)
assert_type(x.median(), Tensor)
values, indices = x.sort()
assert_type(values, Tensor)
assert_type(x.topk(1).indices, Tensor)
assert_type(torch.unique(x), Tensor)
assert_type(torch.allclose(x, x), bool)
assert_type(torch.equal(x, x), bool)
x.sum(dimension=0)  # error
x.sum(dim="0")  # error
x.mean(keepdim=2.5)  # error
torch.cumsum(x)  # error
torch.sum()  # error
torch.allclose(x)  # error

# -- shapes --------------------------------------------------------------------------------------------------------------

assert_type(x.size(), torch.Size)
assert_type(x.size(0), int)
assert_type(x.shape, torch.Size)
assert_type(x.shape[0], int)
assert_type(x.dim(), int)
assert_type(x.ndim, int)
assert_type(x.numel(), int)
assert_type(x.view(-1), Tensor)
assert_type(x.view(2, 1), Tensor)
assert_type(x.view((2, 1)), Tensor)
assert_type(x.reshape(1, 2), Tensor)
assert_type(x.reshape([1, 2]), Tensor)
assert_type(torch.reshape(x, (1, 2)), Tensor)
assert_type(x.unsqueeze(0), Tensor)
assert_type(x.squeeze(), Tensor)
assert_type(x.permute(0), Tensor)
assert_type(x.permute((0,)), Tensor)
assert_type(torch.permute(x, (0,)), Tensor)
assert_type(x.transpose(0, -1), Tensor)
assert_type(x.t(), Tensor)
assert_type(x.T, Tensor)
assert_type(x.expand(3, -1), Tensor)
assert_type(x.repeat(2, 1), Tensor)
assert_type(x.tile(2), Tensor)
assert_type(x.flatten(), Tensor)
assert_type(x.flatten(start_dim=0), Tensor)
assert_type(torch.cat([x, x], dim=0), Tensor)
assert_type(torch.cat((x, x)), Tensor)
assert_type(torch.stack([x, x], 0), Tensor)
assert_type(torch.split(x, 1), tuple[Tensor, ...])
assert_type(x.chunk(2), tuple[Tensor, ...])
assert_type(x.unbind(), tuple[Tensor, ...])
assert_type(torch.broadcast_tensors(x, x), tuple[Tensor, ...])
assert_type(torch.meshgrid(x, x, indexing="ij"), tuple[Tensor, ...])
assert_type(x[0], Tensor)
assert_type(x[..., None], Tensor)
assert_type(x[x > 0], Tensor)
assert_type(x.gather(0, torch.tensor([0])), Tensor)
assert_type(x.index_select(0, torch.tensor([0])), Tensor)
assert_type(x.scatter_add(0, torch.tensor([0]), x), Tensor)
assert_type(x.masked_fill(x > 0, 0.0), Tensor)
assert_type(torch.roll(x, 1), Tensor)
assert_type(torch.flip(x, (0,)), Tensor)
assert_type(torch.diag(x), Tensor)
assert_type(len(x), int)
for row in x:
    assert_type(row, Tensor)
x.unsqueeze()  # error
x.view("a")  # error
torch.cat(x, "0")  # error
torch.stack()  # error
x.transpose(0)  # error
x.size("0")  # error
x.gather(0)  # error
x.masked_fill(0.0)  # error

# -- conversions ---------------------------------------------------------------------------------------------------------

float(x.item())
array: np.ndarray[Any, Any] = x.detach().numpy()
assert_type(x.to(torch.float64), Tensor)
assert_type(x.to("cpu"), Tensor)
assert_type(x.to(dtype=torch.float32, copy=True), Tensor)
assert_type(x.double().float().half().long(), Tensor)
assert_type(x.clone(), Tensor)
assert_type(x.requires_grad_(), Tensor)
assert_type(x.requires_grad, bool)
assert_type(x.dtype, torch.dtype)
assert_type(x.is_leaf, bool)
assert_type(x.grad, Tensor | None)
assert_type(float(x.sum()), float)
assert_type(bool(x.sum() > 0), bool)
with torch.no_grad():
    x.add_(1).mul_(2).zero_()
x.copy_(torch.ones(2))
x[0] = 1.0
x += 1
x.numpy(1, 2, 3)  # error
x.requires_grad_("yes", 1)  # error
x.clone(7, 8)  # error

# -- linear algebra ------------------------------------------------------------------------------------------------------

A = torch.eye(3)
assert_type(torch.matmul(A, A), Tensor)
assert_type(A.mm(A), Tensor)
assert_type(torch.einsum("ij,jk->ik", A, A), Tensor)
assert_type(torch.einsum("ij,jk->ik", [A, A]), Tensor)
assert_type(torch.tensordot(A, A, dims=2), Tensor)
assert_type(torch.tensordot(A, A, dims=([0, 1], [0, 1])), Tensor)
assert_type(torch.linalg.inv(A), Tensor)
assert_type(torch.linalg.norm(A, ord="fro"), Tensor)
assert_type(torch.linalg.norm(A, 2, dim=(0, 1)), Tensor)
assert_type(torch.linalg.solve(A, A), Tensor)
assert_type(torch.linalg.det(A), Tensor)
assert_type(torch.linalg.eigvalsh(A), Tensor)
assert_type(torch.linalg.cholesky(A), Tensor)
assert_type(torch.fft.fft(A), Tensor)
assert_type(torch.fft.rfft(A, n=4, dim=-1, norm="ortho"), Tensor)
assert_type(torch.special.erf(A), Tensor)
assert_type(torch.special.logit(A, eps=1e-6), Tensor)
u, s, vh = torch.linalg.svd(A)
assert_type(u, Tensor)
w, v = torch.linalg.eigh(A)
assert_type(w, Tensor)
torch.linalg.inv()  # error
torch.linalg.solve(A)  # error
torch.einsum(2)  # error
torch.linalg.no_such(A)  # error
torch.fft.fft(A, norms="ortho")  # error
torch.matmul(A)  # error
torch.tensordot(A, A, dimensions=2)  # error

# -- nn.functional -------------------------------------------------------------------------------------------------------

image, kernel = torch.randn(1, 3, 8, 8), torch.randn(4, 3, 3, 3)
assert_type(F.conv2d(image, kernel, stride=(2, 2), padding=1), Tensor)
assert_type(F.conv2d(image, kernel, padding="same"), Tensor)
assert_type(F.conv2d(image, kernel, None, 1, 0, 1, 1), Tensor)
assert_type(F.conv_transpose2d(image, kernel, stride=2, output_padding=(1, 1)), Tensor)
assert_type(F.relu(x, inplace=False), Tensor)
assert_type(F.gelu(x, approximate="tanh"), Tensor)
assert_type(F.softmax(x, dim=0), Tensor)
assert_type(F.log_softmax(x, -1), Tensor)
assert_type(F.dropout(x, p=0.5, training=True), Tensor)
assert_type(F.linear(x, A, bias=None), Tensor)
assert_type(F.layer_norm(x, (2,)), Tensor)
assert_type(F.batch_norm(image, None, None, training=True), Tensor)
assert_type(F.mse_loss(x, x, reduction="sum"), Tensor)
assert_type(F.cross_entropy(A, torch.tensor([0, 1, 2]), label_smoothing=0.1), Tensor)
assert_type(F.binary_cross_entropy_with_logits(x, x, pos_weight=x), Tensor)
assert_type(F.pad(x, (1, 1), mode="constant", value=0.0), Tensor)
assert_type(F.interpolate(image, scale_factor=2.0, mode="nearest"), Tensor)
assert_type(F.avg_pool2d(image, 2, stride=(2, 2)), Tensor)
assert_type(F.adaptive_avg_pool2d(image, (1, None)), Tensor)
assert_type(F.embedding(torch.tensor([0]), A), Tensor)
assert_type(F.one_hot(torch.tensor([0]), 3), Tensor)
assert_type(F.scaled_dot_product_attention(image, image, image, is_causal=True), Tensor)
assert_type(F.cosine_similarity(x, x, dim=0), Tensor)
assert_type(F.normalize(x, p=2.0, dim=0), Tensor)
assert_type(F.elu_(x, alpha=1.0), Tensor)
assert_type(torch.nn.functional.silu(x), Tensor)
F.conv2d(image)  # error
F.conv2d(image, kernel, strides=2)  # error
F.conv2d(image, kernel, padding=0.5)  # error
F.relu()  # error
F.softmax(x, dim="last")  # error
F.mse_loss(x)  # error
F.cross_entropy(A, torch.tensor([0]), reduction=1.5)  # error
F.pad(x, 1, 2, 3, 4, 5)  # error
F.no_such(x)  # error
F.elu_(x, beta=1)  # error
F.dropout(x, probability=0.5)  # error

# -- autograd ------------------------------------------------------------------------------------------------------------

y = (x * x).sum()
y.backward()
y.backward(retain_graph=True, create_graph=False)
(g,) = torch.autograd.grad(y, x, create_graph=True)
assert_type(g, Tensor)
(g, h) = torch.autograd.grad(y, [x, x], allow_unused=True, retain_graph=True)
torch.autograd.backward(y)
torch.autograd.backward([y, y], grad_tensors=[torch.ones(()), None])
assert_type(torch.autograd.functional.jacobian(lambda a: a * 2, x) is not None, bool)
assert_type(gradcheck(lambda a: a * 2, (x,), eps=1e-6), bool)
assert_type(torch.is_grad_enabled(), bool)
with torch.enable_grad(), torch.set_grad_enabled(True), torch.inference_mode():
    pass
with torch.autograd.set_detect_anomaly(True), torch.autograd.detect_anomaly():
    pass
handle = x.register_hook(lambda grad: grad * 2)
handle.remove()
with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):
    pass
torch.autograd.grad(y, x, createe_graph=True)  # error
torch.autograd.grad()  # error
y.backward(retain_graph="yes")  # error
torch.autograd.backward()  # error
torch.autograd.no_such(y)  # error
x.register_hook()  # error
torch.set_grad_enabled()  # error


@torch.no_grad()
def evaluate(a: Tensor, n: int = 2) -> list[Tensor]:
    return [a] * n


assert_type(evaluate(x), list[Tensor])
assert_type(evaluate(x, n=3), list[Tensor])
evaluate()  # error
evaluate(x, "3")  # error


@torch.enable_grad()
def enabled(a: int) -> str:
    return str(a)


assert_type(enabled(1), str)
enabled("1")  # error


@torch.inference_mode()
def infer(a: Tensor) -> float:
    return float(a.sum())


assert_type(infer(x), float)
infer(1)  # error


class Square(Function):
    @staticmethod
    def forward(ctx: FunctionCtx, a: Tensor, power: int) -> Tensor:
        ctx.save_for_backward(a)
        ctx.power = power
        return a**power

    @staticmethod
    def backward(ctx: FunctionCtx, grad_output: Tensor) -> tuple[Tensor, None]:
        (a,) = ctx.saved_tensors
        return grad_output * 2 * a, None


class Once(Function):
    @staticmethod
    def forward(ctx: Any, a: Tensor) -> Tensor:
        return a.exp()

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> Tensor:
        return grad


class Separate(Function):
    @staticmethod
    def forward(a: Tensor) -> Tensor:
        return a * 2

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        ctx.mark_non_differentiable()

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        return grads[0] * 2


Square.apply(x, 2)
Once.apply(x).sum().backward()
Square.no_such(x)  # error

# -- func ----------------------------------------------------------------------------------------------------------------


def loss(a: Tensor, scale: float) -> Tensor:
    return (a * scale).sum()


torch.func.grad(loss)(x, 2.0)
torch.func.grad(loss)(x, "2")  # error
torch.func.grad(loss)()  # error
torch.func.vmap(torch.sin)(x)
value, pullback = torch.func.vjp(torch.sin, x)
torch.func.jacrev(torch.sin)(x)
torch.func.hessian(loss)(x, 1.0)
assert_type(torch.vmap(loss, in_dims=(0, None))(x, 1.0), Tensor)
torch.func.no_such(loss)  # error
torch.func.grad()  # error

# -- nn and optim --------------------------------------------------------------------------------------------------------


class Net(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.first = nn.Linear(3, width)
        self.second = nn.Linear(width, 1, bias=False)
        self.scale = nn.Parameter(torch.ones(1))

    def forward(self, a: Tensor) -> Tensor:
        hidden: Tensor = self.second(F.relu(self.first(a)))
        return hidden * self.scale


net = Net(4)
net(A)
assert_type(net.train(), Net)
assert_type(net.eval(), Net)
parameters: Iterator[nn.Parameter] = net.parameters()
net.load_state_dict(net.state_dict())
net.zero_grad()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
optimizer.zero_grad()
optimizer.step()
torch.optim.Adam(net.parameters(), lr=1e-3, betas=(0.9, 0.99))
torch.optim.lr_scheduler.StepLR(optimizer, step_size=10)
model = nn.Sequential(nn.Linear(2, 2), nn.ReLU(), nn.Conv2d(1, 1, kernel_size=(3, 3), padding="same"))
assert_type(nn.CrossEntropyLoss()(A, torch.tensor([0, 1, 2])) is not None, bool)
torch.utils.checkpoint.checkpoint(net, A, use_reentrant=False)
torch.save(net.state_dict(), "model.pt")
state = torch.load("model.pt", weights_only=True)
nn.Linear(3)  # error
nn.Linear("3", 4)  # error
nn.NoSuchLayer()  # error
torch.optim.SGD()  # error
torch.optim.NoSuch(net.parameters())  # error
torch.save()  # error
torch.utils.no_such()  # error
Net()  # error
Net("4")  # error
nn.Conv2d(1, 1)  # error

# -- the package under its own name, and values ---------------------------------------------------------------------------

dtype: torch.dtype = torch.float32
device: torch.device = torch.device("cpu")
shape: Sequence[int] = x.shape
assert_type(wengert.get_default_dtype(), torch.dtype)
assert_type(torch.promote_types(torch.float32, torch.int64), torch.dtype)
assert_type(torch.finfo(torch.float32).eps, float)
assert_type(torch.is_tensor(x), bool)
assert_type(torch.get_num_threads(), int)
torch.set_default_dtype(torch.float64)
torch.set_num_threads(2)
torch.set_printoptions(precision=3)
torch.compile(net)
torch.set_num_threads("2")  # error
wengert.no_such()  # error
