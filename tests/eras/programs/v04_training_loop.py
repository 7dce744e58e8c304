# The loop as 0.4 taught it: no Variable, no_grad for steps and tests, item(), device.
import torch

torch.manual_seed(3)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
dtype = torch.float64
x = torch.linspace(-1, 1, 20, dtype=dtype, device=device).reshape(-1, 1)
y = 3 * x + 0.5
w = torch.zeros(1, 1, dtype=dtype, device=device, requires_grad=True)
b = torch.zeros(1, dtype=dtype).requires_grad_()


def evaluate():
    with torch.no_grad():
        prediction = x @ w + b
    assert not prediction.requires_grad
    return ((prediction - y) ** 2).mean().item()


start = evaluate()
for _ in range(100):
    loss = ((x.mm(w) + b - y) ** 2).mean()
    loss.backward()
    with torch.no_grad():
        w -= 0.3 * w.grad
        b -= 0.3 * b.grad
        w.grad.zero_()
        b.grad.zero_()
print("%.4f %.2e" % (start, evaluate()), "%.4f %.4f" % (w.item(), b.item()), loss.shape)
with torch.set_grad_enabled(False):
    print((w * 2).requires_grad, torch.is_grad_enabled())
