# An optimiser as 0.3 wrote it: factors before the operands, state in plain tensors.
import math
import torch
from torch.autograd import Variable

p = Variable(torch.Tensor([1.0, -2.0]), requires_grad=True)
exp_avg = torch.zeros(2)
exp_avg_sq = p.data.new(2).zero_()
beta1, beta2, lr, eps = 0.9, 0.999, 0.1, 1e-8
use_cuda = torch.cuda.is_available()
for step in range(1, 21):
    if p.grad is not None:
        p.grad.detach_()
        p.grad.zero_()
    target = torch.Tensor([3.0, 0.5])
    if use_cuda:
        target = target.cuda(async=True)
    loss = ((p - Variable(target)) ** 4).sum()
    loss.backward()
    grad = p.grad.data
    exp_avg.mul_(beta1).add_(1 - beta1, grad)
    exp_avg_sq.mul_(beta2).addcmul_(1 - beta2, grad, grad)
    denom = exp_avg_sq.sqrt().add_(eps)
    step_size = lr * math.sqrt(1 - beta2 ** step) / (1 - beta1 ** step)
    p.data.addcdiv_(-step_size, exp_avg, denom)
print(["%.4f" % v for v in p.data])
