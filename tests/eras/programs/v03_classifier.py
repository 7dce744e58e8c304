# A classifier of 0.3: LongTensor targets, size_average, log_softmax, accuracy by eq and sum.
import numpy as np
import torch
import torch.nn.functional as F
from torch.autograd import Variable

data = np.load('points.npy') if False else np.array([[1, 2], [2, 1], [-1, -1], [-2, 0.5], [0.5, -2], [3, 3]], dtype='float32')
labels = torch.LongTensor([0, 0, 1, 1, 2, 0])
w1 = Variable(torch.linspace(-1, 1, 8).view(2, 4), requires_grad=True)
w2 = Variable(torch.linspace(1, -1, 12).view(4, 3), requires_grad=True)
for epoch in range(30):
    for start in range(0, 6, 2):
        x = Variable(torch.from_numpy(data[start:start + 2]))
        target = Variable(labels[start:start + 2])
        output = F.log_softmax(F.tanh(x.mm(w1)).mm(w2), dim=1)
        loss = F.nll_loss(output, target, size_average=False)
        loss.backward()
        for w in (w1, w2):
            w.data.sub_(0.1 * w.grad.data)
            w.grad = None
test = Variable(torch.from_numpy(data), volatile=True)
output = F.log_softmax(F.tanh(test.mm(w1)).mm(w2), dim=1)
loss = F.nll_loss(output, Variable(labels), size_average=True).data[0]
correct = output.data.max(1, keepdim=True)[1].eq(labels.view(-1, 1)).cpu().sum()
print("%.4f" % loss, int(correct), output.volatile)
