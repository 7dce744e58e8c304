"""Handwritten digits: a classifier written from scratch, with nothing but tensor operations and autograd.

    python examples/digits.py                         # some seconds; the picture is digits.png
    python examples/digits.py --epochs 60 --seed 7 --output /tmp/run.png

The data are the 1797 digits, 8x8 pixels each, that come with scikit-learn. Three quarters of them train a network with
one hidden layer; the others only measure its accuracy. There are no layers, optimisers or trainers: a line or two here does
the work of each. Each step has its function, in the order in which you would write them.

Needs scikit-learn, matplotlib and tqdm: pip install "wengert[examples]".
"""

from __future__ import annotations

import argparse
import math
import os
import sys
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np

import wengert
from wengert import autograd
from wengert.nn import functional

try:
    import matplotlib
    from sklearn.datasets import load_digits
    from sklearn.model_selection import train_test_split
    from tqdm import tqdm
except ImportError as error:
    sys.exit(f'digits.py: {error}\nThe examples need a few packages more: pip install "wengert[examples]"')

SIDE = 8  # pixels
PIXELS = SIDE * SIDE
CLASSES = 10
HIDDEN = 256
BATCH = 32
MOMENTUM = 0.9
NOISE = 0.1  # standard deviation, where ink is 1 and paper is 0
REQUIRED_ACCURACY = 0.97


# -- 1. The data -------------------------------------------------------------------------------------------------------


class Digits(NamedTuple):
    """A set of digits. images: (n, 64), float32, 0 (paper) to 1 (ink). labels: (n,), int64."""

    images: wengert.Tensor
    labels: wengert.Tensor


def load() -> tuple[Digits, Digits]:
    """Return the training digits and the held-out digits. Always the same quarter is held out, with each digit in proportion."""
    images, labels = load_digits(return_X_y=True)
    images = (images / 16.0).astype(np.float32)
    parts = train_test_split(images, labels, test_size=0.25, stratify=labels, random_state=0)
    train_images, test_images, train_labels, test_labels = [wengert.from_numpy(part) for part in parts]
    return Digits(train_images, train_labels), Digits(test_images, test_labels)


def shift_table() -> wengert.Tensor:
    """Return indices of pixels, (5, 64), int64, for an image that stays, or moves by one pixel up, down, left or right.

    Pixel 64 is one that is always blank: it fills the row or column that moves in.
    """
    bordered = np.full((SIDE + 2, SIDE + 2), PIXELS)
    bordered[1:-1, 1:-1] = np.arange(PIXELS).reshape(SIDE, SIDE)
    corners = [(1, 1), (2, 1), (0, 1), (1, 2), (1, 0)]
    return wengert.tensor(np.stack([bordered[i : i + SIDE, j : j + SIDE].ravel() for i, j in corners]))


def vary(images: wengert.Tensor, shifts: wengert.Tensor) -> wengert.Tensor:
    """Return the images as somebody else might have written them: each moved by at most one pixel, and noisy.

    A network that never sees an image twice cannot learn it by heart.
    """
    n = len(images)
    with_blank = wengert.cat([images, wengert.zeros(n, 1)], dim=1)
    chosen = shifts[wengert.randint(len(shifts), (n,))]
    moved = with_blank[wengert.arange(n).unsqueeze(1), chosen]
    return moved + NOISE * wengert.randn(n, PIXELS)


# -- 2. The model ------------------------------------------------------------------------------------------------------


def make_parameters() -> list[wengert.Tensor]:
    """Return weights and biases of two layers. requires_grad makes autograd record the operations on them."""
    parameters = []
    for n_in, n_out in [(PIXELS, HIDDEN), (HIDDEN, CLASSES)]:
        # This scale keeps the size of the signal from layer to layer (He et al. 2015, arXiv:1502.01852).
        parameters.append(wengert.randn(n_in, n_out) * math.sqrt(2.0 / n_in))
        parameters.append(wengert.zeros(n_out))
    return [p.requires_grad_() for p in parameters]


