# Static Functions, new in 0.2: saved_variables, once_differentiable, retain_grad.
import torch
from torch.autograd import Function, Variable
from torch.autograd.function import once_differentiable


class Cube(Function):

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x ** 3

    @staticmethod
    def backward(ctx, grad_output):
        x, = ctx.saved_variables
        return grad_output * 3 * x ** 2


class Once(Function):

    @staticmethod
    def forward(ctx, x, power):
        ctx.power = power
        ctx.save_for_backward(x)
        return x ** power

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        x, = ctx.saved_tensors
        return grad_output * ctx.power * x ** (ctx.power - 1), None


x = Variable(torch.Tensor([2.0]), requires_grad=True)
first, = torch.autograd.grad(Cube.apply(x), x, create_graph=True)
second, = torch.autograd.grad(first, x, create_graph=True)
third, = torch.autograd.grad(second, x)
print(first.data[0], second.data[0], third.data[0])
middle = Once.apply(x, 4)
middle.retain_grad()
(middle * 2).backward()
print(x.grad.data[0], middle.grad.data[0], middle.grad_fn.name())
once, = torch.autograd.grad(Once.apply(x, 4), x, create_graph=True)
try:
    once.backward()
except RuntimeError as e:
    print(e)
