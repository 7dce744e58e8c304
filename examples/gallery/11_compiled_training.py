"""
Compiled training
=================

A small net learns the 1,797 digits that come with scikit-learn, twice: eagerly, and with each step of the training compiled. The
step is recorded once, with its backward pass, its batch norm, its dropout and its optimizer, and replayed for every batch. Both
runs end with the same weights, up to the last digits: a recording adds sums in another order.
"""

import time

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits

import wengert as torch
from wengert import nn
from wengert.nn import functional as F

digits = load_digits()
torch.manual_seed(0)
order = torch.randperm(len(digits.target))
images = torch.tensor(digits.data / 16, dtype=torch.float32)[order]
labels = torch.tensor(digits.target)[order]
train, test = slice(0, 1408), slice(1408, None)
BATCH, EPOCHS = 16, 12


def run(compiled):
    """Train a net. Return the losses, the seconds of each epoch, the accuracy on the other digits, and the compiled step."""
    torch.manual_seed(1)
    model = nn.Sequential(nn.Linear(64, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Dropout(0.1), nn.Linear(32, 10))
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)

    def step(pixels, wanted):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(pixels), wanted)
        loss.backward()
        optimizer.step()
        return loss

    if compiled:
        step = torch.compile(step, fullgraph=True)
    losses, seconds = [], []
    for _ in range(EPOCHS):
        began = time.perf_counter()
        total = 0.0
        for chosen in torch.randperm(train.stop).split(BATCH):
            total += step(images[chosen], labels[chosen]).item()
        losses.append(total * BATCH / train.stop)
        seconds.append(time.perf_counter() - began)
    model.eval()
    with torch.no_grad():
        accuracy = (model(images[test]).argmax(1) == labels[test]).float().mean().item()
    return losses, seconds, accuracy, step


eager_losses, eager_seconds, eager_accuracy, _ = run(compiled=False)
losses, seconds, accuracy, step = run(compiled=True)
print(f"eager:    {eager_accuracy:.1%} right, last loss {eager_losses[-1]:.5f}")
print(f"compiled: {accuracy:.1%} right, last loss {losses[-1]:.5f}")

# %%
# The compiled step tells what it recorded. The first call has no gradients yet, and is a recording of its own.

print(step.explain())

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3))
left.plot(eager_losses, label="eager", linewidth=4, alpha=0.4)
left.plot(losses, label="compiled", color="black", linewidth=1)
left.set(title="The losses are the same", xlabel="epoch", ylabel="loss")
left.legend()
right.plot([1000 * s for s in eager_seconds], "o-", label="eager")
right.plot([1000 * s for s in seconds], "o-", color="black", label="compiled")
right.set(title="The first epoch pays for the recording", xlabel="epoch", ylabel="milliseconds", ylim=0)
right.legend()
plt.tight_layout()
plt.show()
