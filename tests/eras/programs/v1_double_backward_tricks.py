# 1.x idioms: a jvp from two vjps, Hessian-vector products, retain_grad, detach.
import torch


def jvp(f, x, v):
    x = x.detach().requires_grad_()
    y = f(x)
    u = torch.zeros_like(y, requires_grad=True)
    g, = torch.autograd.grad(y, x, grad_outputs=u, create_graph=True)
    return torch.autograd.grad(g, u, grad_outputs=v)[0]


def hvp(f, x, v):
    x = x.detach().requires_grad_()
    g, = torch.autograd.grad(f(x), x, create_graph=True)
    return torch.autograd.grad(g, x, grad_outputs=v, allow_unused=True)[0]


x = torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64)
v = torch.tensor([1.0, 0.0, -1.0], dtype=torch.float64)
print(jvp(lambda t: t ** 2 + t.sum(), x, v).tolist())
print(hvp(lambda t: t.prod() + (t ** 3).sum(), x, v).tolist())
a = torch.ones(2, requires_grad=True)
b = a * 3
b.retain_grad()
c = (b * b.detach()).sum()
c.backward()
print(a.grad.tolist(), b.grad.tolist(), a.is_leaf, b.is_leaf, c.grad_fn.name(), b.grad_fn.next_functions[0][0].name())
