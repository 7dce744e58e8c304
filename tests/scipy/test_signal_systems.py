"""wengert.scipy.signal: systems, responses, designs without feedback, fractions, waves and peaks, against scipy.signal."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.signal

import wengert
from loops import each
from scipy_checks import check_call
from wengert.autograd import grad
from wengert.scipy import signal

RNG = np.random.default_rng(11)
NUM, DEN = np.array([1.0, 3.0]), np.array([1.0, 1.2, 3.0, 0.7])
A, B, C, D = np.array([[-0.4, 1.0, 0.2], [-0.9, -0.6, 0.1], [0.3, 0.2, -0.8]]), RNG.normal(size=(3, 2)), RNG.normal(size=(2, 3)), RNG.normal(size=(2, 2))
ONE = (A, B[:, :1], C[:1], D[:1, :1])
T = np.linspace(0.0, 2.0, 6)
POLES = np.array([-0.7 + 0.2j, -0.7 - 0.2j, -0.4, -0.9 + 0j])
W = np.array([0.3, 0.8, 1.7])


def plain(x):
    """A number for SciPy, which takes no arrays of no dimension."""
    return x.item() if isinstance(x, np.ndarray) and x.ndim == 0 else x


SYSTEMS = [
    ("normalize", lambda f, b, a: f(b, a), np.array([[1.0, 2.0], [3.0, 1.0]]), np.array([2.0, 1.0, 0.3])),
    *[(name, lambda f, b, a, *q: f(b, a, *map(plain, q)), b, a, *[np.array(q) for q in more])
      for name, more in (("lp2lp", (1.3,)), ("lp2hp", (1.3,)), ("lp2bp", (1.3, 0.7)), ("lp2bs", (1.3, 0.7)))
      for b, a in ((NUM, DEN), (np.array([1.0, 0.5, 2.0]), np.array([2.0, 1.0])))],
    ("sos2zpk", lambda f, s: f(s), np.array([[1.0, 0.3, 0.8, 1.0, 0.2, 0.5], [0.7, 0.9, 0.1, 1.0, -0.5, 0.3]])),
    ("tf2sos", lambda f, b, a: f(b, a), np.array([1.0, 0.3, 0.8]), np.array([1.0, 0.2, 0.5])),
    ("cheb1ap", lambda f, r: f(4, plain(r)), np.array(1.3)),
    ("cheb2ap", lambda f, r: f(5, plain(r)), np.array(23.0)),
    ("cheby1", lambda f, r, q: f(3, plain(r), plain(q), output="zpk"), np.array(1.3), np.array(0.4)),
    ("iirfilter", lambda f, r, q: f(4, q, rs=plain(r), btype="bandpass", ftype="cheby2"), np.array(23.0), np.array([0.2, 0.5])),
    *[(name, lambda f, w, q, fs: f(plain(w), plain(q), plain(fs)), np.array(0.3), np.array(5.0), np.array(2.5)) for name in ("iirnotch", "iirpeak")],
    *[("iircomb", lambda f, q, k=kind, z=zero: f(0.25, plain(q), k, 2.0, pass_zero=z), np.array(5.0)) for kind in ("notch", "peak") for zero in (True, False)],
    ("tf2ss", lambda f, b, a: f(b, a), NUM, DEN),
    ("tf2ss", lambda f, b, a: f(b, a), np.array([[2.0, 1.0], [0.3, 0.7]]), np.array([2.0, 1.0])),
    ("ss2tf", lambda f, *x: f(*x, input=1), A, B, C, D),
    ("ss2tf", lambda f, B, C: f(np.eye(3), B, C, np.zeros((1, 1))), B[:, :1], C[:1]),  # equal eigenvalues
    ("ss2zpk", lambda f, *x: f(*x), *ONE),
    ("zpk2ss", lambda f, k: f([0.3], POLES, k), np.array(1.4)),
    ("abcd_normalize", lambda f, A, B: f(A, B, C), A, B),
    *[("cont2discrete", lambda f, A, B, C, D, h, m=m: f((A, B, C, D), plain(h), m), A, B, C, D, np.array(0.3)) for m in ("zoh", "foh", "tustin", "euler", "backward_diff")],
    ("cont2discrete", lambda f, A, B, C, h: f((A, B, C, np.zeros((2, 2))), plain(h), "impulse"), A, B, C, np.array(0.3)),
    ("cont2discrete", lambda f, b, a, s: f((b, a), 0.2, "gbt", plain(s))[:2], NUM, DEN, np.array(0.3)),
    ("cont2discrete", lambda f, k: f((0.5 * POLES, POLES, k), 0.2)[2], np.array(1.4)),
    *[("lsim", lambda f, A, B, C, D, U, X, i=i: f((A, B, C, D), U, T, X, interp=i)[1:], A, B, C, D, RNG.normal(size=(6, 2)), RNG.normal(size=3)) for i in (True, False)],
    ("lsim", lambda f, b, a, U: f((b, a), U, T + 0.4)[1:], NUM, DEN, RNG.normal(size=6)),
    ("lsim", lambda f, b, X: f((b, DEN), 0, T + 0.4, X)[1], NUM, RNG.normal(size=3)),
    ("impulse", lambda f, b, a: f((b, a), T=T), NUM, DEN),
    ("impulse", lambda f, X, A: f((A, *ONE[1:]), X, T)[1], RNG.normal(size=(3, 1)), A),
    ("step", lambda f, b, a: f((b, a), T=T), NUM, DEN),
    ("step", lambda f, k: f((np.array([]), POLES, k), N=5), np.array(1.4)),
    ("dlsim", lambda f, A, B, C, D, u, x: f((A, B, C, D, 0.5), u, x0=x), A, B, C, D, RNG.normal(size=(4, 2)), RNG.normal(size=3)),
    ("dlsim", lambda f, b, a, u: f((b, a, 0.25), u, [0.0, 0.6, 1.2]), NUM, DEN, RNG.normal(size=3)),
    ("dimpulse", lambda f, A, B, C, D: f((A, B, C, D, 0.5), n=4), A, B, C, D),
    ("dstep", lambda f, b, a: f((b, a, 0.5), n=5), NUM, DEN),
    ("place_poles", lambda f, A, B: f(A, B, np.array([-1.0, -2.0, -3.0])).gain_matrix, A, B[:, :1]),
    ("place_poles", lambda f, p: f(A, B[:, :1], p).gain_matrix, np.array([-1.0, -2.0, -3.0])),
]  # fmt: skip

RESPONSES = [
    ("freqz", lambda f, b, a, w: f(b, a, w), NUM, DEN, W),
    ("freqz", lambda f, b, a: f(b, a, 4, include_nyquist=True), NUM, DEN),
    ("freqz_zpk", lambda f, p, k, w: f([0.3], p, k, w, fs=2.0), POLES, np.array(1.4), W),
    ("freqz_zpk", lambda f, k: f([], POLES, k, 3, True), np.array(1.4)),
    ("sosfreqz", lambda f, w: f(np.array([[1.0, 0.3, 0.8, 1.0, 0.2, 0.5]]), w), W),
    ("freqs", lambda f, b, a, w: f(b, a, w), NUM, DEN, W),
    ("freqs_zpk", lambda f, p, k, w: f([0.3], p, k, w), POLES, np.array(1.4), W),
    ("group_delay", lambda f, b, a, w: f((b, a), w), NUM, DEN, W),
    ("group_delay", lambda f, b: f((b, 1.0), 4), NUM),
    ("freqresp", lambda f, b, a, w: f((b, a), w), NUM, DEN, W),
    ("freqresp", lambda f, *x: f(x, W), *ONE),
    ("bode", lambda f, b, a, w: f((b, a), w), NUM, DEN, W),
    ("bode", lambda f, k: f(([0.3], POLES, k), W), np.array(1.4)),
    ("dfreqresp", lambda f, b, a, w: f((b, a, 0.5), w), NUM, DEN, W),
    ("dbode", lambda f, *x: f((*x, 0.5), W), *ONE),
]

FIR = [
    *[("firwin", lambda f, q, z=z, s=s: f(9, q, pass_zero=z, scale=s), np.array(q)) for q, z in ((0.3, True), ((0.2, 0.5), False), ((0.2, 0.5), True)) for s in (True, False)],
    ("firwin", lambda f, q, fs: f(8, plain(q), fs=plain(fs)), np.array(0.6), np.array(3.0)),
    ("firwin", lambda f, q: f(9, plain(q), pass_zero="highpass"), np.array(0.6)),
    ("firwin", lambda f, width: f(21, 0.4, width=plain(width)), np.array(0.2)),
    ("firwin", lambda f, beta: f(9, 0.4, window=("kaiser", plain(beta))), np.array(4.3)),
    ("firwin2", lambda f, g: f(13, [0.0, 0.3, 0.3, 1.0], g), np.array([1.0, 0.7, 0.2])[[0, 1, 2, 2]]),
    ("firwin2", lambda f, q: f(11, wengert.cat([wengert.zeros(1), q, wengert.ones(1)]) if isinstance(q, wengert.Tensor) else [0, *q, 1], [0.0, 1.0, 0.4, 0.0], antisymmetric=True), np.array([0.31, 0.57])),
    ("firls", lambda f, d, w: f(7, [0.0, 0.3, 0.5, 1.0], d, weight=w), np.array([1.0, 0.9, 0.2, 0.1]), np.array([1.0, 2.0])),
    ("firls", lambda f, b: f(9, b, [1.0, 0.9, 0.2, 0.1], fs=3.0), np.array([0.1, 0.4, 0.7, 1.2])),
    *[("minimum_phase", lambda f, h, half=half: f(h + h[::-1] if isinstance(h, np.ndarray) else h + wengert.flip(h, (0,)), n_fft=128, half=half), np.array([0.1, -0.2, 0.25, 0.7, 0.05, 0.15, 0.02])) for half in (True, False)],
    ("savgol_coeffs", lambda f, h: f(7, 3, 2, plain(h)), np.array(0.4)),
    ("kaiser_atten", lambda f, q: f(9, plain(q)), np.array(0.4)),
    *[("kaiser_beta", lambda f, q: f(plain(q)), np.array(q)) for q in (12.0, 30.0, 60.0)],
    ("kaiserord", lambda f, q: f(plain(q), 0.2), np.array(62.0)),
    ("get_window", lambda f, q: f(("tukey", plain(q)), 12), np.array(0.4)),
    ("get_window", lambda f, q: f(plain(q), 5), np.array(3.4)),
]  # fmt: skip

FRACTIONS = [
    *[(name, lambda f, b, a: f(b, a), b, a) for name in ("residue", "residuez")
      for b, a in ((NUM, DEN), (np.array([1.0, 0.5, 2.0, 0.3]), np.array([2.0, 1.0, 0.4])), (NUM, np.array([1.0, 2.0, 3.0])))],
    *[(name, lambda f, r: f(r, [-1.0, -2.0, -3.5], []), np.array([0.7, 1.2, -0.4])) for name in ("invres", "invresz")],
    *[(name, lambda f, p, k: f([0.7, 1.2, -0.4], p, k), np.array([-1.0, -2.0, -3.5]), np.array([0.7, 1.2])) for name in ("invres", "invresz")],
    *[(name, lambda f, k: f([0.7], [-1.0], k), np.array([0.7, 1.2, 0.4])) for name in ("invres", "invresz")],
]  # fmt: skip

SAMPLES = np.array([0.1, 0.9, 0.3, 1.7, 1.2, 0.4, 2.1, 0.6, 0.2])
WAVES = [
    *[("sawtooth", lambda f, t, w: f(t, w), np.array([-1.0, 0.3, 4.1, 5.9, 9.0]), np.array(w)) for w in (0.4,)],
    ("sawtooth", lambda f, t: f(t), np.array([-1.0, 0.3, 4.1])),
    ("sweep_poly", lambda f, t, p, phi: f(t, p, plain(phi)), np.array([0.1, 0.7]), np.array([0.3, -0.2, 1.0]), np.array(20.0)),
    ("vectorstrength", lambda f, e, p: f(e, plain(p)), SAMPLES, np.array(1.7)),
    ("vectorstrength", lambda f, e, p: f(e, p), SAMPLES, np.array([1.7, 2.2])),
    ("gauss_spline", lambda f, x: f(x, 3), SAMPLES),
    *[("hilbert2", lambda f, x: f(x), RNG.normal(size=shape)) for shape in ((3, 4), (4, 5))],
    ("czt_points", lambda f, w, a: f(5, plain(w), plain(a)), np.array(0.9 - 0.4j), np.array(1.1 + 0.2j)),
    ("czt", lambda f, x: f(x, axis=0), RNG.normal(size=(5, 2))),
    ("czt", lambda f, x, w, a: f(x, 4, plain(w), plain(a)), RNG.normal(size=6) + 0.3j, np.array(0.9 - 0.4j), np.array(1.1 + 0.2j)),
    ("zoom_fft", lambda f, x, q: f(x, q, 7, fs=3.0), RNG.normal(size=(2, 6)), np.array([0.3, 0.7])),
    ("zoom_fft", lambda f, x, fs: f(x, 0.4, fs=plain(fs), endpoint=True), RNG.normal(size=6), np.array(3.0)),
    ("peak_prominences", lambda f, x: f(x, [1, 3, 6]), SAMPLES),
    ("peak_widths", lambda f, x, h: f(x, [1, 3, 6], plain(h)), SAMPLES, np.array(0.43)),
    ("find_peaks", lambda f, x: list(f(x, height=0.5, threshold=0.1, prominence=0.2, width=0.1)[1].values()), SAMPLES),
    *[(name, lambda f, x: f(x), SAMPLES) for name in ("cspline1d", "qspline1d")],
    *[(name, lambda f, x: f(x), RNG.normal(size=(25, 22))) for name in ("cspline2d", "qspline2d")],
    ("symiirorder1", lambda f, x, c, z: f(x, plain(c), plain(z)), RNG.normal(size=(2, 40)), np.array(1.3), np.array(0.4)),
    ("sepfir2d", lambda f, x, h, v: f(x, h, v), RNG.normal(size=(5, 6)), RNG.normal(size=3), RNG.normal(size=5)),
    *[(name, lambda f, c, x, dx, x0: f(c, x, plain(dx), plain(x0)), SAMPLES, np.array([-0.7, 0.45, 1.77, 6.1, 8.5, 9.3]), np.array(0.8), np.array(0.6)) for name in ("cspline1d_eval", "qspline1d_eval")],
    *[("windows.tukey", lambda f, q, m=m, s=s: f(m, plain(q), s), np.array(0.63)) for m in (9, 12) for s in (True, False)],
    *[("windows.chebwin", lambda f, q, m=m, s=s: f(m, plain(q), s), np.array(47.0)) for m in (9, 12) for s in (True, False)],
    ("windows.kaiser_bessel_derived", lambda f, q: f(8, plain(q)), np.array(3.1)),
    ("windows.get_window", lambda f, q: f(("general_gaussian", 1.5, plain(q)), 7), np.array(3.1)),
]  # fmt: skip

# Roots and inverses bend much, and samples may pass each other: the steps of finite differences are short.
ROUGH = {"ss2zpk", "sos2zpk", "tf2sos", "residue", "residuez", "peak_prominences", "peak_widths", "find_peaks", "minimum_phase", "iirfilter", "place_poles", "invres",
         "invresz", "firwin2", "sawtooth", "tukey", "get_window", "cspline1d_eval", "qspline1d_eval"}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("rows", [SYSTEMS, RESPONSES, FIR, FRACTIONS, WAVES], ids=["systems", "responses", "fir", "fractions", "waves"])
def test_values_and_derivatives(rows):
    each("row", rows)(_check)()


def _check(row):
    name, call, *arrays = row
    module, _, name = name.rpartition(".")
    step = 1e-3 if name in ROUGH else 1e-2
    check_call(f"signal.{module}".rstrip("."), name, call, *arrays, step=step, rtol=1e-5, value_rtol=1e-9)


def test_what_has_no_derivative_is_refused():
    x = wengert.tensor([0.3, 1.0], dtype=wengert.float64, requires_grad=True)
    for call, error, message in [
        (lambda: signal.residue([1.0], x[0] * np.array([1.0, 2.0, 1.0])), NotImplementedError, "poles are different"),
        (lambda: signal.place_poles(x[0] * A, B, [-1.0, -2.0, -3.0]), NotImplementedError, "one input"),
        (lambda: signal.minimum_phase(x, "hilbert"), NotImplementedError, "homomorphic"),
        (lambda: signal.cspline1d(x, 0.5), NotImplementedError, "smoothing parameter"),
        (lambda: signal.ellip(3, x[1], 40, 0.3), wengert.errors.ArgumentError, "cheby1 has one in rp"),
        (lambda: signal.remez(5, [0, 0.2, 0.3, 0.5], x), RuntimeError, "Use firls"),
        (lambda: signal.lsim((x[0] * A, B, C, D), 0, [0.0, 0.1, 0.3]), ValueError, "not equally spaced"),
        (lambda: signal.lsim((x[0] * A, B, C, D), np.ones((2, 3)), [0.0, 0.1]), ValueError, "that many inputs"),
        (lambda: signal.dlsim(scipy.signal.lti([1.0], [1.0, 2.0]), x), AttributeError, "discrete-time system is needed"),
        (lambda: signal.tf2ss(x * np.array([1.0, 1.0]), [2.0]), ValueError, "Improper transfer function"),
        (lambda: signal.windows.get_window(("dpss", x[0]), 5), ValueError, "no derivative in its parameters"),
    ]:
        with pytest.raises(error, match=message):
            call()


def test_systems_of_scipy_take_tensors_as_inputs():
    u = wengert.tensor(RNG.normal(size=6), requires_grad=True)
    for system in (scipy.signal.lti(NUM, DEN), scipy.signal.lti([0.3], [-1.0, -2.0], 2.0), scipy.signal.lti(*ONE)):
        found = signal.lsim(system, u, T)[1]
        np.testing.assert_allclose(found.detach().numpy(), scipy.signal.lsim(system, u.detach().numpy(), T)[1], atol=1e-12)
        slope = grad(found.sum(), u)[0].numpy()
        each_input = [scipy.signal.lsim(system, one, T)[1].sum() for one in np.eye(6)]
        np.testing.assert_allclose(slope, each_input, atol=1e-12)  # the output is linear in the input


def test_windows_without_parameters_and_sizes_are_constant():
    assert np.array_equal(signal.windows.hann(5), scipy.signal.windows.hann(5))
    places = signal.argrelmax(wengert.tensor(SAMPLES, requires_grad=True))[0]
    assert places.tolist() == [1, 3, 6] and not places.requires_grad


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["onesided", "onesided2X", "twosided", "centered"])
def test_the_class_of_short_time_transforms(mode):
    window = scipy.signal.windows.gaussian(8, 2.0)
    for more in ({"mfft": 11}, {"phase_shift": None}, {"phase_shift": 2, "mfft": 8}):
        def make(f, more=more):
            return f(window, 3, 2.0, fft_mode=mode, scale_to="psd" if mode == "onesided2X" else None, **more)

        x = RNG.normal(size=(2, 21))
        for padding in ("zeros", "edge", "even", "odd"):
            check_call("signal", "ShortTimeFFT", lambda f, x, p=padding: make(f).stft(x, padding=p), x)
        check_call("signal", "ShortTimeFFT", lambda f, x: make(f).stft_detrend(x[0], "linear", 0, 4, k_offset=1), x)
        check_call("signal", "ShortTimeFFT", lambda f, x: make(f).spectrogram(x, axis=0), x.T.copy())
        check_call("signal", "ShortTimeFFT", lambda f, x: make(f).spectrogram(x[0], x[1], detr="constant"), x)
        transform = make(scipy.signal.ShortTimeFFT).stft(x)
        check_call("signal", "ShortTimeFFT", lambda f, S: make(f).istft(S), transform)
        check_call("signal", "ShortTimeFFT", lambda f, S: make(f).istft(S, k1=17), transform[0])
        check_call("signal", "ShortTimeFFT", lambda f, S: make(f).istft(S, f_axis=0, t_axis=1), transform.transpose(1, 2, 0).copy())
    with pytest.raises(ValueError, match=r"must be >= ceil"):
        signal.ShortTimeFFT(window, 3, 2.0).stft(wengert.ones(3, requires_grad=True))


OBJECTS = {
    "TransferFunction": (NUM, DEN),
    "ZerosPolesGain": (np.array([-0.3]), POLES[:2], np.array(1.4)),
    "StateSpace": ONE,
}
USES = [
    lambda s: s.impulse(T=T), lambda s: s.step(T=T), lambda s: s.output(np.sin(T), T)[1], lambda s: s.bode(T + 0.1),
    lambda s: s.freqresp(T + 0.1), lambda s: s.to_tf().num, lambda s: s.to_zpk().gain, lambda s: s.to_ss().step(T=T),
    lambda s: s.to_discrete(0.1).step(n=4), lambda s: s.to_discrete(0.1).freqresp(T + 0.1), lambda s: np.sort_complex(s.poles.detach().numpy() if isinstance(s.poles, wengert.Tensor) else s.poles),
]  # fmt: skip


def numbers(found):
    """The numbers of a result, in one vector."""
    if isinstance(found, (tuple, list)):
        return np.concatenate([numbers(x) for x in found])
    return np.ravel(found.detach().numpy() if isinstance(found, wengert.Tensor) else found)


@pytest.mark.filterwarnings("ignore::scipy.signal.BadCoefficients")  # a numerator begins with 0 if it is shorter
@each("name", list(OBJECTS))
def test_systems_as_objects_have_the_values_of_scipys(name):
    parts = OBJECTS[name]
    for theirs, ours in ((getattr(scipy.signal, name), getattr(signal, name)), (scipy.signal.lti, signal.lti)):
        plain, found = theirs(*map(plain_number, parts)), ours(*[wengert.tensor(x, requires_grad=True) for x in parts])
        for use in USES:
            np.testing.assert_allclose(numbers(use(found)), numbers(use(plain)), rtol=1e-9, atol=1e-11)
        assert (found.inputs, found.outputs, found.dt) == (plain.inputs, plain.outputs, plain.dt)
        for kind in ("lti", "dlti", "TransferFunction", "ZerosPolesGain", "StateSpace"):
            assert isinstance(found, getattr(signal, kind)) == isinstance(plain, getattr(scipy.signal, kind))
            assert isinstance(plain, getattr(signal, kind)) == isinstance(plain, getattr(scipy.signal, kind))


def plain_number(x):
    return x.item() if x.ndim == 0 else x


@pytest.mark.filterwarnings("ignore::scipy.signal.BadCoefficients")
def test_systems_as_objects_differentiate():
    num, den = wengert.tensor(NUM, requires_grad=True), wengert.tensor(DEN, requires_grad=True)
    for use in (lambda s: s.step(T=T)[1], lambda s: s.bode(T + 0.1)[1], lambda s: s.to_ss().impulse(T=T)[1], lambda s: signal.step(s, T=T)[1]):
        found = use(signal.TransferFunction(num, den)).sum()
        slopes = grad(found, (num, den))
        for i, x in enumerate((NUM, DEN)):
            for k in range(len(x)):
                moved = []
                for h in (1e-5, -1e-5):
                    given = [NUM.copy(), DEN.copy()]
                    given[i][k] += h
                    moved.append(np.sum(numbers(use(scipy.signal.TransferFunction(*given)))))
                np.testing.assert_allclose(slopes[i][k], (moved[0] - moved[1]) / 2e-5, rtol=1e-5, atol=1e-6)


@pytest.mark.filterwarnings("ignore::scipy.signal.BadCoefficients")
def test_systems_as_objects_refuse_what_does_not_fit():
    x = wengert.tensor(NUM, requires_grad=True)
    discrete = signal.dlti(x, DEN, dt=0.5)
    assert isinstance(discrete, signal.dlti) and discrete.dt == 0.5
    assert type(signal.TransferFunction(NUM, DEN)) is type(scipy.signal.TransferFunction(NUM, DEN))
    assert signal.StateSpace(signal.TransferFunction(x, DEN)).A.shape == (3, 3)
    for call, error in [
        (lambda: signal.TransferFunction(x), ValueError), (lambda: signal.lti(x, DEN, dt=0.5), ValueError),
        (lambda: signal.StateSpace(x, DEN), ValueError), (lambda: signal.lsim(discrete, np.sin(T), T), AttributeError),
        (lambda: discrete.matrix, AttributeError),
    ]:  # fmt: skip
        with pytest.raises(error):
            call()
