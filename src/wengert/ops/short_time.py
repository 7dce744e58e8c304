"""Short-time Fourier transform, stft, and its inverse, istft."""

from __future__ import annotations

from typing import Any

from wengert import errors
from wengert.backends.selection import backend_of
from wengert.core.tensor import wrap
from wengert.core.watched import of_arrays
from wengert.ops.indices import raw, window_places
from wengert.ops.registry import composite


def _padded_window(F: Any, name: str, input: Any, window: Any, win_length: int, n_fft: int) -> Any:
    """Pad the window with zeros on both sides to n_fft elements. Returns None for a window of n_fft ones."""
    xp = backend_of(input)
    if window is not None and (window.ndim != 1 or window.shape[0] != win_length):
        if name == "istft":
            raise errors.ShapeError("istft(): Invalid window shape. window has to be 1D and length of `win_length`")
        raise errors.ShapeError(
            f"{name}(): expected a 1D window tensor of size equal to win_length={win_length}, but got window with size "
            f"{list(window.shape)}"
        )
    if win_length == n_fft:
        return window
    if window is None:
        window = wrap(xp.ones(win_length, raw(input).real.dtype))
    left = (n_fft - win_length) // 2
    return F.pad(window, (left, n_fft - win_length - left))


def _check_stft(input: Any, n_fft: int, hop_length: int, win_length: int, length: int) -> None:
    if raw(input).dtype.kind not in "fc":
        raise errors.ShapeError("stft(): expected a tensor of floating point or complex values")
    if input.ndim not in (1, 2):
        raise errors.ShapeError("stft(): expected a 1D or 2D tensor")
    if not 0 < n_fft <= length:
        raise errors.ShapeError(f"stft(): expected 0 < n_fft < {length}, but got n_fft={n_fft}")
    if hop_length <= 0:
        raise errors.ShapeError(f"stft(): expected hop_length > 0, but got hop_length={hop_length}")
    if not 0 < win_length <= n_fft:
        raise errors.ShapeError(f"stft(): expected 0 < win_length <= n_fft, but got win_length={win_length}")


@composite(method=True)
def stft(
    F,
    input,
    n_fft,
    hop_length=None,
    win_length=None,
    window=None,
    center=True,
    pad_mode="reflect",
    normalized=False,
    onesided=None,
    return_complex=None,
    align_to_window=None,
):
    """Short-time Fourier transform: the Fourier transforms of frames of n_fft elements times a window.

    input: (length) or (batch, length), floating or complex. hop_length: the distance of the frames, n_fft // 4 if None.
    window: (win_length), padded with zeros on both sides to n_fft; ones if None. center: pad the input, in the mode
    pad_mode, so that frame t is centred at element t * hop_length. align_to_window: if not center, place frames so that
    the window, without its padding, lies inside the input. normalized: divide by sqrt(n_fft). onesided: return only the
    first n_fft // 2 + 1 frequencies; the default for real input and window. Returns (..., frequencies, frames), complex;
    if return_complex is False, real with real and imaginary parts in a last dimension. Raises RuntimeError for sizes that
    do not fit, and if return_complex is None for real input and window.

    Derivative: that of this linear function."""
    is_complex = raw(input).dtype.kind == "c" or (window is not None and raw(window).dtype.kind == "c")
    if return_complex is None:
        if not is_complex:
            raise errors.ShapeError(
                "stft requires the return_complex parameter be given for real inputs, and will further require that "
                "return_complex=True in a future PyTorch release."
            )
        return_complex = True
    if center and align_to_window is not None:
        raise errors.ShapeError("stft align_to_window should only be set when center = false")
    hop_length = n_fft // 4 if hop_length is None else hop_length
    win_length = n_fft if win_length is None else win_length
    margin = n_fft // 2 if center else (n_fft - win_length) // 2 if align_to_window else 0
    other = margin if center else n_fft - win_length - margin if align_to_window else 0
    length = (input.shape[-1] if input.ndim else 0) + margin + other
    _check_stft(input, n_fft, hop_length, win_length, length)
    window = _padded_window(F, "stft", input, window, win_length, n_fft)
    onesided = not is_complex if onesided is None else onesided
    if onesided and is_complex:
        raise errors.ShapeError("Cannot have onesided output if window or input is complex")
    signal = F.unsqueeze(input, dim=0) if input.ndim == 1 else input
    if margin or other:
        padded = F.pad(F.unsqueeze(signal, dim=0), (margin, other), mode=pad_mode if center else "constant")
        signal = F.squeeze(padded, dim=0)
    pieces = F.unfold(signal, dimension=-1, size=n_fft, step=hop_length)
    pieces = pieces if window is None else pieces * window
    norm = "ortho" if normalized else "backward"
    spectrum = F.transpose((F.fft_rfft if onesided else F.fft_fft)(pieces, norm=norm), dim0=-1, dim1=-2)
    spectrum = F.squeeze(spectrum, dim=0) if input.ndim == 1 else spectrum
    return spectrum if return_complex else F.view_as_real(spectrum)


