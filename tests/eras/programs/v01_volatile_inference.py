# Inference in the style of 0.1 to 0.3: volatile inputs, no history.
import torch
import torch.nn.functional as F
from torch.autograd import Variable

weight = Variable(torch.Tensor([[1, -1], [0.5, 2]]), requires_grad=True)


def model(x):
    return F.relu(x.mm(weight))


train = model(Variable(torch.ones(1, 2)))
test = model(Variable(torch.ones(1, 2), volatile=True))
target = Variable(torch.LongTensor([1]), volatile=True)
loss = F.cross_entropy(test, target, size_average=False)
print(train.requires_grad, train.volatile, test.requires_grad, test.volatile, loss.volatile)
try:
    loss.backward()
except RuntimeError as e:
    print(str(e).split('.')[0])
print("%.4f" % loss.data[0], test.data.max(1)[1].tolist())
model(Variable(torch.ones(1, 2))).sum().backward()
print(weight.grad.data.tolist())
