"""Tensors on devices: copies between them, what may be mixed, and what is refused. The devices are those of tests/standin.py, or
GPUs (`make test-cuda`)."""

from __future__ import annotations

import copy
import io
import pickle

import numpy as np
import pytest

import device_library
import standin
import wengert as torch
from device_library import on_the_stand_in, on_two_devices
from wengert.backends import selection


@pytest.fixture(autouse=True)
def library():
    with device_library.in_use():
        yield


def test_copies_to_a_device_and_back_print_as_document_s2_prints_them():
    a = torch.autograd.Variable(torch.Tensor([1]), requires_grad=True).cuda()
    assert repr(a) == "tensor([1.], device='cuda:0', grad_fn=<CopyBackwards>)"
    assert repr(a.data) == "tensor([1.], device='cuda:0')"
    assert repr(a.cpu()) == "tensor([1.], grad_fn=<CopyBackwards>)"
    assert repr(a.cpu().data) == "tensor([1.])"


def test_a_tensor_that_is_there_already_is_returned_itself():
    x = torch.ones(2)
    assert x.cpu() is x and x.to("cpu") is x
    y = x.cuda()
    assert y.cuda() is y and y.to("cuda") is y and y.to("cuda:0") is y


@on_two_devices
def test_gradients_flow_across_devices():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x.cuda()
    (y.to("cuda:1").exp().cpu() * y.cpu()).sum().backward()
    assert x.grad.device == torch.device("cpu")
    np.testing.assert_allclose(x.grad.numpy(), np.exp([1, 2]) * (1 + np.array([1, 2])), rtol=1e-6)


def test_gradients_of_leaves_on_a_device_add_up_there():
    x = torch.tensor([1.0, 2.0], device="cuda", requires_grad=True)
    for _ in range(2):
        (x * x).sum().backward()
    assert x.grad.is_cuda and x.grad.tolist() == [4.0, 8.0]


def test_a_second_derivative_crosses_devices():
    x = torch.tensor([2.0], dtype=torch.float64, requires_grad=True)
    (g,) = torch.autograd.grad((x.cuda() ** 3).sum(), x, create_graph=True)
    (h,) = torch.autograd.grad(g, x)
    assert h.device.type == "cpu" and h.item() == 12.0


def test_tangents_cross_devices():
    with torch.autograd.forward_ad.dual_level():
        x = torch.autograd.forward_ad.make_dual(torch.tensor([2.0]), torch.tensor([1.0]))
        _, t = torch.autograd.forward_ad.unpack_dual(x.cuda() ** 2)
        assert t.is_cuda and t.tolist() == [4.0]


@on_two_devices
def test_operands_of_two_devices_are_refused_in_torchs_words():
    x, y = torch.ones(2), torch.ones(2, device="cuda")
    with pytest.raises(RuntimeError, match="Expected all tensors to be on the same device, but found at least two devices, cpu and cuda:0!"):
        x + y
    with pytest.raises(RuntimeError, match="found at least two devices, cuda:0 and cuda:1!"):
        y @ y.to("cuda:1")
    with pytest.raises(RuntimeError, match="Expected all tensors to be on the same device"):
        torch.cat([y, x])


@on_two_devices
def test_a_0d_tensor_of_the_cpu_joins_any_device():
    y = torch.ones(2, device="cuda:1")
    result = torch.tensor(2.0) * y + np.float32(1)
    assert result.device == torch.device("cuda:1") and result.tolist() == [3.0, 3.0]
    w = torch.tensor(2.0, requires_grad=True)
    (w * y).sum().backward()
    assert w.grad.device.type == "cpu" and w.grad.item() == 2.0


def test_tensors_on_a_device_give_no_numpy_arrays():
    y = torch.ones(2, device="cuda")
    for convert in (torch.Tensor.numpy, np.asarray):
        with pytest.raises(TypeError, match="can't convert cuda:0 device type tensor to numpy. Use Tensor.cpu\\(\\)"):
            convert(y)
    assert y.cpu().numpy().tolist() == [1.0, 1.0]


def test_devices_that_are_not_there_are_refused():
    with pytest.raises(RuntimeError, match="invalid device ordinal"):
        torch.ones(2).to("cuda:2")
    with pytest.raises(RuntimeError, match="no backend for device mps"):
        torch.ones(2).to("mps")


