# 2.x: decorators without parentheses, inference mode, steps inside backward, nodes' hooks, grad with dicts of inputs.
import torch


@torch.no_grad
def norm(parameters):
    return sum((p ** 2).sum() for p in parameters) ** 0.5


@torch.inference_mode()
def predict(p):
    return p[0] * 2


parameters = [torch.tensor([3.0, 4.0], requires_grad=True), torch.tensor([0.0], requires_grad=True)]


def step(p):
    with torch.no_grad():
        p -= 0.1 * p.grad
    p.grad = None


handles = [p.register_post_accumulate_grad_hook(step) for p in parameters]
for _ in range(3):
    loss = (parameters[0] ** 2).sum() / 2 + (parameters[1] - 1).pow(2).sum() / 2
    loss.backward()
print(round(norm(parameters).item(), 4), [round(v, 4) for p in parameters for v in p.tolist()])
print(predict(parameters).is_inference(), [p.grad for p in parameters])
for handle in handles:
    handle.remove()
y = parameters[0].exp()
order = []
y.grad_fn.register_prehook(lambda grads: order.append("pre"))
y.grad_fn.register_hook(lambda inputs, outputs: order.append("post"))
y.register_hook(lambda grad: order.append("tensor"))
g = torch.autograd.grad(y.sum(), parameters, allow_unused=True, materialize_grads=True)
print(order, g[1].tolist())
edge = torch.autograd.graph.get_gradient_edge(parameters[0] * 5)
torch.autograd.backward(edge, torch.ones(2))
print(parameters[0].grad.tolist())
