# Walking the graph by creator and previous_functions, and hooks that change gradients.
import torch
from torch.autograd import Variable

x = Variable(torch.Tensor([1, 2, 3]), requires_grad=True)
c = Variable(torch.Tensor([2, 2, 2]))
y = x * c
z = y.exp().log() + y
handle = y.register_hook(lambda grad: grad * 10)
seen = []
y.register_hook(lambda grad: seen.append(grad.data.tolist()))


def depth(function):
    if function is None or not function.previous_functions:
        return 0
    return 1 + max(depth(f) for f, i in function.previous_functions)


print(depth(z.creator), [f is y.creator for f, i in z.creator.previous_functions])
z.backward(torch.ones(3), retain_variables=True)
print([round(g, 3) for g in x.grad.data.tolist()], [[round(g, 3) for g in s] for s in seen])
handle.remove()
x.grad.data.zero_()
z.backward(gradient=torch.ones(3))
print([round(g, 3) for g in x.grad.data.tolist()])