@on_two_devices
def test_new_tensors_lie_on_the_device_that_is_asked_for():
    for make in (torch.zeros, torch.ones, torch.empty, torch.rand, torch.randn):
        assert make(2, 3, device="cuda:1").device == torch.device("cuda", 1)
    assert torch.tensor([1], device=1).device == torch.device("cuda:1")
    assert torch.full((2,), 3.0, device="cuda").device == torch.arange(3, device="cuda").device == torch.device("cuda:0")
    y = torch.ones(2, device="cuda:1")
    assert all(z.device == y.device for z in (torch.zeros_like(y), torch.rand_like(y), y.new_ones(3), y.new_tensor([1.0]), y.clone()))
    assert torch.zeros_like(y, device="cpu").device.type == "cpu"


@on_two_devices
def test_a_device_is_the_default_one_in_its_block():
    with torch.device("cuda:1"):
        assert torch.ones(1).device == torch.get_default_device() == torch.device("cuda:1")
    assert torch.ones(1).device.type == "cpu"


@on_the_stand_in
def test_arithmetic_and_gradients_wait_for_no_device():
    x = torch.randn(4, 3, device="cuda", requires_grad=True)
    w = torch.randn(3, 2, device="cuda", requires_grad=True)
    before = standin.waits
    loss = torch.nn.functional.softplus(x @ w).mean() + (x * 2.0).exp().sum()
    loss.backward()
    assert standin.waits == before and x.grad.is_cuda and w.grad.is_cuda


def test_writes_in_place_stay_on_their_device():
    x = torch.zeros(3, device="cuda")
    x[1] = 2.0
    x.add_(1)
    x[2:].copy_(torch.tensor([7.0]))
    assert x.tolist() == [1.0, 3.0, 7.0] and x.is_cuda


@on_the_stand_in
def test_without_cupy_the_error_names_the_extra():
    standin.leave()
    try:
        with pytest.raises(RuntimeError, match=r"pip install 'wengert\[cuda\]'"):
            torch.ones(1).cuda()
    finally:
        selection.use(standin)


@on_two_devices
def test_the_current_device_is_where_cuda_means():
    assert torch.cuda.is_available() and torch.cuda.device_count() == 2 and torch.cuda.current_device() == 0
    with torch.cuda.device(1):
        assert torch.ones(1).cuda().device == torch.zeros(1, device="cuda").device == torch.device("cuda:1")
    torch.cuda.set_device(1)
    try:
        assert torch.ones(1).cuda().get_device() == torch.cuda.current_device() == 1
    finally:
        torch.cuda.set_device(0)
    with pytest.raises(RuntimeError, match="invalid device ordinal"):
        torch.cuda.set_device(2)


@on_the_stand_in
def test_queues_and_events_are_waited_for():
    start, end, queue = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True), torch.cuda.Stream()
    with torch.cuda.stream(queue):
        start.record()
        end.record(queue)
    before = standin.waits
    queue.synchronize()
    torch.cuda.synchronize()
    assert standin.waits == before + 2 and start.elapsed_time(end) >= 0 and queue.query() and end.query()


@pytest.mark.parametrize("name", ["SGD", "Adam", "RMSprop", "Adagrad", "Adadelta", "Adamax"])
def test_a_model_trains_on_a_device_as_on_the_cpu(name):
    losses = []
    for where in ("cpu", "cuda"):
        torch.manual_seed(0)
        model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.BatchNorm1d(8), torch.nn.Tanh(), torch.nn.Linear(8, 3)).to(where)
        x, target = torch.randn(16, 4).to(where), torch.randint(0, 3, (16,)).to(where)
        optimizer = getattr(torch.optim, name)(model.parameters(), lr=0.01)
        for _ in range(4):
            optimizer.zero_grad()
            loss = torch.nn.functional.cross_entropy(model(x), target)
            loss.backward()
            optimizer.step()
        assert all(p.device.type == p.grad.device.type == where for p in model.parameters())
        losses.append(loss.item())
    assert losses[0] == pytest.approx(losses[1], rel=1e-5)


