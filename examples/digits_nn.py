"""Handwritten digits with modules: a convolutional network, a DataLoader, an optimizer and a schedule.

    python examples/digits_nn.py                         # some seconds; the picture is digits_nn.png
    python examples/digits_nn.py --epochs 3 --seed 7 --output /tmp/run.png

The program is written for torch: `import torch` in place of `import wengert as torch` runs it there. examples/digits.py
learns the same digits without modules. The data are the 1797 digits of 8 x 8 pixels that come with scikit-learn.

Needs scikit-learn, matplotlib and tqdm: pip install "wengert[examples]".
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import wengert as torch
from wengert import nn
from wengert.nn import functional as F
from wengert.utils.data import DataLoader, TensorDataset

try:
    import matplotlib
    from sklearn.datasets import load_digits
    from sklearn.model_selection import train_test_split
    from tqdm import tqdm
except ImportError as error:
    sys.exit(f'digits_nn.py: {error}\nThe examples need a few packages more: pip install "wengert[examples]"')

BATCH = 32
RATE = 0.003
REQUIRED_ACCURACY = 0.97


class Network(nn.Module):
    """Two convolutions and a linear layer. Input: (n, 1, 8, 8). Output: a score for each digit, (n, 10)."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv2d(1, 16, 3, padding=1)
        self.norm = nn.BatchNorm2d(16)
        self.second = nn.Conv2d(16, 32, 3, padding=1)
        self.dropout = nn.Dropout(0.3)
        self.scores = nn.Linear(32 * 4, 10)

    def forward(self, images):
        x = F.max_pool2d(F.relu(self.norm(self.first(images))), 2)
        x = F.max_pool2d(F.relu(self.second(x)), 2)
        return self.scores(self.dropout(x.flatten(1)))


def load() -> tuple[TensorDataset, TensorDataset]:
    """Return the training digits and the held-out digits: images (n, 1, 8, 8) from 0 to 1, and labels (n)."""
    images, labels = load_digits(return_X_y=True)
    parts = train_test_split(images / 16, labels, test_size=0.25, stratify=labels, random_state=0)
    train_images, test_images = [torch.tensor(part, dtype=torch.float32).reshape(-1, 1, 8, 8) for part in parts[:2]]
    return TensorDataset(train_images, torch.tensor(parts[2])), TensorDataset(test_images, torch.tensor(parts[3]))


def predict(model: nn.Module, images) -> torch.Tensor:
    """Return the likeliest digit of each image."""
    model.eval()
    with torch.no_grad():
        return model(images).argmax(dim=1)


def measure_accuracy(model: nn.Module, data: TensorDataset) -> float:
    """Return the share of digits that the model reads right."""
    images, labels = data.tensors
    return (predict(model, images) == labels).float().mean().item()


def train(model: nn.Module, train_set: TensorDataset, test_set: TensorDataset, epochs: int) -> tuple[list[float], list[float]]:
    """Train the model. Return the mean loss of each epoch, and the accuracy on the held-out digits after it."""
    loader = DataLoader(train_set, batch_size=BATCH, shuffle=True)
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, epochs * len(loader))
    losses, accuracies = [], []
    progress = tqdm(range(epochs), desc="training", unit="epoch")
    for _ in progress:
        model.train()
        total = 0.0
        for images, labels in loader:
            loss = F.cross_entropy(model(images), labels, label_smoothing=0.05)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            total += loss.item() / len(loader)
        losses.append(total)
        accuracies.append(measure_accuracy(model, test_set))
        progress.set_postfix(loss=f"{total:.4f}", accuracy=f"{accuracies[-1]:.2%}", refresh=False)
    return losses, accuracies


def draw(path: Path, model: Network, losses: list[float], accuracies: list[float], test_set: TensorDataset) -> None:
    """Write the picture: the course of the training, the filters of the first layer, and the mistakes."""
    matplotlib.use("Agg")  # draws into files, with no display
    from matplotlib import pyplot

    images, labels = test_set.tensors
    predictions = predict(model, images)
    wrong = [i for i in range(len(labels)) if predictions[i].item() != labels[i].item()]
    figure = pyplot.figure(figsize=(11, 4.2), dpi=120, layout="constrained")
    left, middle, right = figure.subfigures(1, 3, width_ratios=[1.5, 1, 1], wspace=0.05)

    upper, lower = left.subplots(2, 1, sharex=True)
    epochs = range(1, len(losses) + 1)
    upper.plot(epochs, losses, "o-", markersize=3, color="#2a6f97")
    upper.set_title("Training loss", loc="left", fontsize=10)
    lower.plot(epochs, [100 * a for a in accuracies], "o-", markersize=3, color="#2a6f97")
    lower.set_title(f"Held-out accuracy: {accuracies[-1]:.1%} at the end", loc="left", fontsize=10)
    lower.yaxis.set_major_formatter("{x:g}%")
    lower.xaxis.get_major_locator().set_params(integer=True)
    lower.set_xlabel("epoch")
    for panel in (upper, lower):
        panel.spines[["top", "right"]].set_visible(False)
        panel.grid(axis="y", color="#e6e6e6")

    middle.suptitle("Filters of the first layer", x=0.02, ha="left", fontsize=10)
    filters = model.first.weight.detach().reshape(16, 3, 3)
    size = filters.abs().max().item()
    for panel, image in zip(middle.subplots(4, 4).flat, filters, strict=True):
        panel.imshow(image.numpy(), cmap="RdBu", vmin=-size, vmax=size)
        panel.set_axis_off()

    right.suptitle(f"{len(wrong)} of {len(labels)} read wrong", x=0.02, ha="left", fontsize=10)
    for panel, i in zip(right.subplots(4, 4).flat, [*wrong, *[None] * 16], strict=False):
        panel.set_axis_off()
        if i is not None:
            panel.imshow(images[i, 0].numpy(), cmap="gray_r", vmin=0, vmax=1)
            panel.set_title(f"{predictions[i].item()}, is {labels[i].item()}", fontsize=8, color="#c1121f", pad=2)
    figure.savefig(path)
    pyplot.close(figure)


def main(arguments: list[str] | None = None) -> int:
    """Run the example. Return the exit status: 0, or 1 if the accuracy is below the required one."""
    parser = argparse.ArgumentParser(description="Trains a convolutional network on handwritten digits with wengert.")
    parser.add_argument("--epochs", type=int, default=15, help="passes over the training digits (default: 15)")
    parser.add_argument("--seed", type=int, default=0, help="of the random numbers (default: 0)")
    parser.add_argument("--output", type=Path, default="digits_nn.png", help="the picture (default: digits_nn.png)")
    options = parser.parse_args(arguments)
    if options.epochs < 1:
        parser.error("argument --epochs: at least 1")
    if not Path(options.output).absolute().parent.is_dir():
        parser.error(f"argument --output: no folder for {options.output}")

    started = time.perf_counter()
    torch.manual_seed(options.seed)
    train_set, test_set = load()
    model = Network()
    print(model)
    print(f"{sum(p.numel() for p in model.parameters())} parameters, {len(train_set)} digits to train on, {len(test_set)} held out")
    losses, accuracies = train(model, train_set, test_set, options.epochs)
    draw(options.output, model, losses, accuracies, test_set)
    print(f"final loss {losses[-1]:.4f}, accuracy on held-out digits {accuracies[-1]:.2%}")
    print(f"wrote {options.output} ({time.perf_counter() - started:.1f} s in all)")
    if accuracies[-1] < REQUIRED_ACCURACY:
        print(f"digits_nn.py: the accuracy is below {REQUIRED_ACCURACY:.0%}; more --epochs may help", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
