"""What programs written for torch.cuda do with modules, optimizers, gradients and indices, and what is refused in torch's words."""

from __future__ import annotations

import copy
import io
import re
from collections.abc import Callable

import numpy as np
import pytest

import device_library
import standin
import wengert as torch
from device_library import on_two_devices
from wengert.backends import selection

nn, F, optim = torch.nn, torch.nn.functional, torch.optim

OPTIMIZERS = ["SGD", "Adam", "AdamW", "RMSprop", "Adagrad", "Adadelta", "Adamax", "NAdam", "RAdam", "ASGD", "Rprop"]


@pytest.fixture(autouse=True)
def library():
    with device_library.in_use():
        yield


def one_step(model: nn.Module, optimizer: optim.Optimizer) -> None:
    optimizer.zero_grad()
    model(torch.ones(1, 2, device=next(model.parameters()).device)).pow(2).sum().backward()
    optimizer.step()


# -- old spellings -----------------------------------------------------------------------------------------------------


def test_new_and_type_as_stay_on_the_device_of_their_tensor():
    x = torch.cuda.FloatTensor([1, 2])
    for y in (x.new(2, 3), x.new([1, 2]), x.new(x.size()).normal_(), torch.ones(2, dtype=torch.int64).type_as(x)):
        assert y.type() == "torch.cuda.FloatTensor"
    assert x.type_as(torch.ones(1)).type() == "torch.FloatTensor"


def test_legacy_constructors_refuse_another_type_of_device():
    for make, home in ((torch.Tensor, "cpu"), (torch.FloatTensor, "cpu"), (torch.ones(1).new, "cpu"), (torch.cuda.FloatTensor, "cuda")):
        other = "cuda" if home == "cpu" else "cpu"
        text = f"legacy constructor expects device type: {home} but device type: {other} was passed"
        with pytest.raises(RuntimeError, match=text):
            make([1], device=other)
    assert torch.cuda.FloatTensor([1], device="cuda:0").is_cuda


def test_a_tensor_is_copied_where_it_lies_and_a_list_of_tensors_to_the_default_device():
    x = torch.tensor([1.0, 2.0], device="cuda")
    assert x.new_tensor(x).is_cuda and torch.tensor([x[0], x[1]]).device.type == "cpu"
    with pytest.warns(UserWarning, match="To copy construct"):
        assert torch.tensor(x).is_cuda
    with torch.device("cuda"):
        assert torch.tensor([x[0], x[1]]).is_cuda


# -- modules and optimizers ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_a_state_that_was_saved_on_the_cpu_goes_on_on_a_device(name):
    options = {"momentum": 0.9} if name == "SGD" else {}
    model = nn.Linear(2, 2)
    optimizer = getattr(optim, name)(model.parameters(), lr=0.1, **options)
    one_step(model, optimizer)
    moved = copy.deepcopy(model).cuda()
    other = getattr(optim, name)(moved.parameters(), lr=0.1, **options)
    other.load_state_dict(copy.deepcopy(optimizer.state_dict()))
    state = other.state[moved.weight]
    assert all(value.is_cuda for key, value in state.items() if isinstance(value, torch.Tensor) and key not in ("step", "eta", "mu"))
    one_step(model, optimizer)
    one_step(moved, other)
    torch.testing.assert_close(moved.weight.cpu(), model.weight, rtol=1e-5, atol=1e-6)


@on_two_devices
def test_gradients_on_two_devices_are_clipped_together():
    a, b = torch.zeros(1, device="cuda:0", requires_grad=True), torch.zeros(1, device="cuda:1", requires_grad=True)
    (3 * a.cpu() + 4 * b.cpu()).sum().backward()
    total = nn.utils.clip_grad_norm_([a, b], 1.0, error_if_nonfinite=True)
    assert total.device == a.device and total.item() == 5.0
    assert a.grad.item() == pytest.approx(0.6, rel=1e-5) and b.grad.item() == pytest.approx(0.8, rel=1e-5)
    b.grad.fill_(float("inf"))
    with pytest.raises(RuntimeError, match="non-finite"):
        nn.utils.clip_grad_norm_([a, b], 1.0, error_if_nonfinite=True)


