"""Libraries with a torch backend, with wengert in the place of torch: the first example of each, as its manual has it.

Each runs in a process of its own. docs/libraries.md says how many of the libraries' own tests pass.
"""

import subprocess
import sys
from importlib.util import find_spec

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
}
PRINTED = {  # worked by hand: of each 12 numbers the largest; 3 * 4; e**-1 and its derivative; half the mass moves by 1 ...
    "einops": "(2, 4, 3) [11, 23] 12",
    "opt_einsum": "Tensor 12.0 20.0",
    "autoray": "torch 5.0 [7.0]",
    "torchdiffeq": "0.367879 0.367879",
    "ot": "0.25 1.0",
    "tensorly": "Tensor True",
    "pymanopt": "[2.0, 0.0, 6.0]",
}


@pytest.mark.parametrize("library", EXAMPLES)
def test_the_first_example_of_a_library_runs(library, tmp_path):
    if find_spec(library) is None:
        pytest.skip(f"{library} is not installed")
    script = tmp_path / "example.py"
    lines = [line[8:] for line in EXAMPLES[library].strip("\n").splitlines()]
    script.write_text("\n".join(["import torch", *lines]), encoding="utf-8")
    command = [sys.executable, "-W", "ignore", "-m", "wengert", "run", str(script)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout.strip() == PRINTED[library], done.stderr
