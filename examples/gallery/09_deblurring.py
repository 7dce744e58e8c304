"""
Sharpening a blurred picture
============================

A blurred, noisy picture is sharpened: find the picture which, blurred, looks like the one we have, and which has few
edges. The blur is a sparse matrix of SciPy's. A ``Function`` makes it an operation, whose derivative is the
transposed matrix.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy import sparse
from scipy.optimize import minimize
from sklearn.datasets import load_sample_image

import wengert as torch
from wengert.autograd import Function

picture = load_sample_image("china.jpg")[80:208, 250:378].mean(2) / 255
n = len(picture)

# %%
# A blur along each axis is a band matrix; both together are their Kronecker product, with 16,384 rows.

offsets = np.arange(-6, 7)
weights = np.exp(-0.5 * (offsets / 2.0) ** 2)
band = sparse.diags_array(list(weights / weights.sum()), offsets=list(offsets), shape=(n, n)).tocsr()
blur = sparse.kron(band, band).tocsr()
noise = np.random.default_rng(0).normal(size=n * n)
blurred = torch.from_numpy(blur @ picture.ravel() + 0.01 * noise)


class Product(Function):
    """matrix @ x with a sparse matrix, which has no gradient itself."""

    @staticmethod
    def forward(ctx, matrix, x):
        ctx.matrix = matrix
        return torch.from_numpy(matrix @ x.detach().numpy())

    @staticmethod
    def backward(ctx, gradient):
        return None, Product.apply(ctx.matrix.T, gradient)


# %%
# Total variation counts edges, but lets them be sharp. The root is smoothed near zero, so it has a derivative there.


def objective(pixels):
    x = torch.from_numpy(pixels).requires_grad_()
    image = x.reshape(n, n)
    down, across = image.diff(dim=0)[:, :-1], image.diff(dim=1)[:-1]
    variation = (down**2 + across**2 + 1e-6).sqrt().sum()
    value = 0.5 * (Product.apply(blur, x) - blurred).square().sum() + 5e-4 * variation
    value.backward()
    return value.item(), x.grad.numpy()


found = minimize(objective, blurred.numpy().copy(), jac=True, method="L-BFGS-B", options={"maxiter": 80})


def error(image):
    return np.sqrt(np.mean((np.asarray(image).reshape(n, n) - picture)[8:-8, 8:-8] ** 2))


print(f"error of the blurred picture {error(blurred):.4f}, of the sharpened one {error(found.x):.4f}, after {found.nfev} passes")

figure, axes = plt.subplots(1, 3, figsize=(9, 3.2))
images = {"original": picture, "blurred, with noise": blurred.numpy(), "sharpened": found.x}
for axis, (title, image) in zip(axes, images.items(), strict=True):
    axis.imshow(image.reshape(n, n), cmap="gray", vmin=0, vmax=1)
    axis.set_title(title)
    axis.axis("off")
figure.tight_layout()
plt.show()
