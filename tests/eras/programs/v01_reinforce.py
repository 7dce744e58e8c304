# A bandit with three arms, learned by reinforce() as in the examples of 0.1.
import torch
import torch.nn.functional as F
from torch import autograd
from torch.autograd import Variable

torch.manual_seed(0)
payoff = [0.1, 0.9, 0.4]
logits = Variable(torch.zeros(1, 3), requires_grad=True)
baseline = 0.0
for episode in range(300):
    actions, rewards = [], []
    for i in range(5):
        action = F.softmax(logits, 1).multinomial(1)
        reward = 1.0 if torch.rand(1)[0] < payoff[action.data[0, 0]] else 0.0
        actions.append(action)
        rewards.append(reward)
    for action, r in zip(actions, rewards):
        action.reinforce(r - baseline)
    autograd.backward(actions, [None for _ in actions])
    baseline = 0.9 * baseline + 0.1 * sum(rewards) / 5
    logits.data.add_(-0.1, logits.grad.data)
    logits.grad.data.zero_()
p = F.softmax(logits, 1).data[0]
print(int(p.max(0)[1]), bool(p[1] > 0.8))
