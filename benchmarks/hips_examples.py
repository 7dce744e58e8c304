"""Run the examples of HIPS autograd with HIPS and with wengert.hips: the same numbers, and how much faster.

    git clone https://github.com/HIPS/autograd; python benchmarks/hips_examples.py autograd/examples [name ...]

Each example runs unchanged in a process of its own, `import autograd` meaning one library or the other. Each call of a derivative
that the program makes is recorded: its results and the processor time. The program ends after as many calls as CALLS says. The time
of a call is the median of all calls but the first, because other programs on the machine slow some of them. Then the last call is
repeated for a second, and the least time counts: between other calls a program may do much else, after which memory and caches are
cold for either library. The time of the whole program goes from the end of the first call to that of the last. Each is the least of
REPEATS runs. Plots cost nothing: matplotlib is a stub. MNIST is replaced by random images. docs/from-hips.md has the table.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path
from types import ModuleType

CALLS = {"fluidsim": 3, "wing": 3, "convnet": 3, "lstm": 4, "rnn": 6, "ode_net": 8, "bayesian_optimization": 60, "neural_net": 20,
         "generative_adversarial_net": 12, "variational_autoencoder": 8, "gmm": 60}  # fmt: skip
DEFAULT_CALLS = 100
NO_EXAMPLES = {"__init__", "data", "data_mnist"}


def main(arguments: list[str]) -> None:
    """Run the examples, and print a row of the table for each."""
    folder = Path(arguments[0])
    names = arguments[1:] or sorted(p.stem for p in folder.rglob("*.py") if p.stem not in NO_EXAMPLES)
    print("| example | calls | HIPS, ms a call | times faster | repeated | whole program | largest difference |")
    print("|---|---|---|---|---|---|---|")
    for name in names:
        script = next(folder.rglob(f"{name}.py"))
        best: dict[str, dict] = {}
        for _ in range(int(os.environ.get("REPEATS", "2"))):
            for library in ("hips", "wengert"):
                found = _run(script, library)
                known = best.get(library, found)
                times = [key for key in ("ms", "program", "again") if key in found and key in known]
                best[library] = found | {key: min(found[key], known[key]) for key in times}
        print(_row(name, best["hips"], best["wengert"]), flush=True)


def _row(name: str, theirs: dict, ours: dict) -> str:
    if "error" in theirs or "error" in ours:
        return f"| {name} | | | | | | HIPS: {theirs.get('error')}; wengert: {ours.get('error')} |"
    if not theirs["calls"] or not ours["calls"]:
        same = "the same text" if theirs["text"] == ours["text"] else "another text"
        return f"| {name} | 0 | | | | | {same} |"
    scale = max(1e-12, *map(abs, theirs["values"]))
    difference = max(abs(a - b) for a, b in zip(theirs["values"], ours["values"])) / scale
    if theirs["calls"] < 3:  # the first call loads what it needs
        return f"| {name} | {ours['calls']} | | | | | {difference:.0e} |"
    ratio = theirs["ms"] / max(ours["ms"], 1e-9)
    whole = theirs["program"] / max(ours["program"], 1e-9)
    again = theirs["again"] / max(ours["again"], 1e-9)
    return f"| {name} | {ours['calls']} | {theirs['ms']:.2f} | {ratio:.1f} | {again:.1f} | {whole:.1f} | {difference:.0e} |"


def _run(script: Path, library: str) -> dict:
    environment = dict(os.environ, OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", WENGERT_NUM_THREADS="1")
    command = [sys.executable, str(Path(__file__).resolve()), "--record", library, str(script.resolve())]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=script.parent, timeout=900, check=False)
    try:
        return json.loads(done.stderr.splitlines()[-1])
    except (IndexError, ValueError):
        return {"error": (done.stderr.splitlines() or ["no message"])[-1][:120]}


# -- in the process of an example --------------------------------------------------------------------------------------------------


class Stub(ModuleType):
    """What matplotlib is replaced by: every attribute, call and item is a Stub, and two of them can be unpacked."""

    def __init__(self, name: str = "stub") -> None:
        super().__init__(name)
        self.__path__: list[str] = []

    def __getattr__(self, name: str) -> Stub:
        if name.startswith("__"):
            raise AttributeError(name)
        return self

    def __call__(self, *args: object, **kwargs: object) -> Stub:
        return self

    def __getitem__(self, index: object) -> Stub:
        return self

    def __iter__(self):
        return iter((self, self))

    def __add__(self, other: object) -> Stub:
        return self


class Recorder:
    """The derivatives that a program takes: their values, and the processor time."""

    def __init__(self, limit: int) -> None:
        self.limit, self.depth, self.calls, self.values = limit, 0, 0, []
        self.start = self.first = self.last = 0.0
        self.times: list[float] = []  # of the calls but the first
        self.latest: tuple = ()  # (function, arguments, arguments by name) of the latest call

    def watched(self, operator):
        """Return an operator such as grad whose functions are recorded, unless they run inside another such function."""

        def watch(fun, *args, **kwargs):
            function = operator(fun, *args, **kwargs)

            def run(*given, **named):
                if not self.depth:
                    self.latest = (function, given, named)
                    self.start = time.process_time()
                self.depth += 1
                try:
                    found = function(*given, **named)
                finally:
                    self.depth -= 1
                if not self.depth:
                    self.note(found)
                return found

            run.__name__ = getattr(function, "__name__", "run")
            return run

        return watch

    def note(self, found: object) -> None:
        """Note the end of a call. Ends the program after the last one."""
        import numpy as np

        self.last = time.process_time()
        if self.calls:
            self.times.append(self.last - self.start)
        else:
            self.first = self.last
        self.calls += 1
        numbers = np.concatenate([np.ravel(np.asarray(x, float)) for x in _leaves(found)] or [np.zeros(0)])
        self.values += [float(np.abs(numbers).sum()), float(np.linalg.norm(numbers))]
        if self.calls >= self.limit:
            raise SystemExit


    def least_time(self) -> float:
        """Return the least processor time of the latest call in seconds, if it is repeated for a second."""
        least, end = float("inf"), time.process_time() + 1.0
        function, given, named = self.latest
        self.depth = 1  # derivatives inside are no calls of the program
        while time.process_time() < end:
            start = time.process_time()
            function(*given, **named)
            least = min(least, time.process_time() - start)
        return least


def _leaves(found: object) -> list:
    import numpy as np

    if isinstance(found, (tuple, list)):
        return [x for item in found for x in _leaves(item)]
    if isinstance(found, dict):
        return [x for key in sorted(found) for x in _leaves(found[key])]
    return [found] if isinstance(found, (float, np.ndarray, np.generic)) else []


def record(library: str, script: Path) -> None:
    """Run a script, and write what was recorded to stderr as JSON."""
    import contextlib
    import io
    import warnings

    import numpy as np

    if library == "wengert":
        from wengert.compat.hips import install_hips

        install_hips()
    warnings.simplefilter("ignore")
    sys.path.insert(0, str(script.parent))
    _replace_modules(np)
    import scipy.stats  # noqa: F401  # both load it, but at different times

    import autograd

    recorder = Recorder(CALLS.get(script.stem, DEFAULT_CALLS))
    for name in ("grad", "value_and_grad", "elementwise_grad", "hessian_vector_product"):
        setattr(autograd, name, recorder.watched(getattr(autograd, name)))
    np.random.seed(0)  # noqa: NPY002
    text, error, again = io.StringIO(), None, 0.0
    with contextlib.redirect_stdout(text):
        try:
            exec(compile(script.read_text(), str(script), "exec"), {"__name__": "__main__", "__file__": str(script)})
        except SystemExit:
            pass
        except Exception as caught:
            error = f"{type(caught).__name__}: {caught}"
    span = (recorder.last - recorder.first) * 1e3
    spent = statistics.median(recorder.times or [0.0]) * 1e3
    if error is None and recorder.calls >= 3:
        with contextlib.redirect_stdout(io.StringIO()):
            again = recorder.least_time() * 1e3
    found = {"calls": recorder.calls, "ms": spent, "again": again, "program": span}
    found |= {"values": recorder.values, "text": text.getvalue()}
    print(json.dumps(found if error is None else {"error": error[:200]}), file=sys.stderr)


def _replace_modules(np) -> None:
    """Put stubs in the places of matplotlib and of the download of MNIST."""
    stub = Stub()
    for name in ("matplotlib", "matplotlib.pyplot", "matplotlib.image", "matplotlib.cm", "mpl_toolkits", "mpl_toolkits.mplot3d"):
        sys.modules[name] = stub
    pyplot = Stub("matplotlib.pyplot")
    pyplot.imread = _read_image
    sys.modules["matplotlib.pyplot"] = pyplot
    mnist = ModuleType("data_mnist")

    def images(count: int):
        return np.random.RandomState(1).randint(0, 255, (count, 28, 28)).astype(np.uint8)

    mnist.mnist = lambda: (images(3000), np.arange(3000) % 10, images(500), np.arange(500) % 10)
    sys.modules["data_mnist"] = mnist


def _read_image(path: str):
    import numpy as np
    from PIL import Image

    return np.asarray(Image.open(path), np.float32) / 255


if __name__ == "__main__":
    if sys.argv[1:2] == ["--record"]:
        record(sys.argv[2], Path(sys.argv[3]))
    else:
        main(sys.argv[1:])