@on_two_devices
def test_layers_are_made_on_a_device():
    layer = torch.nn.Linear(3, 2, device="cuda:1")
    assert {p.device for p in layer.parameters()} == {torch.device("cuda:1")}
    recurrent = torch.nn.LSTM(3, 4).cuda()
    recurrent(torch.ones(2, 1, 3, device="cuda"))[0].sum().backward()
    assert all(p.grad.is_cuda for p in recurrent.parameters())


def test_indices_in_main_memory_name_elements_on_a_device():
    x = torch.arange(4.0, device="cuda", requires_grad=True)
    y = x[torch.tensor([0, 2, 2])]
    y.sum().backward()
    assert y.is_cuda and x.grad.tolist() == [1.0, 0.0, 2.0, 0.0]


def test_files_keep_the_device_and_map_location_changes_it():
    model = torch.nn.Linear(3, 2).cuda()
    file = io.BytesIO()
    torch.save({"state": model.state_dict(), "step": torch.tensor([3], device="cuda")}, file)
    file.seek(0)
    found = torch.load(file)
    assert found["state"]["weight"].is_cuda and found["step"].tolist() == [3]
    assert torch.equal(found["state"]["weight"], model.weight)
    file.seek(0)
    found = torch.load(file, map_location="cpu")
    assert found["state"]["weight"].device.type == "cpu" and torch.equal(found["state"]["weight"], model.weight.cpu())
    file.seek(0)
    with pytest.raises(RuntimeError, match="deserialize object on CUDA device 7 but torch.cuda.device_count\\(\\) is"):
        torch.load(file, map_location="cuda:7")


def test_a_file_from_a_gpu_needs_map_location_where_there_is_none():
    file = io.BytesIO()
    torch.save(torch.ones(2, device="cuda"), file)
    file.seek(0)
    if not device_library.ON_GPU:
        standin.leave()
        try:
            with pytest.raises(RuntimeError, match="Attempting to deserialize object on a CUDA device but torch.cuda.is_available"):
                torch.load(file)
        finally:
            selection.use(standin)
    file.seek(0)
    assert torch.load(file, map_location="cpu").tolist() == [1.0, 1.0]


def test_derivatives_on_a_device_are_checked_by_differences():
    x = torch.tensor([0.5, 2.0], dtype=torch.float64, device="cuda", requires_grad=True)
    w = torch.tensor(3.0, dtype=torch.float64, device="cuda")
    assert torch.autograd.gradcheck(lambda x: (x * w).sin(), x, check_forward_ad=True)
    assert torch.autograd.gradgradcheck(lambda x: (x * w).sin(), x)

    class Wrong(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.exp()

        @staticmethod
        def backward(ctx, ct):
            return ct

    with pytest.raises(RuntimeError, match="Jacobian mismatch"):
        torch.autograd.gradcheck(Wrong.apply, x)


def test_lbfgs_and_distributions_work_on_a_device():
    w = torch.tensor([1.0, 2.0], device="cuda", requires_grad=True)
    optimizer = torch.optim.LBFGS([w], line_search_fn="strong_wolfe")

    def closure():
        optimizer.zero_grad()
        loss = ((w - 3.0) ** 2).sum() + ((w[0] - w[1]) ** 4).sum()
        loss.backward()
        return loss

    for _ in range(5):
        optimizer.step(closure)
    torch.testing.assert_close(w.detach(), torch.tensor([3.0, 3.0]).cuda(), rtol=1e-3, atol=1e-3)
    loc = torch.zeros(2, device="cuda", requires_grad=True)
    for make in (torch.distributions.Normal, torch.distributions.Cauchy, torch.distributions.Laplace):
        drawn = make(loc, torch.ones(2, device="cuda")).rsample((3,))
        drawn.sum().backward()
        assert drawn.is_cuda
    assert loc.grad.tolist() == [9.0, 9.0]


def test_types_of_old_programs_name_the_device():
    x = torch.cuda.FloatTensor([1, 2])
    assert x.type() == torch.typename(x) == "torch.cuda.FloatTensor" and x.tolist() == [1.0, 2.0]
    assert isinstance(x, torch.cuda.FloatTensor) and not isinstance(x, torch.FloatTensor)
    assert not isinstance(x.cpu(), torch.cuda.FloatTensor) and torch.cuda.FloatTensor is torch.cuda.FloatTensor
    assert torch.ones(2).type(torch.cuda.DoubleTensor).type() == "torch.cuda.DoubleTensor"
    assert x.type("torch.LongTensor").type() == "torch.LongTensor" and x.type(torch.float64).is_cuda


def test_memory_of_a_device_is_shared_by_dlpack():
    x = torch.tensor([1.0, 2.0], device="cuda")
    y = torch.from_dlpack(x)
    y[0] = 5.0
    assert y.is_cuda and x.tolist() == [5.0, 2.0]


def test_tensors_that_share_memory_on_a_device_have_one_storage():
    x = torch.arange(6.0, device="cuda")
    v = x.view(2, 3)[1]
    storage = v.untyped_storage()
    assert storage is x.untyped_storage() and storage.nbytes() == 24 and storage.is_cuda
    assert storage.device == torch.device("cuda:0") and storage.data_ptr() == x.data_ptr() == v.data_ptr() - 12
    assert v.storage_offset() == 3 and v.is_set_to(x[3:]) and not v.is_set_to(x[:3])
    typed = v._typed_storage()
    assert typed.tolist() == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0] and typed.type() == "torch.cuda.FloatStorage" and typed[4] == 4.0
    typed[4] = 9.0
    assert v.tolist() == [3.0, 9.0, 5.0] and x.clone().untyped_storage() is not storage
    assert storage.cpu().device.type == "cpu" and storage.cuda() is storage and storage.clone().is_cuda
    assert x.is_shared() and x.share_memory_() is x  # memory of a GPU can always be shared in torch


