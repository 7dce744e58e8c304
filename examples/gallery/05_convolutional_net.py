"""
A convolutional net
===================

A small net learns to read the 1,797 digits that come with scikit-learn. The program is torch's, but for the import.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits

import wengert as torch
from wengert import nn
from wengert.nn import functional as F
from wengert.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
digits = load_digits()
images = torch.tensor(digits.images / 16, dtype=torch.float32).unsqueeze(1)
labels = torch.tensor(digits.target)
order = torch.randperm(len(labels))
train, test = order[:1400], order[1400:]

model = nn.Sequential(
    nn.Conv2d(1, 12, 3, padding=1),
    nn.ReLU(),
    nn.MaxPool2d(2),
    nn.Conv2d(12, 24, 3, padding=1),
    nn.ReLU(),
    nn.Flatten(),
    nn.Linear(24 * 16, 10),
)
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
loader = DataLoader(TensorDataset(images[train], labels[train]), batch_size=64, shuffle=True)

losses = []
for _ in range(12):
    for pixels, wanted in loader:
        loss = F.cross_entropy(model(pixels), wanted)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())

with torch.no_grad():
    guesses = model(images[test]).argmax(1)
right = (guesses == labels[test]).numpy()
print(f"{right.mean():.1%} of {len(test)} digits that it has not seen are right")

# %%
# Which pixels made the net choose? The gradient of the chosen score by the image shows it.

shown = images[test[:6]].requires_grad_()
scores = model(shown)
scores.gather(1, guesses[:6, None]).sum().backward()

figure, axes = plt.subplots(2, 7, figsize=(9, 3), width_ratios=[2.2, *[1] * 6])
grid = axes[0, 0].get_gridspec()
for axis in axes[:, 0]:
    axis.remove()
curve = figure.add_subplot(grid[:, 0])
curve.semilogy(losses)
curve.set_xlabel("step")
curve.set_ylabel("loss")
for column in range(6):
    axes[0, column + 1].imshow(shown[column, 0].detach(), cmap="Greys")
    axes[0, column + 1].set_title(guesses[column].item())
    axes[1, column + 1].imshow(shown.grad[column, 0], cmap="RdBu", vmin=-3, vmax=3)
    for axis in axes[:, column + 1]:
        axis.axis("off")
figure.tight_layout()
plt.show()