def _check_istft(input: Any, n_fft: int, hop_length: int, win_length: int, onesided: bool) -> None:
    if raw(input).dtype.kind != "c":
        raise errors.UnsupportedDtypeError(
            "istft requires a complex-valued input tensor matching the output from stft with return_complex=True."
        )
    if raw(input).size == 0:
        raise errors.ShapeError("istft(): input tensor cannot be empty.")
    if input.ndim not in (2, 3):
        raise errors.ShapeError(f"istft(): expected a tensor with 2 or 3 dimensions, but got {input.ndim}")
    wanted, rule = (n_fft // 2 + 1, "n_fft / 2 + 1 when onesided=True") if onesided else (n_fft, "n_fft when onesided=False")
    if input.shape[-2] != wanted:
        raise errors.ShapeError(
            f"istft(): expected the frequency dimension (3rd to the last) of the input tensor to match {rule}, but got "
            f"{input.shape[-2]}"
        )
    if not 0 < hop_length <= win_length:
        raise errors.ShapeError("istft(): expected 0 < hop_length <= win_length")
    if not 0 < win_length <= n_fft:
        raise errors.ShapeError("istft(): expected 0 < win_length <= n_fft")


def _overlap_add(F: Any, pieces: Any, hop_length: int) -> Any:
    """Add up frames, (batch, frames, n), each shifted by hop_length against the previous one."""
    xp = backend_of(pieces)
    batch, count, n = pieces.shape
    places = window_places(xp, count, hop_length, n)
    return F.read_cotangent(
        pieces, shape=(batch, (count - 1) * hop_length + n), index=(slice(None), places), repeats=hop_length < n
    )


@of_arrays
def _ones(xp: Any, n: int, dtype: Any) -> Any:
    return xp.ones(n, dtype)


@composite(method=True)
def istft(
    F,
    input,
    n_fft,
    hop_length=None,
    win_length=None,
    window=None,
    center=True,
    normalized=False,
    onesided=None,
    length=None,
    return_complex=False,
):
    """Inverse short-time Fourier transform: the signal whose stft is closest to input, by least squares.

    The frames times the window are added up and divided by the sum of the squared windows. input: (frequencies, frames)
    or (batch, frequencies, frames), complex. length: cut or zero-pad the result to this length. return_complex: return a
    complex signal; requires all frequencies, onesided=False. Other arguments: as in the call of stft. Returns (...,
    length). Raises RuntimeError if the windows do not cover an element.

    Derivative: that of this linear function; in the window that of the quotient."""
    xp = backend_of(input)
    hop_length = n_fft // 4 if hop_length is None else hop_length
    win_length = n_fft if win_length is None else win_length
    onesided = (input.shape[-2] != n_fft if input.ndim > 1 else True) if onesided is None else onesided
    _check_istft(input, n_fft, hop_length, win_length, onesided)
    is_complex = window is not None and raw(window).dtype.kind == "c"
    if return_complex and onesided:
        raise errors.ShapeError("Cannot have onesided output if window or input is complex")
    if is_complex and not return_complex:
        raise errors.ShapeError("Complex windows are incompatible with return_complex=False")
    window = _padded_window(F, "istft", input, window, win_length, n_fft)
    spectrum = F.transpose(F.unsqueeze(input, dim=0) if input.ndim == 2 else input, dim0=-1, dim1=-2)
    norm = "ortho" if normalized else "backward"
    if return_complex:
        pieces = F.fft_ifft(spectrum, norm=norm)
    else:  # a real signal depends on the first half of the frequencies only
        pieces = F.fft_irfft(F.narrow(spectrum, -1, 0, n_fft // 2 + 1), n=n_fft, norm=norm)
    squares = wrap(_ones(xp, n_fft, raw(pieces).dtype)) if window is None else window * window
    pieces = pieces if window is None else pieces * window
    count = spectrum.shape[1]
    envelope = _overlap_add(F, F.expand(squares, shape=(1, count, n_fft)), hop_length)
    start = n_fft // 2 if center else 0
    total = envelope.shape[-1]
    end = min(start + length, total) if length is not None else total - (n_fft // 2 if center else 0)
    envelope = F.narrow(envelope, -1, start, max(end - start, 0))
    if raw(envelope).size and abs(raw(envelope)).min() <= 1e-11:
        raise errors.ShapeError(
            "istft(): window overlap add min: 1. Hint: somewhere no window reaches; pieces nearer to each other, or "
            "center=True."
        )
    signal = F.narrow(_overlap_add(F, pieces, hop_length), -1, start, max(end - start, 0)) / envelope
    if length is not None and length > signal.shape[-1]:
        signal = F.pad(signal, (0, length - signal.shape[-1]))
    return F.squeeze(signal, dim=0) if input.ndim == 2 else signal