def test_storages_on_a_device_grow_and_take_tensors_along():
    x = torch.arange(4.0, device="cuda")
    v = x[2:]
    x.resize_(6)
    x[3] = 7.0
    assert v.tolist() == [2.0, 7.0] and x.is_cuda and x[:4].tolist() == [0.0, 1.0, 2.0, 7.0]
    v.untyped_storage().resize_(8)
    with pytest.raises(RuntimeError, match="out of bounds for storage of size"):
        v + 1
    y = torch.empty(0, device="cuda").set_(torch.arange(6.0, device="cuda").untyped_storage(), 1, (2, 2), (1, 2))
    assert y.tolist() == [[1.0, 3.0], [2.0, 4.0]] and y.set_().shape == (0,) and y.is_cuda
    with pytest.raises(RuntimeError, match='Attempted to set the storage of a tensor on device "cpu" to a storage on different device "cuda:0"'):
        torch.empty(0).set_(x.untyped_storage())


def test_views_of_a_tensor_that_was_transposed_in_place_keep_their_gradients():
    x = torch.arange(6.0, device="cuda", requires_grad=True)
    b = x.view(2, 3) * 1
    v = b[0]
    b.t_()
    v.mul_(3)
    b.sum().backward()
    assert x.grad.tolist() == [3.0, 3.0, 3.0, 1.0, 1.0, 1.0]


def test_conjugate_views_on_a_device_follow_their_base():
    z = torch.tensor([1 + 2j, 3 - 1j], device="cuda")
    v = z.conj()
    v[0] = 5j
    z[1] = 1j
    assert v._base is z and z[0].item() == -5j and v[1].item() == -1j


@on_two_devices
def test_files_keep_what_tensors_on_a_device_share():
    x = torch.arange(4.0, device="cuda:1")
    for is_new in (True, False):
        file = io.BytesIO()
        torch.save({"x": x, "v": x[2:], "s": x.untyped_storage()}, file, _use_new_zipfile_serialization=is_new)
        for where, expected in ((None, "cuda:1"), ("cuda:0", "cuda:0"), ({"cuda:1": "cpu"}, "cpu"), (lambda s, _: s.cuda(0), "cuda:0")):
            file.seek(0)
            found = torch.load(file, map_location=where)
            found["v"][0] = 9.0
            assert str(found["x"].device) == expected and found["x"].tolist() == [0.0, 1.0, 9.0, 3.0]
            assert found["s"].device == found["x"].device and found["x"].untyped_storage() == found["s"]


@on_two_devices
def test_copies_keep_the_device():
    x = torch.arange(4.0, device="cuda:1", requires_grad=True)
    copies = copy.deepcopy([x, x.detach()[1:]])
    assert copies[0].device == x.device and copies[0].requires_grad and copies[1].tolist() == [1.0, 2.0, 3.0]
    found = pickle.loads(pickle.dumps(x.detach().untyped_storage()))
    assert found.device == x.device and found.tolist() == x.untyped_storage().tolist()