def test_data_parallel_moves_its_arguments_to_the_device_of_the_module():
    model = nn.DataParallel(nn.Linear(3, 2).cuda(), device_ids=[0])
    y = model(torch.ones(5, 3))
    y.sum().backward()
    assert y.is_cuda and model.module.weight.grad.is_cuda and list(model.state_dict()) == ["module.weight", "module.bias"]
    assert nn.DataParallel(nn.Linear(3, 2))(torch.ones(5, 3)).shape == (5, 2)


def test_packed_sequences_on_a_device_have_their_lengths_in_main_memory():
    x = torch.randn(3, 4, 2, device="cuda")
    packed = nn.utils.rnn.pack_padded_sequence(x, [2, 4, 1], batch_first=True, enforce_sorted=False)
    assert packed.data.is_cuda and packed.sorted_indices.is_cuda and packed.batch_sizes.device.type == "cpu"
    padded, lengths = nn.utils.rnn.pad_packed_sequence(packed, batch_first=True, total_length=5)
    assert padded.is_cuda and padded.shape == (3, 5, 2) and lengths.tolist() == [2, 4, 1] and lengths.device.type == "cpu"
    assert torch.equal(padded[1, :4], x[1]) and not padded[2, 1:].any()
    assert nn.utils.rnn.pad_sequence([x[0], x[1, :2]]).is_cuda
    with pytest.raises(RuntimeError, match="'lengths' argument should be a 1D CPU int64 tensor, but got 1D cuda:0 Long tensor"):
        nn.utils.rnn.pack_padded_sequence(x, torch.tensor([4, 2, 1], device="cuda"), batch_first=True)


def test_recurrent_layers_name_the_devices_that_differ():
    model = nn.GRU(3, 4).cuda()
    text = "Input and parameter tensors are not at the same device, found input tensor at cpu and parameter tensor at cuda:0"
    with pytest.raises(RuntimeError, match=text):
        model(torch.ones(5, 2, 3))
    text = "Input and hidden tensors are not at the same device, found input tensor at cuda:0 and hidden tensor at cpu"
    with pytest.raises(RuntimeError, match=text):
        model(torch.ones(5, 2, 3).cuda(), torch.zeros(1, 2, 4))


def test_a_transformer_takes_a_mask_on_its_device():
    model = nn.Transformer(8, 2, 1, 1, 16, batch_first=True).to("cuda")
    mask = model.generate_square_subsequent_mask(3).cuda()
    model(torch.randn(2, 4, 8, device="cuda"), torch.randn(2, 3, 8, device="cuda"), tgt_mask=mask).sum().backward()
    assert all(p.grad.is_cuda for p in model.parameters())


# -- gradients from user code --------------------------------------------------------------------------------------------


def returning(result: Callable[[torch.Tensor], torch.Tensor]) -> type[torch.autograd.Function]:
    class Given(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, ct):
            return result(ct)

    return Given


def test_gradients_on_another_device_are_refused_in_torchs_words():
    x = torch.ones(3, device="cuda", requires_grad=True)
    expected = "invalid gradient at index 0 - expected device cuda:0 but got cpu"
    with pytest.raises(RuntimeError, match=f"Function GivenBackward returned an {expected}"):
        returning(lambda ct: ct.cpu()).apply(x).sum().backward()
    with pytest.raises(RuntimeError, match=f"^{expected}"):
        (x * 2).backward(torch.ones(3))
    with pytest.raises(RuntimeError, match=f"^{expected}"):
        torch.autograd.grad(x * 2, x, torch.ones(3))
    with pytest.raises(RuntimeError, match="a gradient with device type 'cpu' to a tensor with device type 'cuda:0'"):
        x.grad = torch.ones(3)
    y = x * 2
    y.register_hook(lambda ct: ct.cpu())
    with pytest.raises(RuntimeError, match=re.escape("has changed the type of value (was torch.cuda.FloatTensor got torch.FloatTensor)")):
        y.sum().backward()
    assert x.grad is None
    h = torch.ones(3, requires_grad=True)
    with pytest.raises(RuntimeError, match="invalid gradient at index 0 - expected device cpu but got cuda:0"):
        returning(lambda ct: ct.cuda()).apply(h).sum().backward()
    assert h.grad is None


