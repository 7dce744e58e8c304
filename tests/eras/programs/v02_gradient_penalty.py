# Double backward, new in 0.2: the penalty on a gradient's length.
import torch
from torch import autograd
from torch.autograd import Variable

x = Variable(torch.Tensor([[1.0, 2.0], [0.5, -1.0]]), requires_grad=True)
w = Variable(torch.Tensor([3.0, -1.0]), requires_grad=True)
out = ((x * w) ** 2).sum(1)
grads = autograd.grad(outputs=out, inputs=x, grad_outputs=torch.ones(out.size()), create_graph=True,
                      retain_graph=True, only_inputs=True)[0]
penalty = ((grads.norm(2, dim=1) - 1) ** 2).mean()
penalty.backward()
print("%.4f" % penalty.data[0])
print([round(g, 3) for g in w.grad.data.tolist()])