@pytest.mark.filterwarnings("ignore:torch.set_default_tensor_type:UserWarning")
def test_the_default_tensor_type_says_where_tensors_lie_and_is_printed_without_a_device():
    torch.set_default_tensor_type("torch.cuda.FloatTensor")
    try:
        assert torch.Tensor([1]).is_cuda and torch.ones(1).is_cuda and not torch.FloatTensor([1]).is_cuda
        assert repr(torch.ones(1)) == "tensor([1.])" and repr(torch.ones(1).cpu()) == "tensor([1.], device='cpu')"
    finally:
        torch.set_default_tensor_type("torch.FloatTensor")
    assert repr(torch.Tensor([1])) == "tensor([1.])" and torch.ones(1).device.type == "cpu"
    with torch.device("cuda"):
        assert torch.Tensor([1]).device.type == "cpu" and repr(torch.ones(1)) == "tensor([1.], device='cuda:0')"


def test_functions_get_zeros_on_the_device_of_their_outputs():
    class Two(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2, x * 3

        @staticmethod
        def backward(ctx, first, second):
            return first * 2 + second * 3

    x = torch.tensor([0.5, 2.0], dtype=torch.float64, device="cuda", requires_grad=True)
    Two.apply(x)[1].sum().backward()
    assert x.grad.tolist() == [3.0, 3.0] and x.grad.is_cuda
    assert torch.autograd.gradcheck(Two.apply, x)


def test_a_reason_for_a_gradient_of_zeros_is_found_on_a_device():
    w = torch.ones(2, device="cuda", requires_grad=True)
    assert torch.explain((w * 0.0).sum(), {"w": w})["w"].reason.startswith("exactly zero since MulBackward0")


def test_batches_of_tensors_on_a_device_stay_there():
    data = torch.utils.data.TensorDataset(torch.arange(6.0, device="cuda"))
    assert [(x.is_cuda, x.tolist()) for (x,) in torch.utils.data.DataLoader(data, batch_size=4)] == [
        (True, [0.0, 1.0, 2.0, 3.0]), (True, [4.0, 5.0])
    ]  # fmt: skip


@pytest.mark.filterwarnings("ignore:.*runs eagerly from now on:RuntimeWarning")
def test_compiled_functions_run_eagerly_on_a_device(tmp_path):
    compiled = torch.compile(lambda x: (x * 2).sum())
    assert [compiled(torch.ones(3, device="cuda")).item() for _ in range(3)] == [6.0] * 3
    assert "a tensor lies on cuda:0, and recordings run in main memory" in str(compiled.explain())
    with pytest.raises(RuntimeError, match="a tensor lies on cuda:0"):
        torch.compile(lambda x: x * 2, fullgraph=True)(torch.ones(3, device="cuda"))


def test_distributions_draw_and_measure_on_the_device_of_their_parameters():
    one, p, scale = torch.tensor([1.0, 2.0], device="cuda"), torch.tensor([0.3, 0.6], device="cuda"), torch.tensor(0.5, device="cuda")
    parameters = {
        "Normal": (one, one), "Beta": (one, one), "Gamma": (one, one), "Dirichlet": (one,), "Exponential": (one,), "Laplace": (0.0, one),
        "LogNormal": (one, one), "Cauchy": (one, one), "HalfCauchy": (one,), "HalfNormal": (one,), "Gumbel": (one, one), "Chi2": (one,),
        "StudentT": (one + 2,), "Uniform": (one * 0, one), "Weibull": (one, one), "Pareto": (one, one + 1), "Poisson": (one,),
        "Bernoulli": (p,), "Binomial": (5, p), "Geometric": (p,), "Categorical": (p,), "OneHotCategorical": (p,), "Multinomial": (4, p),
        "NegativeBinomial": (3, p), "FisherSnedecor": (one + 2, one + 2), "Kumaraswamy": (one, one), "InverseGamma": (one, one),
        "MultivariateNormal": (one, torch.eye(2).cuda()), "LowRankMultivariateNormal": (one, torch.ones(2, 1).cuda(), one),
        "VonMises": (one, one), "LKJCholesky": (3, scale), "RelaxedBernoulli": (scale, p), "RelaxedOneHotCategorical": (scale, p),
        "LogisticNormal": (one, one), "ContinuousBernoulli": (p,), "GeneralizedPareto": (one, one, one * 0.1),
        "Wishart": (scale + 3, torch.eye(2).cuda()),
    }  # fmt: skip
    for name, given in parameters.items():
        distribution = getattr(torch.distributions, name)(*given)
        drawn = distribution.sample((2,))
        assert drawn.is_cuda and distribution.log_prob(drawn).is_cuda, name


@on_two_devices
def test_work_on_another_device_than_the_current_one():
    """The stand-in refuses such work, as CuPy does where one GPU cannot reach the memory of another. Everything here lies on
    cuda:1, or goes from cuda:0 to cuda:1 and back, while cuda:0 is the current device."""

    class Net(torch.nn.Module):
        def __init__(self, *places):
            super().__init__()
            torch.manual_seed(0)
            self.places = places
            self.first, self.second = torch.nn.Linear(3, 4).to(places[0]), torch.nn.Linear(4, 4, bias=False).to(places[1])
            self.norm = torch.nn.BatchNorm1d(4).to(places[1])

        def forward(self, x):
            y = torch.tanh(self.first(x.to(self.places[0])))
            return self.norm(self.second(y.to(self.places[1]))).to(self.places[0]) + y  # y's gradient comes from two devices

    def train(kind, *places):
        net, x = Net(*places).double(), torch.linspace(-1, 1, 15, dtype=torch.float64).reshape(5, 3)
        optimizer, losses = kind(net.parameters(), lr=0.05), []
        for _ in range(4):
            optimizer.zero_grad()
            for part in (x[:3], x[2:]):  # the second pass adds to the gradients
                loss = net(part).square().mean()
                loss.backward()
            torch.nn.utils.clip_grad_norm_(net.parameters(), 0.5)
            optimizer.step()
            losses.append(loss.item())
        assert [str(p.device) for p in copy.deepcopy(net).parameters()] == [str(p.grad.device) for p in net.parameters()]
        return losses

    for kind in (torch.optim.SGD, torch.optim.Adam, torch.optim.RMSprop):
        expected = train(kind, "cpu", "cpu")
        for places in (("cuda:1", "cuda:1"), ("cuda:0", "cuda:1"), ("cuda:1", "cuda:0")):
            assert train(kind, *places) == pytest.approx(expected, rel=1e-9)

    x = torch.zeros(3, 3, device="cuda:1")
    x[0], x[1, 2], x[:, 1] = 1, 2.0, torch.tensor([3.0, 4.0, 5.0])
    x[torch.tensor([2])] = 6.0
    x += 1
    x.mul_(2).add_(torch.ones(3, device="cuda:1"), alpha=3).clamp_(max=12).index_add_(0, torch.tensor([0], device="cuda:1"), x[:1].clone())
    assert x.tolist() == [[14.0, 22.0, 14.0], [5.0, 12.0, 9.0], [12.0, 12.0, 12.0]]
    y = torch.empty(3, 3, device="cuda:1").copy_(x).sub_(x).fill_(3).zero_()
    torch.add(x, 1.0, out=y)
    z = torch.empty(0, device="cuda:1")
    torch.add(x, 1.0, out=z)
    z.copy_(z.clone().uniform_().mul_(0) + z).resize_(2, 2)
    assert (y == x + 1).all() and z.tolist() == [[15.0, 23.0], [15.0, 6.0]] and str(z.device) == "cuda:1"
    c = torch.complex(x, x).conj()
    c[0] = 1j
    assert c.imag[1].tolist() == [-5.0, -12.0, -9.0] and c.resolve_conj()[0, 0].item() == 1j
    for where in ("cuda:0", "cuda:1", "cuda:0"):  # what is kept for one device is not taken on another
        loss = torch.nn.functional.cross_entropy(torch.zeros(2, 4, device=where), torch.tensor([1, 2], device=where))
        assert loss.item() == pytest.approx(np.log(4)) and str(loss.device) == where
    assert str(torch.randint(5, (2,), device="cuda:1").device) == str(torch.stack([x, x]).sum(0).device) == "cuda:1"
