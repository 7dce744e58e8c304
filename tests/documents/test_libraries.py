"""Libraries with a torch backend, with wengert in the place of torch, and libraries for NumPy's arrays: the first example of each.

Each runs in a process of its own. docs/libraries.md says how many of the libraries' own tests pass.
"""

import os
import subprocess
import sys
from importlib.util import find_spec
from textwrap import dedent

import pytest

EXAMPLES = {
    "einops": """
        from einops import rearrange, reduce
        from einops.layers.torch import Rearrange
        x = torch.arange(24.0, requires_grad=True)
        y = rearrange(x, "(b c h) -> b h c", b=2, c=3)
        reduce(y ** 2, "b h c -> b", "max").sum().backward()
        print(tuple(y.shape), x.grad.nonzero().flatten().tolist(), Rearrange("b h c -> b (h c)")(y).shape[1])
    """,
    "opt_einsum": """
        import opt_einsum
        x = torch.ones(2, 3, requires_grad=True)
        y = opt_einsum.contract("ij,jk,kl->il", x, torch.ones(3, 4), torch.ones(4, 5))
        y.sum().backward()
        print(type(y).__name__, y[0, 0].item(), x.grad[0, 0].item())
    """,
    "autoray": """
        import autoray
        x = torch.tensor([[3.0, 4.0]])
        print(autoray.infer_backend(x), autoray.do("linalg.norm", x).item(), autoray.do("sum", x, axis=1).tolist())
    """,
    "torchdiffeq": """
        from torchdiffeq import odeint
        rate = torch.tensor(-1.0, dtype=torch.float64, requires_grad=True)
        times = torch.tensor([0.0, 1.0], dtype=torch.float64)
        y = odeint(lambda t, y: rate * y, torch.ones(1, dtype=torch.float64), times, rtol=1e-9, atol=1e-9)
        y[-1].sum().backward()
        print(round(y[-1].item(), 6), round(rate.grad.item(), 6))
    """,
    "ot": """
        import ot
        a = torch.tensor([0.5, 0.5], dtype=torch.float64, requires_grad=True)
        cost = torch.tensor([[0.0, 1.0], [1.0, 0.0]], dtype=torch.float64)
        loss = ot.emd2(a, torch.tensor([0.25, 0.75], dtype=torch.float64), cost)
        loss.backward()
        print(loss.item(), (a.grad[0] - a.grad[1]).item())
    """,
    "tensorly": """
        import tensorly
        from tensorly.decomposition import parafac
        tensorly.set_backend("pytorch")
        x = torch.ones(2, 3, 4, dtype=torch.float64)
        y = tensorly.cp_to_tensor(parafac(x, rank=1, init="svd"))
        print(type(y).__name__, bool(torch.allclose(x, y)))
    """,
    "pymanopt": """
        import numpy, pymanopt
        manifold = pymanopt.manifolds.Sphere(3)
        @pymanopt.function.pytorch(manifold)
        def cost(x):
            return x @ torch.diag(torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64)) @ x
        problem = pymanopt.Problem(manifold, cost)
        print(problem.euclidean_gradient(numpy.array([1.0, 0.0, 1.0])).tolist())
    """,
    "xarray": """
        import numpy, xarray
        x = torch.tensor([[1.0, 2.0], [3.0, 6.0]], dtype=torch.float64, requires_grad=True)
        a = xarray.DataArray(x, dims=("time", "place"), coords={"place": ["A", "B"]})
        y = ((a - a.isel(time=0)) ** 2).sel(place="B")
        numpy.sum(y.data).backward()
        print(y.data.tolist(), x.grad.tolist())
    """,
    "pandas": """
        import numpy, pandas
        table = pandas.DataFrame({"t": [0.0, 1.0, 2.0], "y": [1.0, 3.0, 7.0]})
        slope = torch.tensor(2.0, dtype=torch.float64, requires_grad=True)
        numpy.sum((slope * table["t"].to_numpy() - table["y"].to_numpy()) ** 2).backward()
        print(slope.grad.item())
        try:
            pandas.Series(torch.ones(2, requires_grad=True))
        except RuntimeError as error:
            print("numpy.asarray, called as `np.asarray(data)`" in str(error))
    """,
    "sklearn": """
        import sklearn
        from sklearn.preprocessing import MinMaxScaler
        x = torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], dtype=torch.float64, requires_grad=True)
        with sklearn.config_context(array_api_dispatch=True):
            y = MinMaxScaler().fit_transform(x)
        y[1, 0].backward()
        print(y.tolist(), x.grad[1].tolist())
    """,
    "pyhf": """
        import pyhf
        pyhf.set_backend("pytorch", precision="64b")
        model = pyhf.simplemodels.uncorrelated_background(signal=[5.0, 10.0], bkg=[50.0, 60.0], bkg_uncertainty=[5.0, 12.0])
        data = pyhf.tensorlib.astensor([55.0, 70.0] + model.config.auxdata)
        print([round(value, 3) + 0.0 for value in pyhf.infer.mle.fit(data, model).tolist()])
    """,
    "iminuit": """
        import iminuit, numpy
        x = numpy.linspace(0.0, 1.0, 20)
        y = 2.0 * numpy.exp(-3.0 * x)
        def cost(a, b):
            return numpy.sum((a * numpy.exp(-b * x) - y) ** 2)
        def slopes(a, b):
            p = torch.tensor([a, b], dtype=torch.float64, requires_grad=True)
            cost(*p).backward()
            return p.grad.numpy()
        fit = iminuit.Minuit(cost, a=1.0, b=1.0, grad=slopes)
        fit.errordef = iminuit.Minuit.LEAST_SQUARES
        fit.migrad()
        print([round(value, 2) for value in fit.values], fit.ngrad > 0)
    """,
    "lifelines": """
        import lifelines, numpy
        from scipy.optimize import minimize
        times = numpy.array([5.0, 8.0, 3.0, 12.0, 7.0, 9.0, 2.0, 11.0])
        observed = numpy.array([1, 1, 0, 1, 1, 0, 1, 1])
        def loss(p):
            logarithm = numpy.log(times) - p[0]
            return -numpy.sum(observed * (p[1] - p[0] + (numpy.exp(p[1]) - 1) * logarithm) - numpy.exp(numpy.exp(p[1]) * logarithm))
        def value_and_slopes(values):
            p = torch.tensor(values, requires_grad=True)
            loss(p).backward()
            return loss(values), p.grad.numpy()
        found = numpy.exp(minimize(value_and_slopes, numpy.array([1.0, 0.0]), jac=True, tol=1e-10).x)
        weibull = lifelines.WeibullFitter().fit(times, observed)
        print(numpy.allclose(found, [weibull.lambda_, weibull.rho_], rtol=1e-3))
    """,
    "sympy": """
        import numpy, sympy
        a, b = sympy.symbols("a b")
        f = sympy.lambdify([a, b], a * sympy.exp(b) + sympy.Piecewise((a**2, a > b), (b, True)), modules="numpy")
        x = torch.tensor([3.0, -1.0], dtype=torch.float64, requires_grad=True)
        f(x, 0.0).sum().backward()
        row = sympy.lambdify([a, b], sympy.Matrix([[a, b]]), modules=[{"array": lambda v: numpy.array(v, like=x)}, "numpy"])
        print(x.grad.tolist(), row(x[0], x[1]).tolist())
    """,
    "emcee": """
        import emcee, numpy
        def log_density(p):
            return -0.5 * numpy.sum((torch.as_tensor(p) - 1.0) ** 2)
        start = numpy.random.default_rng(0).normal(size=(8, 2))
        sampler = emcee.EnsembleSampler(8, 2, log_density)
        sampler.random_state = numpy.random.RandomState(0).get_state()
        sampler.run_mcmc(start, 500)
        print(numpy.abs(sampler.get_chain(flat=True, discard=100).mean(0) - 1.0).max() < 0.3)
    """,
}
PRINTED = {  # worked by hand: of each 12 numbers the largest; 3 * 4; e**-1 and its derivative; half the mass moves by 1 ...
    "einops": "(2, 4, 3) [11, 23] 12",
    "opt_einsum": "Tensor 12.0 20.0",
    "autoray": "torch 5.0 [7.0]",
    "torchdiffeq": "0.367879 0.367879",
    "ot": "0.25 1.0",
    "tensorly": "Tensor True",
    "pymanopt": "[2.0, 0.0, 6.0]",
    "xarray": "[0.0, 16.0] [[0.0, -8.0], [0.0, 8.0]]",
    "pandas": "-14.0\nTrue",
    "sklearn": "[[0.0, 0.0], [0.5, 0.5], [1.0, 1.0]] [0.25, 0.0]",
    "pyhf": "[1.0, 1.0, 1.0]",
    "iminuit": "[2.0, 3.0] True",
    "lifelines": "True",
    "sympy": "[7.0, 1.0] [[3.0, -1.0]]",
    "emcee": "True",
}