def test_a_0d_gradient_is_moved():
    x = torch.tensor(1.0, device="cuda", requires_grad=True)
    (x * 2).backward(torch.tensor(3.0))
    returning(lambda ct: ct.cpu()).apply(x).backward()
    assert x.grad.is_cuda and x.grad.item() == 7.0


def test_passes_may_start_at_an_edge_on_a_device():
    x = torch.tensor([1.0, 2.0], device="cuda", requires_grad=True)
    edge = torch.autograd.graph.get_gradient_edge((x * x).sum())
    torch.autograd.backward(edge)
    assert x.grad.tolist() == [2.0, 4.0]


def test_parameters_that_moved_after_a_backward_pass_get_gradients_there():
    w = nn.Parameter(torch.ones(2))
    (w * 2).sum().backward()
    w.grad, w.data = None, w.data.cuda()
    returning(lambda ct: ct * 2).apply(w).sum().backward()
    assert w.grad.is_cuda and w.grad.tolist() == [2.0, 2.0]


def test_gradients_of_0d_factors_come_back_from_writes_in_place():
    x, w = torch.ones(3, device="cuda"), torch.tensor(2.0, requires_grad=True)
    x.mul_(w)
    x[0] = w
    x.sum().backward()
    assert w.grad.device.type == "cpu" and w.grad.item() == 3.0


# -- indices and writes --------------------------------------------------------------------------------------------------


def test_indices_and_values_are_written_from_main_memory():
    x = torch.zeros(3, 2, device="cuda")
    x[0] = torch.ones(2)
    x[torch.tensor([1, 2]), torch.tensor([0, 1])] = torch.tensor(5.0)
    x[torch.tensor([False, True, False])] += 1
    assert x.tolist() == [[1.0, 1.0], [6.0, 1.0], [0.0, 5.0]]
    x.fill_(torch.tensor(3.0))
    x.index_put_((torch.tensor([0]),), torch.tensor(7.0))
    assert x.tolist() == [[7.0, 7.0], [3.0, 3.0], [3.0, 3.0]]
    with pytest.raises(RuntimeError, match="Expected all tensors to be on the same device"):
        x[torch.tensor([0, 1])] = torch.zeros(2, 2)
    assert x[0].tolist() == [7.0, 7.0]


@on_two_devices
def test_indices_on_another_device_are_refused():
    for x, index, here in (
        (torch.ones(3), torch.tensor([0], device="cuda"), "cpu"),
        (torch.ones(3, device="cuda"), torch.tensor([True] * 3, device="cuda:1"), "cuda:0"),
    ):
        text = re.escape(f"indices should be either on cpu or on the same device as the indexed tensor ({here})")
        with pytest.raises(RuntimeError, match=text):
            x[index]
        with pytest.raises(RuntimeError, match=text):
            x[index] = 0.0


def test_a_0d_tensor_in_main_memory_is_not_written_from_a_device():
    x, y = torch.ones(()), torch.ones((), device="cuda")
    with pytest.raises(RuntimeError, match="Expected all tensors to be on the same device"):
        x.add_(y)
    assert x.item() == 1.0
    x.copy_(y * 2)
    assert x.item() == 2.0 and x.device.type == "cpu"