def compute_loss(parameters: list[wengert.Tensor], digits: Digits) -> wengert.Tensor:
    """Return the mean of -log(probability of the right label)."""
    return functional.cross_entropy(compute_scores(parameters, digits.images), digits.labels)


def compute_scores(parameters: list[wengert.Tensor], images: wengert.Tensor) -> wengert.Tensor:
    """Return one score a class and image, (n, 10). A higher score means a likelier class."""
    weight1, bias1, weight2, bias2 = parameters
    hidden = wengert.relu(images @ weight1 + bias1)
    return hidden @ weight2 + bias2


def predict(parameters: list[wengert.Tensor], images: wengert.Tensor) -> wengert.Tensor:
    """Return the likeliest label of each image, (n,)."""
    with wengert.no_grad():
        return compute_scores(parameters, images).argmax(dim=1)


def measure_accuracy(parameters: list[wengert.Tensor], digits: Digits) -> float:
    """Return the share of digits that the model reads right."""
    return (predict(parameters, digits.images) == digits.labels).float().mean().item()


# -- 3. Is the gradient right? -----------------------------------------------------------------------------------------


def check_gradient(parameters: list[wengert.Tensor], digits: Digits, step: float = 1e-6) -> tuple[float, float]:
    """Return the slope of the loss along a random direction, from autograd's gradient and from two values of the loss.

    In float64, because rounding in float32 leaves next to nothing of a difference that small; and on a few digits, so
    that hardly ever a hidden unit is within a step of relu's kink, where two values of the loss do not tell the slope.
    """
    digits = Digits(digits.images[:64].double(), digits.labels[:64])
    points = [p.detach().double().requires_grad_() for p in parameters]
    direction = [wengert.randn(p.shape, dtype=wengert.float64) for p in points]
    length = math.sqrt(sum((d * d).sum().item() for d in direction))
    direction = [d / length for d in direction]

    gradient = autograd.grad(compute_loss(points, digits), points)
    slope = sum((g * d).sum().item() for g, d in zip(gradient, direction, strict=True))

    def loss_at(distance: float) -> float:
        with wengert.no_grad():
            return compute_loss([p + distance * d for p, d in zip(points, direction, strict=True)], digits).item()

    return slope, (loss_at(step) - loss_at(-step)) / (2 * step)


# -- 4. Training -------------------------------------------------------------------------------------------------------


class History(NamedTuple):
    """History of a training. One entry an epoch: its mean training loss, and the accuracy on the held-out digits after it."""

    losses: list[float]
    accuracies: list[float]


def train(parameters: list[wengert.Tensor], train_set: Digits, test_set: Digits, epochs: int, rate: float) -> History:
    """Train by gradient descent with momentum. An epoch is one pass over the training digits, in random order."""
    history = History([], [])
    velocities = [wengert.zeros_like(p) for p in parameters]
    shifts = shift_table()
    progress = tqdm(range(1, epochs + 1), desc="training", unit="epoch")
    for epoch in progress:
        # From the full rate down to nothing along half a cosine: long steps first, fine tuning at the end.
        current_rate = rate * (1 + math.cos(math.pi * (epoch - 1) / epochs)) / 2
        losses = []
        for chosen in wengert.randperm(len(train_set.labels)).split(BATCH):
            batch = Digits(vary(train_set.images[chosen], shifts), train_set.labels[chosen])
            losses.append(take_step(parameters, velocities, batch, current_rate))
        history.losses.append(sum(losses) / len(losses))
        history.accuracies.append(measure_accuracy(parameters, test_set))
        if not math.isfinite(history.losses[-1]):
            progress.close()
            sys.exit(f"digits.py: the loss is {history.losses[-1]} in epoch {epoch}: try a rate below --lr {rate:g}")
        progress.set_postfix(loss=f"{history.losses[-1]:.4f}", accuracy=f"{history.accuracies[-1]:.2%}", refresh=False)
        progress.write(
            f"epoch {epoch:3d}   loss {history.losses[-1]:.4f}   held-out accuracy {history.accuracies[-1]:.2%}",
            file=sys.stdout,
        )
    return history