@pytest.mark.slow
@pytest.mark.parametrize("library", EXAMPLES)
def test_the_first_example_of_a_library_runs(library, tmp_path):
    if find_spec(library) is None:
        pytest.skip(f"{library} is not installed")
    script = tmp_path / "example.py"
    lines = [line[8:] for line in EXAMPLES[library].strip("\n").splitlines()]
    script.write_text("\n".join(["import torch", *lines]), encoding="utf-8")
    command = [sys.executable, "-W", "ignore", "-m", "wengert", "run", str(script)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, "SCIPY_ARRAY_API": "1"})
    assert done.stdout.strip() == PRINTED[library], done.stderr


# The entries that docs/libraries.md gives for the tables of backends, without the alias.
ENTRIES = {
    "einops": ("""
        import wengert
        from einops import _backends, rearrange
        class Backend(_backends.TorchBackend):
            framework_name = "wengert"
            def __init__(self):
                self.torch = wengert
        class NumpyBackend(_backends.NumpyBackend):
            framework_name = "wengert.numpy"
            def __init__(self):
                import wengert.numpy
                self.np = wengert.numpy
        x = wengert.ones(2, 3, requires_grad=True)
        y = rearrange(x, "a b -> b a")
        z = rearrange(NumpyBackend().np.asarray(x), "a b -> b a")
        print(tuple(y.shape), y.requires_grad, type(z).__module__, z.requires_grad)
    """, "(3, 2) True wengert.numpy.arrays True"),
    "autoray": ("""
        import autoray, wengert
        autoray.register_backend(wengert.Tensor, "numpy")
        x = wengert.ones(2, 3, requires_grad=True)
        y = autoray.do("transpose", x)
        print(tuple(y.shape), y.requires_grad, autoray.do("stack", [y, y]).requires_grad)
    """, "(3, 2) True True"),
    "opt_einsum": ("""
        import opt_einsum, wengert
        x = wengert.ones(2, 3, requires_grad=True)
        y = opt_einsum.contract("ij,jk,kl->il", x, wengert.ones(3, 4), wengert.ones(4, 5), backend="numpy")
        print(y[0, 0].item(), y.requires_grad)
    """, "12.0 True"),
}  # fmt: skip


@pytest.mark.parametrize("library", ENTRIES)
def test_an_entry_in_a_table_of_backends_is_enough(library):
    if find_spec(library) is None:
        pytest.skip(f"{library} is not installed")
    script, printed = ENTRIES[library]
    command = [sys.executable, "-W", "ignore", "-c", dedent(script)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout.strip() == printed, done.stderr
