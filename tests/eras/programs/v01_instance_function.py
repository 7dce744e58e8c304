# A function of one's own, in the style of 0.1: an object, made anew for every call.
import torch
from torch.autograd import Function, Variable


class LeakyReLU(Function):

    def __init__(self, slope):
        super(LeakyReLU, self).__init__()
        self.slope = slope

    def forward(self, input):
        self.save_for_backward(input)
        output = input.clone()
        output[input < 0] *= self.slope
        return output

    def backward(self, grad_output):
        input, = self.saved_tensors
        grad_input = grad_output.clone()
        grad_input[input < 0] *= self.slope
        return grad_input


x = Variable(torch.Tensor([[-2, -1], [1, 2]]), requires_grad=True)
w = Variable(torch.Tensor([[1, 2], [3, 4]]), requires_grad=True)
hidden = LeakyReLU(0.1)(x.mm(w))
print(hidden.creator.__class__.__name__, hidden.creator.num_inputs, hidden.creator.needs_input_grad)
out = LeakyReLU(0.5)(hidden - 1).sum()
out.backward(retain_variables=True)
out.backward()
print(x.grad.data.tolist())
print(w.grad.data.tolist())