def take_step(parameters: list[wengert.Tensor], velocities: list[wengert.Tensor], batch: Digits, rate: float) -> float:
    """Move the parameters downhill, and return the loss before the move."""
    loss = compute_loss(parameters, batch)
    for p in parameters:
        p.grad = None  # backward adds to what is there
    loss.backward()
    with wengert.no_grad():  # the step itself is not to be differentiated
        for p, velocity in zip(parameters, velocities, strict=True):
            velocity *= MOMENTUM
            velocity += p.grad
            p -= rate * velocity
    return loss.item()


# -- 5. The picture ----------------------------------------------------------------------------------------------------

INK, MUTED, ACCENT, WRONG = "#222222", "#8a8a8a", "#2a6f97", "#c1121f"
ROWS, COLUMNS = 6, 10


def draw(path: Path, history: History, test_set: Digits, predictions: wengert.Tensor) -> None:
    """Write the picture: loss and errors by epoch, and held-out digits with the model's readings, mistakes in red."""
    matplotlib.use("Agg")  # draws into files, with no display
    from matplotlib import pyplot

    pyplot.rcParams.update({
        "font.size": 10, "axes.titlesize": 11, "axes.titlelocation": "left", "axes.spines.top": False,
        "axes.spines.right": False, "axes.edgecolor": MUTED, "xtick.color": INK, "ytick.color": INK, "text.color": INK,
    })  # fmt: skip
    figure = pyplot.figure(figsize=(12.5, 5.6), dpi=120, layout="constrained")
    curves, images = figure.subfigures(1, 2, width_ratios=[1, 1.9], wspace=0.04)
    draw_curves(curves, history)
    draw_digits(images, test_set, predictions)
    figure.savefig(path)
    pyplot.close(figure)


def draw_curves(figure, history: History) -> None:
    """Draw two panels over the epochs: training loss, and errors on the held-out digits."""
    epochs = range(1, len(history.losses) + 1)
    marker = "o" if len(epochs) == 1 else None
    upper, lower = figure.subplots(2, 1, sharex=True)
    upper.set_title("Training loss (cross entropy)")
    upper.plot(epochs, history.losses, color=ACCENT, linewidth=1.8, marker=marker)
    upper.set_yscale("log")
    upper.yaxis.set_major_formatter("{x:g}")
    upper.yaxis.set_minor_formatter("")
    lower.set_title(f"Accuracy on held-out digits: {history.accuracies[-1]:.1%} at the end")
    lower.plot(epochs, [100 * accuracy for accuracy in history.accuracies], color=ACCENT, linewidth=1.8, marker=marker)
    lower.axhline(100 * REQUIRED_ACCURACY, color=MUTED, linewidth=1, linestyle="--")
    lower.annotate(f"required: {REQUIRED_ACCURACY:.0%}", (epochs[-1], 100 * REQUIRED_ACCURACY), (0, -3),
                   textcoords="offset points", color=MUTED, ha="right", va="top", fontsize=9)  # fmt: skip
    lower.yaxis.set_major_formatter("{x:g}%")
    lower.set_ylim(top=100)
    lower.set_xlim(0, epochs[-1] + 0.5)
    lower.set_xlabel("epoch")
    lower.xaxis.get_major_locator().set_params(integer=True)
    for panel in (upper, lower):
        panel.grid(axis="y", color="#e6e6e6", linewidth=0.8)
        panel.set_axisbelow(True)