# -- mixed devices -------------------------------------------------------------------------------------------------------

# h and d are matrices in main memory and on a device, i and j vectors of indices there.
MIXED = {
    "add": lambda h, d, i, j: h + d, "compare": lambda h, d, i, j: d == h, "pow": lambda h, d, i, j: h**d,
    "in place": lambda h, d, i, j: d.add_(h), "matmul": lambda h, d, i, j: h @ d, "mv": lambda h, d, i, j: d.mv(h[0]),
    "dot": lambda h, d, i, j: d[0].dot(h[0]), "addmm": lambda h, d, i, j: torch.addmm(h, d, d),
    "bmm": lambda h, d, i, j: torch.bmm(h[None], d[None]), "einsum": lambda h, d, i, j: torch.einsum("ij,jk->ik", h, d),
    "outer": lambda h, d, i, j: torch.outer(h[0], d[0]), "cat": lambda h, d, i, j: torch.cat([h, d]),
    "stack": lambda h, d, i, j: torch.stack([d, h]), "where": lambda h, d, i, j: torch.where(h > 0, d, d),
    "index_select": lambda h, d, i, j: d.index_select(0, i), "gather": lambda h, d, i, j: h.gather(0, j[None]),
    "scatter": lambda h, d, i, j: d.scatter(0, i[None], 1.0), "take": lambda h, d, i, j: d.take(i),
    "index_add": lambda h, d, i, j: d.index_add(0, i, d), "masked_select": lambda h, d, i, j: d.masked_select(h > 0),
    "masked_fill": lambda h, d, i, j: d.masked_fill(h > 0, 1.0), "repeat": lambda h, d, i, j: d.repeat_interleave(i, 0),
    "embedding": lambda h, d, i, j: F.embedding(i, d), "cross_entropy": lambda h, d, i, j: F.cross_entropy(d, i),
    "mse_loss": lambda h, d, i, j: F.mse_loss(h, d), "bce": lambda h, d, i, j: F.binary_cross_entropy_with_logits(d, h),
    "linear": lambda h, d, i, j: F.linear(d, d, h[0]), "bilinear": lambda h, d, i, j: F.bilinear(h, d, d[None]),
    "batch_norm": lambda h, d, i, j: nn.BatchNorm1d(2)(d), "layer_norm": lambda h, d, i, j: nn.LayerNorm(2)(d),
    "attention": lambda h, d, i, j: F.scaled_dot_product_attention(d[None], d[None], h[None]),
    "grid": lambda h, d, i, j: F.grid_sample(d[None, None], h[None, None].expand(1, 2, 2, 2)),
    "module": lambda h, d, i, j: nn.Linear(2, 2).cuda()(h), "solve": lambda h, d, i, j: torch.linalg.solve(d, h),
    "equal": lambda h, d, i, j: torch.equal(h, d), "allclose": lambda h, d, i, j: torch.allclose(h, d),
    "isin": lambda h, d, i, j: torch.isin(d, h), "bucketize": lambda h, d, i, j: torch.bucketize(d, h[0]),
    "searchsorted": lambda h, d, i, j: torch.searchsorted(h[0], d[0]), "bincount": lambda h, d, i, j: torch.bincount(j, h[0]),
}  # fmt: skip


@pytest.mark.parametrize("name", MIXED)
def test_operations_refuse_operands_of_several_devices(name):
    host, indices = torch.tensor([[1.0, 2.0], [3.0, 5.0]]), torch.tensor([0, 1])
    with pytest.raises(RuntimeError, match="Expected all tensors to be on the same device, but found at least two devices, "):
        MIXED[name](host, host.cuda(), indices, indices.cuda())


