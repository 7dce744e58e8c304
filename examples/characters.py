"""A model of characters: a small transformer learns to write like Shakespeare, letter by letter.

    python examples/characters.py                        # half a minute; the picture is characters.png
    python examples/characters.py --steps 100 --output /tmp/run.png

The program is written for torch: `import torch` in place of `import wengert as torch` runs it there. The text is most of
Shakespeare's Coriolanus, 150,000 characters, in coriolanus.txt beside this file. It is in the public domain. The model sees 48
characters and gives the probability of the next one. From these it also writes: it draws a character, appends it, and goes on.

Needs matplotlib and tqdm: pip install "wengert[examples]".
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from pathlib import Path

import wengert as torch
from wengert import nn
from wengert.nn import functional as F

try:
    import matplotlib
    from tqdm import tqdm
except ImportError as error:
    sys.exit(f'characters.py: {error}\nThe examples need a few packages more: pip install "wengert[examples]"')

TEXT = Path(__file__).with_name("coriolanus.txt")
CONTEXT = 48  # characters that the model sees
WIDTH, HEADS, LAYERS = 64, 4, 2
BATCH = 24
RATE = 0.008
HELD_OUT = 0.1  # the share of the text, its end, that only measures
REQUIRED_BITS = 3.2  # a character; drawn from the frequencies of single letters it would be 4.6


class Model(nn.Module):
    """Transformer that sees characters to the left only. Input: (n, length). Output: scores of the next, (n, length, size)."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.characters = nn.Embedding(size, WIDTH)
        self.places = nn.Embedding(CONTEXT, WIDTH)
        layer = nn.TransformerEncoderLayer(
            WIDTH, HEADS, 4 * WIDTH, dropout=0.0, activation="gelu", batch_first=True, norm_first=True
        )
        self.layers = nn.TransformerEncoder(layer, LAYERS, norm=nn.LayerNorm(WIDTH), enable_nested_tensor=False)
        self.scores = nn.Linear(WIDTH, size)

    def forward(self, text):
        length = text.shape[1]
        x = self.characters(text) + self.places(torch.arange(length))
        future = nn.Transformer.generate_square_subsequent_mask(length)
        return self.scores(self.layers(x, mask=future, is_causal=True))


def draw_batch(text, size: int = BATCH):
    """Return random pieces of the text, (n, CONTEXT), and for each character the one that follows it."""
    starts = torch.randint(len(text) - CONTEXT, (size, 1))
    places = starts + torch.arange(CONTEXT)
    return text[places], text[places + 1]


def measure(model: Model, text) -> float:
    """Return the bits that the model needs for a character of a text."""
    model.eval()
    n = (len(text) - 1) // CONTEXT
    pieces, following = text[: n * CONTEXT].reshape(n, CONTEXT), text[1 : n * CONTEXT + 1]
    with torch.no_grad():
        return F.cross_entropy(model(pieces).flatten(0, 1), following).item() / math.log(2)


def write(model: Model, alphabet: str, length: int, start: str = "\n") -> str:
    """Return a text that the model writes."""
    model.eval()
    text = torch.tensor([[alphabet.index(c) for c in start]])
    with torch.no_grad():
        for _ in range(length):
            scores = model(text[:, -CONTEXT:])[:, -1]
            text = torch.cat([text, torch.multinomial(torch.softmax(scores / 0.8, dim=-1), 1)], dim=1)
    return "".join(alphabet[i] for i in text[0].tolist()).strip("\n")


def train(model: Model, text, held_out, alphabet: str, steps: int):
    """Train the model. Return [(step, bits)] on batches and on the held-out text, and [(step, written text)]."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, RATE, total_steps=steps)
    learned, tested, samples = [], [], []
    progress = tqdm(range(1, steps + 1), desc="training", unit="step")
    for step in progress:
        model.train()
        pieces, following = draw_batch(text)
        loss = F.cross_entropy(model(pieces).flatten(0, 1), following.flatten())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        learned.append((step, loss.item() / math.log(2)))
        if step % max(1, steps // 20) == 0 or step == steps:
            tested.append((step, measure(model, held_out)))
            progress.set_postfix(bits=f"{tested[-1][1]:.2f}", refresh=False)
        if step in (1, steps // 10, steps):
            samples.append((step, write(model, alphabet, 480)))
    return learned, tested, samples


def draw(path: Path, learned, tested, samples) -> None:
    """Write the picture: bits a character over the steps, and what the model wrote at three of them."""
    matplotlib.use("Agg")  # draws into files, with no display
    from matplotlib import pyplot

    figure = pyplot.figure(figsize=(13, 5), dpi=120, layout="constrained")
    left, right = figure.subfigures(1, 2, width_ratios=[1, 1.9])
    panel = left.subplots()
    panel.plot(*zip(*learned, strict=True), color="#a9c6d9", linewidth=0.8, label="batches")
    panel.plot(*zip(*tested, strict=True), "o-", color="#2a6f97", markersize=3, label="held-out text")
    panel.set_title(f"Bits a character: {tested[-1][1]:.2f} at the end", loc="left", fontsize=10)
    panel.set_xlabel("step")
    panel.legend(frameon=False)
    panel.spines[["top", "right"]].set_visible(False)
    panel.grid(axis="y", color="#e6e6e6")
    for column, (step, text) in zip(right.subplots(1, len(samples), squeeze=False)[0], samples, strict=True):
        column.set_axis_off()
        column.set_title(f"written at step {step}", loc="left", fontsize=10)
        lines = [line[i : i + 28] for line in text.splitlines() for i in range(0, max(1, len(line)), 28)]
        column.text(0, 0.98, "\n".join(lines[:32]), va="top", family="monospace", fontsize=8, parse_math=False)
    figure.savefig(path)
    pyplot.close(figure)


def main(arguments: list[str] | None = None) -> int:
    """Run the example. Return the exit status: 0, or 1 if the model needs more bits than required."""
    parser = argparse.ArgumentParser(description="Trains a transformer on Shakespeare's Coriolanus, with wengert.")
    parser.add_argument("--steps", type=int, default=800, help="steps of the optimizer (default: 800)")
    parser.add_argument("--seed", type=int, default=0, help="of the random numbers (default: 0)")
    parser.add_argument("--output", type=Path, default="characters.png", help="the picture (default: characters.png)")
    options = parser.parse_args(arguments)
    if options.steps < 10:
        parser.error("argument --steps: at least 10")
    if not Path(options.output).absolute().parent.is_dir():
        parser.error(f"argument --output: no folder for {options.output}")

    started = time.perf_counter()
    torch.manual_seed(options.seed)
    source = TEXT.read_text(encoding="utf-8")
    alphabet = "".join(sorted(set(source)))
    codes = torch.tensor([alphabet.index(c) for c in source])
    cut = int(len(codes) * (1 - HELD_OUT))
    model = Model(len(alphabet))
    print(f"{len(source)} characters of {len(alphabet)} kinds, {sum(p.numel() for p in model.parameters())} parameters")
    learned, tested, samples = train(model, codes[:cut], codes[cut:], alphabet, options.steps)
    print(samples[-1][1])
    draw(options.output, learned, tested, samples)
    print(f"{tested[-1][1]:.2f} bits a character of held-out text")
    print(f"wrote {options.output} ({time.perf_counter() - started:.1f} s in all)")
    if tested[-1][1] > REQUIRED_BITS:
        print(f"characters.py: these are more than {REQUIRED_BITS} bits; more --steps may help", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