def draw_digits(figure, test_set: Digits, predictions: wengert.Tensor) -> None:
    """Draw a grid of held-out digits: the mistakes first, then the others in their order."""
    images, labels = test_set.images.numpy(), test_set.labels.tolist()
    wrong = [i for i, label in enumerate(labels) if predictions[i].item() != label]
    right = [i for i in range(len(labels)) if i not in set(wrong)]
    shown = (wrong + right)[: ROWS * COLUMNS]
    title = f"Held-out digits as read: {len(wrong)} of {len(labels)} wrong, in red"
    figure.suptitle(title, x=0.02, ha="left", fontsize=11)
    for panel, i in zip(figure.subplots(ROWS, COLUMNS).flat, shown, strict=False):
        panel.imshow(images[i].reshape(SIDE, SIDE), cmap="gray_r", vmin=0, vmax=1)
        panel.set(xticks=[], yticks=[])
        read, mistaken = predictions[i].item(), predictions[i].item() != labels[i]
        panel.set_xlabel(f"{read}, is {labels[i]}" if mistaken else f"{read}", color=WRONG if mistaken else INK,
                         fontweight="bold" if mistaken else "normal", labelpad=2)  # fmt: skip
        for spine in panel.spines.values():
            spine.set(visible=True, color=WRONG if mistaken else "#dddddd", linewidth=2.2 if mistaken else 0.8)


# -- 6. All of it ------------------------------------------------------------------------------------------------------


def main(arguments: list[str] | None = None) -> int:
    """Run the example. Return the exit status: 0, or 1 if the accuracy is below the required one."""
    options = parse(arguments)
    started = time.perf_counter()
    wengert.manual_seed(options.seed)
    train_set, test_set = load()
    parameters = make_parameters()
    print(f"{len(train_set.labels)} digits to train on, {len(test_set.labels)} held out")

    by_autograd, by_differences = check_gradient(parameters, train_set)
    error = abs(by_autograd - by_differences) / abs(by_differences)
    print("slope of the loss along a random direction")
    print(f"    by autograd            {by_autograd:+.12f}")
    print(f"    by finite differences  {by_differences:+.12f}   relative error {error:.1e}")
    if not error < 1e-5:
        print("digits.py: the gradient is wrong", file=sys.stderr)
        return 1

    history = train(parameters, train_set, test_set, options.epochs, options.lr)
    accuracy = measure_accuracy(parameters, test_set)
    print(f"final loss {history.losses[-1]:.4f}, accuracy on held-out digits {accuracy:.2%}")

    draw(options.output, history, test_set, predict(parameters, test_set.images))
    print(f"wrote {options.output} ({time.perf_counter() - started:.1f} s in all)")
    if accuracy < REQUIRED_ACCURACY:
        print(f"digits.py: the accuracy is below {REQUIRED_ACCURACY:.0%}; more --epochs may help", file=sys.stderr)
        return 1
    return 0


def parse(arguments: list[str] | None) -> argparse.Namespace:
    """Return the options. Options that cannot work end the program here, before any work is done."""
    parser = argparse.ArgumentParser(description="Trains a classifier of handwritten digits with wengert.")
    parser.add_argument("--epochs", type=positive_int, default=40, help="passes over the training digits (default: 40)")
    parser.add_argument("--lr", type=positive_float, default=0.1, help="learning rate at the start (default: 0.1)")
    parser.add_argument("--seed", type=natural_int, default=0, help="of the random numbers (default: 0)")
    parser.add_argument("--output", type=png_path, default="digits.png", help="the picture (default: digits.png)")
    return parser.parse_args(arguments)


def positive_int(text: str) -> int:
    value = natural_int(text)
    if value == 0:
        raise argparse.ArgumentTypeError("0 is too few: at least 1")
    return value


def natural_int(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 18):
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number from 0 up, or too large")
    return int(text)


def positive_float(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 < value < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is no positive number")
    return value


def png_path(text: str) -> Path:
    path = Path(text)
    if path.suffix.lower() != ".png":
        raise argparse.ArgumentTypeError(f"{text!r} does not end in .png")
    if path.is_dir() or not os.access(path if path.exists() else path.parent, os.W_OK):
        raise argparse.ArgumentTypeError(f"cannot write {text!r}: no such folder, or no permission")
    return path


if __name__ == "__main__":
    sys.exit(main())