def test_results_and_grids_on_another_device_are_refused():
    out = torch.zeros(2, 2, device="cuda")
    with pytest.raises(RuntimeError, match="Expected out tensor to have device cpu, but got cuda:0 instead"):
        torch.add(torch.ones(2, 2), 1, out=out)
    assert not out.any()
    with pytest.raises(RuntimeError, match="meshgrid expects all tensors to have the same device"):
        torch.meshgrid(out[0].cpu(), out[0], indexing="ij")


def test_memory_is_lent_only_without_a_gradient():
    x = torch.ones(2, device="cuda")
    assert x.__cuda_array_interface__["shape"] == (2,) and not hasattr(torch.ones(2), "__cuda_array_interface__")
    with pytest.raises(RuntimeError, match="Can't get __cuda_array_interface__ on Variable that requires grad"):
        getattr(x.requires_grad_(), "__cuda_array_interface__")  # noqa: B009
    with pytest.raises(RuntimeError, match="Invalid device, must be cuda device"):
        x.cuda("cpu")


@device_library.on_the_stand_in
def test_loops_leave_nothing_on_the_device():
    model = nn.Linear(2, 2).cuda()
    optimizer = optim.Adam(model.parameters())
    held = []
    for _ in range(4):
        one_step(model, optimizer)
        torch.ones(8).cuda().mul(2).sum().item()
        held.append(len(standin._owners))
    assert held[1:] == held[1:2] * 3


def test_numpy_arrays_beside_tensors_on_a_device_are_refused():
    x = torch.ones(2, device="cuda")
    for compute in (lambda: x * np.ones(2), lambda: np.ones(2) * x, lambda: np.add(x, np.ones(2))):
        with pytest.raises(RuntimeError, match="Expected all tensors to be on the same device"):
            compute()


def test_derivatives_are_checked_where_the_inputs_lie():
    x = torch.tensor([1.0, 2.0], dtype=torch.float64, device="cuda", requires_grad=True)
    tripled = returning(lambda ct: ct * 3).apply  # its derivative is 2
    assert torch.autograd.gradcheck(lambda _: x * x, x)
    assert torch.autograd.gradcheck(torch.exp, x, check_forward_ad=True, check_batched_grad=True, check_batched_forward_grad=True)
    with pytest.raises(RuntimeError, match=re.escape("numerical:tensor([[2., 0.],\n        [0., 2.]], device='cuda:0'")):
        torch.autograd.gradcheck(lambda _: tripled(x), x, eps=2.0**-20)
    assert x.tolist() == [1.0, 2.0]
    with pytest.raises(RuntimeError, match="stride 0"):
        torch.autograd.gradcheck(lambda x: x * 2, torch.ones(1, device="cuda", dtype=torch.float64).expand(2).requires_grad_())


@pytest.mark.parametrize("read", [lambda y: y[y.detach() > -1.0], lambda y: y[torch.tensor([0, 1]), torch.tensor([1, 1])]])
def test_losses_read_by_masks_and_indices_have_derivatives_of_second_order(read):
    x = torch.tensor([[0.5, -1.0], [2.0, 0.25]], dtype=torch.float64, device="cuda", requires_grad=True)
    assert torch.autograd.gradgradcheck(lambda x: read(x.log_softmax(1)).sum(), x)


@on_two_devices
def test_map_location_without_a_number_names_the_current_device():
    file = io.BytesIO()
    torch.save(torch.ones(2), file)
    file.seek(0)
    with torch.cuda.device(1):
        assert torch.load(file, map_location="cuda").get_device() == 1
    assert torch.serialization.validate_cuda_device("cuda:1") == 1
    with pytest.raises(TypeError, match="Found two parameters on different devices"):
        nn.utils.parameters_to_vector([torch.ones(1, device="cuda:0"), torch.ones(1, device="cuda:1")])


def test_unpack_hooks_return_tensors_on_the_device_of_the_saved_ones():
    x = torch.ones(2, device="cuda", requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t.cpu(), lambda t: t.cuda()):
        (x * x.exp()).sum().backward()
    assert x.grad.is_cuda
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t.cpu(), lambda t: t):
        y = (x * x.exp()).sum()
    with pytest.raises(RuntimeError, match="Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!"):
        y.backward()


