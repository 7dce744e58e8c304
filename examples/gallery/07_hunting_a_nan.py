"""
Hunting a NaN
=============

A fit goes well for a while, and then its parameters are NaN. Three tools find out why: ``explain``,
``detect_anomaly``, and a check of every operation. The data are two heaps of points, and one point far away from
both.
"""

import matplotlib.pyplot as plt
import numpy as np

import wengert as torch

rng = np.random.default_rng(0)
points = torch.tensor(np.concatenate([rng.normal(-2, 0.5, 400), rng.normal(1.5, 0.8, 600), [16.0]]), dtype=torch.float32)


def negative_log_likelihood(means, log_widths):
    """Of a mixture of two normal distributions, up to a constant."""
    scaled = (points[:, None] - means) / log_widths.exp()
    return -(torch.exp(-0.5 * scaled**2) / log_widths.exp()).sum(1).log().mean()


def fit(loss_of, count):
    means, log_widths = torch.tensor([-1.0, 0.5], requires_grad=True), torch.tensor([0.3, 0.3], requires_grad=True)
    optimizer = torch.optim.Adam([means, log_widths], lr=0.05)
    losses = []
    for _ in range(count):
        loss = loss_of(means, log_widths)
        optimizer.zero_grad()
        loss.backward()
        if not means.grad.isfinite().all():
            print(f"step {len(losses)}: loss {loss.item():.3f}, gradient {means.grad}")
            break
        optimizer.step()
        losses.append(loss.item())
    return means, log_widths, losses


means, log_widths, losses = fit(negative_log_likelihood, 300)

# %%
# ``explain`` goes through the graph of the loss. It says at which node of the pass the NaN begins, and which line
# made that node:

print(torch.explain(negative_log_likelihood(means, log_widths), {"means": means, "log_widths": log_widths}))

# %%
# ``detect_anomaly`` stops at the first result that is NaN, so that a debugger can look around. With ``inf=True``
# infinite ones count as well, and ``check="forward+backward"`` looks at the results of the forward operations too:

try:
    with torch.autograd.detect_anomaly(check="forward+backward", inf=True):
        negative_log_likelihood(means, log_widths).backward()
except RuntimeError as error:
    print(str(error).splitlines()[0])

# %%
# As the widths shrink, the density at the lone point becomes so small that its reciprocal, which is the derivative of
# its logarithm, is infinite. It meets the derivative of the density, which is 0: the product is NaN. ``logsumexp``
# never leaves the logarithms.


def mended(means, log_widths):
    scaled = (points[:, None] - means) / log_widths.exp()
    return -torch.logsumexp(-0.5 * scaled**2 - log_widths, 1).mean()


good_means, good_widths, good_losses = fit(mended, 300)
print("means", good_means.tolist(), "widths", good_widths.exp().tolist())

x = torch.linspace(-5, 5, 400)
density = (torch.exp(-0.5 * ((x[:, None] - good_means) / good_widths.exp()) ** 2) / good_widths.exp()).detach()
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.2))
left.plot(good_losses, label="logsumexp")
left.plot(losses, "C3", label="log of sum of exp")
left.plot(len(losses) - 1, losses[-1], "C3X", markersize=10)
left.set_xlabel("step")
left.set_ylabel("loss")
left.legend()
right.hist(points[:-1].numpy(), 60, density=True, color="0.8")
right.plot(x, density / density.sum() / (x[1] - x[0]))
figure.tight_layout()
plt.show()
