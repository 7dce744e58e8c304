# Linear regression, as in 2017: Variables, .data, zeroing by hand, the loss read by data[0].
import torch
from torch.autograd import Variable

x = Variable(torch.FloatTensor([[0.0], [1.0], [2.0], [3.0]]))
y = Variable(torch.FloatTensor([[1.0], [3.0], [5.0], [7.0]]), requires_grad=False)
w = Variable(torch.zeros(1, 1), requires_grad=True)
b = Variable(torch.zeros(1), requires_grad=True)

losses = []
for step in range(50):
    prediction = x.mm(w) + b.expand(4, 1)
    loss = (prediction - y).pow(2).sum()
    loss.backward()
    losses.append(loss.data[0])
    w.data -= 0.02 * w.grad.data
    b.data -= 0.02 * b.grad.data
    w.grad.data.zero_()
    b.grad.data.zero_()

print("%.4f %.4f" % (losses[0], losses[-1]))
print("%.4f %.4f" % (w.data[0, 0], b.data[0]))