def test_lazy_modules_move_before_their_first_call():
    model = nn.Sequential(nn.LazyLinear(4), nn.LazyBatchNorm1d()).cuda()
    model(torch.randn(3, 5, device="cuda")).sum().backward()
    assert model[0].weight.grad.is_cuda and model[1].running_mean.is_cuda


def test_close_tensors_lie_on_one_device_unless_that_is_not_checked():
    x = torch.ones(2, device="cuda")
    torch.testing.assert_close([x, 1.0], [x.clone(), 1.0])
    with pytest.raises(AssertionError, match="The values for attribute 'device' do not match: cuda:0 != cpu."):
        torch.testing.assert_close(x, x.cpu())
    torch.testing.assert_close(x, x.cpu(), check_device=False)
    torch.testing.assert_close(x, np.ones(2, np.float32))


@device_library.on_the_stand_in
def test_without_cupy_each_way_to_ask_for_a_gpu_names_the_extra():
    model = nn.Linear(2, 2)
    file = io.BytesIO()
    torch.save(torch.ones(1), file)
    ways = [
        lambda: torch.ones(1).cuda(0), lambda: torch.ones(1).to("cuda:1"), lambda: torch.ones(1, device="cuda"), model.cuda,
        lambda: model.to("cuda"), lambda: nn.LSTM(2, 2, device="cuda"), lambda: torch.cuda.FloatTensor([1]),
        lambda: torch.ones(1).type("torch.cuda.FloatTensor"), lambda: torch.set_default_device("cuda"), torch.cuda.current_device,
        lambda: torch.cuda.set_device(0), torch.cuda.synchronize, torch.cuda.Stream, torch.cuda.Event, torch.cuda.get_device_name,
        lambda: torch.ones(1).untyped_storage().cuda(), lambda: torch.device("cuda").__enter__(),
    ]  # fmt: skip
    standin.leave()
    try:
        for ask in ways:
            with pytest.raises((RuntimeError, AssertionError, TypeError), match=r"pip install 'wengert\[cuda\]'"):
                ask()
        file.seek(0)
        with pytest.raises(RuntimeError, match="Attempting to deserialize object on a CUDA device but torch.cuda.is_available\\(\\) is False"):
            torch.load(file, map_location="cuda")
    finally:
        selection.use(standin)
    assert model.weight.device == torch.get_default_device() == torch.device("cpu")


def test_convolutions_name_the_types_that_differ():
    x, w = torch.ones(1, 1, 2, 2), torch.ones(1, 1, 1, 1)
    for found, weight, bias, types in (
        (x, w.cuda(), None, r"Input type \(torch.FloatTensor\) and weight type \(torch.cuda.FloatTensor\)"),
        (x.cuda(), w, None, r"Input type \(torch.cuda.FloatTensor\) and weight type \(torch.FloatTensor\)"),
        (x.cuda(), w.cuda(), torch.ones(1), r"Input type \(torch.cuda.FloatTensor\) and bias type \(torch.FloatTensor\)"),
    ):
        for convolve in (F.conv2d, F.conv_transpose2d):
            with pytest.raises(RuntimeError, match=types + " should be the same"):
                convolve(found, weight, bias)


def test_messages_name_the_types_of_a_device():
    x = torch.ones(2, device="cuda", requires_grad=True)
    y = x * 1
    z = y**2
    y.add_(1)
    with pytest.raises(RuntimeError, match=re.escape("modified by an inplace operation: [torch.cuda.FloatTensor [2]]")):
        z.sum().backward()
    with pytest.raises(RuntimeError, match="but got torch.cuda.FloatTensor instead \\(while checking arguments for embedding\\)"):
        F.embedding(x.detach(), torch.ones(3, 2, device="cuda"))
