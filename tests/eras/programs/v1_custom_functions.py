# Functions of 1.x: needs_input_grad, mark_non_differentiable, gradcheck, in-place rules.
import torch
from torch.autograd import Function, gradcheck, gradgradcheck


class Linear(Function):
    @staticmethod
    def forward(ctx, input, weight, bias=None):
        ctx.save_for_backward(input, weight, bias)
        output = input.mm(weight.t())
        if bias is not None:
            output += bias.unsqueeze(0).expand_as(output)
        return output

    @staticmethod
    def backward(ctx, grad_output):
        input, weight, bias = ctx.saved_tensors
        grad_input = grad_weight = grad_bias = None
        if ctx.needs_input_grad[0]:
            grad_input = grad_output.mm(weight)
        if ctx.needs_input_grad[1]:
            grad_weight = grad_output.t().mm(input)
        if bias is not None and ctx.needs_input_grad[2]:
            grad_bias = grad_output.sum(0)
        return grad_input, grad_weight, grad_bias


class Largest(Function):
    @staticmethod
    def forward(ctx, x):
        values, indices = x.max(1)
        ctx.mark_non_differentiable(indices)
        ctx.save_for_backward(indices)
        ctx.shape = x.shape
        return values, indices

    @staticmethod
    def backward(ctx, grad_values, grad_indices):
        indices, = ctx.saved_tensors
        result = torch.zeros(ctx.shape, dtype=grad_values.dtype)
        return result.scatter_(1, indices.unsqueeze(1), grad_values.unsqueeze(1))


torch.manual_seed(0)
args = [torch.randn(s, dtype=torch.double, requires_grad=True) for s in ((4, 3), (2, 3), (2,))]
print(gradcheck(Linear.apply, args), gradgradcheck(Linear.apply, args))
x = torch.tensor([[1.0, 5.0], [4.0, 2.0]], requires_grad=True)
values, indices = Largest.apply(x)
(values * torch.tensor([10.0, 100.0])).sum().backward()
print(x.grad.tolist(), indices.tolist(), indices.requires_grad, values.grad_fn.name())
w = torch.ones(2, requires_grad=True)
y = w.exp()
y.mul_(2)
try:
    y.sum().backward()
except RuntimeError as e:
    print("modified by an inplace operation" in str(e), "version 1" in str(e))
try:
    w.add_(1)
except RuntimeError as e:
    print(e)
