"""The jobs as PyTorch eager does them, behind the protocol of serve.go.

Called with the number of threads. The models and their first values are those
of ours_models.go.
"""
import math
import sys
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(int(sys.argv[1]))
try:
    torch.set_num_interop_threads(1)
except RuntimeError:
    pass


def fill(n, seed, scale):
    i = torch.arange(n, dtype=torch.int64)
    return (((i * 7919 + seed * 611953) % 2003 - 1001).double() / 1001 * scale).float()


def filled(seed, scale, *shape):
    return fill(math.prod(shape), seed, scale).reshape(shape)


def numbers(n, seed, limit):
    return (torch.arange(n, dtype=torch.int64) * 7919 + seed * 611953) % limit


def sums(c):
    d = c.detach().double().flatten()
    return [float((d * d).sum()), float(d[0]), float(d[-1])]


class Job:
    def __init__(self, once, values=(), figure=None):
        self.once, self.values, self.figure = once, list(values), figure

    def run(self, n):
        once = self.once
        for _ in range(n):
            once()


def chain(shape, n, f):
    x = torch.full(shape, 0.5, requires_grad=True)

    def once():
        x.grad = None
        y = x
        for _ in range(n):
            y = f(y)
        if y.dim():
            y = y.sum()
        y.backward()
        return y
    if n >= 100_000:
        return Job(once)
    return Job(once, [float(once()), float(x.grad.flatten()[0])])


def elementwise(shape, f, both):
    x, y, g = filled(1, 0.5, *shape) + 0.5, filled(2, 0.5, *shape) + 0.5, filled(3, 1, *shape)
    if not both:
        out = torch.empty_like(f(x, y, None))
        with torch.no_grad():
            f(x, y, out)

        def once():
            with torch.no_grad():
                f(x, y, out)
        return Job(once, sums(out))
    x.requires_grad_(), y.requires_grad_()

    def once():
        x.grad = y.grad = None
        z = f(x, y, None)
        if z.dim():
            z.backward(g)
        else:
            z.backward()
    once()
    return Job(once, sums(x.grad))


def training(loss, optimizers):
    def step():
        for o in optimizers:
            o.zero_grad(set_to_none=True)
        l = loss()
        l.backward()
        for o in optimizers:
            o.step()
        return l
    values = [float(step()) for _ in range(4)]
    for o in optimizers:
        for g in o.param_groups:
            g["lr"] = 1e-12
    return Job(step, values)


def set_linear(layer, seed):
    """Gives a linear layer the values of ours, whose weight is [in, out]."""
    out, inn = layer.weight.shape
    scale = 1 / math.sqrt(inn)
    with torch.no_grad():
        layer.weight.copy_(filled(seed, scale, inn, out).t())
        layer.bias.copy_(filled(seed + 1, scale, out))
    return layer


def mlp(act, *widths):
    layers = []
    for i in range(len(widths) - 1):
        layers.append(set_linear(nn.Linear(widths[i], widths[i + 1]), 10 * i + 10))
        if i + 2 < len(widths):
            layers.append(act())
    return nn.Sequential(*layers)


def sgd(params):
    return [torch.optim.SGD(params, 0.01)]


def large_mlp():
    m = mlp(nn.ReLU, 784, 256, 256, 10)
    x, y = filled(1, 1, 64, 784), numbers(64, 2, 10)
    return training(lambda: F.cross_entropy(m(x), y), sgd(m.parameters()))


def small_mlp():
    m = mlp(nn.Tanh, 64, 64, 64, 1)
    x, y = filled(1, 1, 16, 64), filled(2, 1, 16, 1)
    return training(lambda: F.mse_loss(m(x), y), sgd(m.parameters()))


def two_tower(sparse):
    vocabulary, width, words, pairs = 20000, 64, 16, 128

    class Tower(nn.Module):
        def __init__(s, i):
            super().__init__()
            s.e = nn.EmbeddingBag(vocabulary, width, mode="mean", sparse=sparse)
            with torch.no_grad():
                s.e.weight.copy_(filled(3 + i, 1, vocabulary, width))
            s.a = set_linear(nn.Linear(width, width), 20 + 10 * i)
            s.b = set_linear(nn.Linear(width, width), 40 + 10 * i)
            s.i = numbers(pairs * words, 5 + i, vocabulary).reshape(pairs, words)

        def forward(s):
            return s.b(torch.tanh(s.a(s.e(s.i))))
    q, d = Tower(0), Tower(1)
    label = torch.arange(pairs)
    tables = [q.e.weight, d.e.weight]
    rest = [p for t in (q, d) for l in (t.a, t.b) for p in l.parameters()]
    if sparse:
        optimizers = [torch.optim.SparseAdam(tables, 1e-3), torch.optim.Adam(rest, 1e-3)]
    else:
        optimizers = [torch.optim.Adam(tables + rest, 1e-3)]
    return training(lambda: F.cross_entropy(q() @ d().t(), label), optimizers)


def transformer():
    D, H, S, B = 128, 4, 64, 8

    class Block(nn.Module):
        def __init__(s, seed):
            super().__init__()
            s.n1, s.n2 = nn.LayerNorm(D), nn.LayerNorm(D)
            s.qkv, s.o = set_linear(nn.Linear(D, 3 * D), seed), set_linear(nn.Linear(D, D), seed + 10)
            s.f1, s.f2 = set_linear(nn.Linear(D, 512), seed + 20), set_linear(nn.Linear(512, D), seed + 30)

        def forward(s, x, mask):
            q, k, v = s.qkv(s.n1(x)).view(B, S, 3, H, D // H).permute(2, 0, 3, 1, 4)
            a = (q @ k.transpose(-1, -2)) * (D // H) ** -0.5
            a = F.softmax(a.masked_fill(mask, float("-inf")), -1)
            x = x + s.o((a @ v).transpose(1, 2).reshape(B, S, D))
            return x + s.f2(F.gelu(s.f1(s.n2(x))))
    blocks = nn.ModuleList([Block(100), Block(200)])
    mask = torch.ones(S, S, dtype=torch.bool).triu(1)
    x, y = filled(1, 1, B, S, D), filled(2, 1, B, S, D)

    def loss():
        h = x
        for b in blocks:
            h = b(h, mask)
        return F.mse_loss(h, y)
    return blocks, loss


def transformer_step():
    blocks, loss = transformer()
    return training(loss, sgd(blocks.parameters()))


def backward_over_forward():
    blocks, loss = transformer()

    def figure():
        forward = backward = 0
        begun = time.perf_counter()
        while time.perf_counter() - begun < 0.5:
            for p in blocks.parameters():
                p.grad = None
            t0 = time.process_time_ns()
            l = loss()
            t1 = time.process_time_ns()
            l.backward()
            t2 = time.process_time_ns()
            forward, backward = forward + t1 - t0, backward + t2 - t1
        return backward / forward
    return Job(None, figure=figure)


def lstm():
    width, steps, batch = 128, 50, 16
    m = nn.LSTM(width, width)
    scale = 1 / math.sqrt(width)
    with torch.no_grad():
        m.weight_ih_l0.copy_(filled(10, scale, width, 4 * width).t())
        m.bias_ih_l0.copy_(filled(11, scale, 4 * width))
        m.weight_hh_l0.copy_(filled(20, scale, width, 4 * width).t())
        m.bias_hh_l0.zero_()
    m.bias_hh_l0.requires_grad_(False)  # ours has one bias
    x, y = (filled(seed, 1, batch, steps, width).transpose(0, 1).contiguous() for seed in (1, 2))
    return training(lambda: F.mse_loss(m(x)[0], y), sgd(m.parameters()))


def lenet():
    c1, c2 = nn.Conv2d(1, 6, 5, padding=2), nn.Conv2d(6, 16, 5)
    with torch.no_grad():
        c1.weight.copy_(filled(10, 0.2, 6, 1, 5, 5)), c1.bias.copy_(filled(11, 0.2, 6))
        c2.weight.copy_(filled(20, 0.08, 16, 6, 5, 5)), c2.bias.copy_(filled(21, 0.08, 16))
    m = nn.Sequential(c1, nn.ReLU(), nn.MaxPool2d(2), c2, nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), mlp(nn.ReLU, 400, 120, 84, 10))
    x, y = filled(1, 1, 32, 1, 28, 28), numbers(32, 2, 10)
    return training(lambda: F.cross_entropy(m(x), y), sgd(m.parameters()))


def infer(m, x):
    def once():
        with torch.no_grad():
            return m(x)
    return Job(once, sums(once()))


def jobs():
    j = {}
    for name, shape in (("scalar", ()), ("4-element", (4,))):
        c, d = torch.full(shape, 0.999), torch.full(shape, 0.001)
        for op, f in (("add", lambda x, d=d: x + d), ("mul", lambda x, c=c: x * c), ("tanh", torch.tanh)):
            j[f"{name} {op} x1000, both ways"] = lambda shape=shape, f=f: chain(shape, 1000, f)
    for size, n in (("4K", 1 << 12), ("1M", 1 << 20)):
        for op, f in (
            ("exp", lambda x, y, o: torch.exp(x, out=o)), ("tanh", lambda x, y, o: torch.tanh(x, out=o)),
            ("sigmoid", lambda x, y, o: torch.sigmoid(x, out=o)), ("add", lambda x, y, o: torch.add(x, y, out=o)),
            ("mul", lambda x, y, o: torch.mul(x, y, out=o)), ("sum", lambda x, y, o: torch.sum(x) if o is None else torch.sum(x, 0, out=o)),
            ("softmax", lambda x, y, o: torch.softmax(x, -1) if o is None else torch._softmax(x, -1, False, out=o)),
        ):
            shape = (math.isqrt(n),) * 2 if op == "softmax" else (n,)
            j[f"{op} {size}"] = lambda shape=shape, f=f: elementwise(shape, f, False)
            j[f"{op} {size}, both ways"] = lambda shape=shape, f=f: elementwise(shape, f, True)
    j["MLP 784-256-256-10 b64 step"] = large_mlp
    j["MLP 64-64-64-1 b16 step"] = small_mlp
    j["two-tower dense Adam step"] = lambda: two_tower(False)
    j["two-tower sparse Adam step"] = lambda: two_tower(True)
    j["transformer step"] = transformer_step
    j["transformer, backward/forward"] = backward_over_forward
    j["LSTM step"] = lstm
    j["LeNet-5 b32 step"] = lenet
    for n in (1_000, 100_000, 1_000_000):
        j[f"scalar chain {n}"] = lambda n=n: chain((), n, torch.tanh)
    j["infer MLP 64-64-64-1 b1"] = lambda: infer(mlp(nn.Tanh, 64, 64, 64, 1), filled(9, 1, 1, 64))
    j["infer MLP 784-256-256-10 b64"] = lambda: infer(mlp(nn.ReLU, 784, 256, 256, 10), filled(9, 1, 64, 784))
    return j


def resident():
    now = peak = 0
    with open("/proc/self/status") as f:
        for line in f:
            if line.startswith("VmRSS:"):
                now = int(line.split()[1]) * 1024
            elif line.startswith("VmHWM:"):
                peak = int(line.split()[1]) * 1024
    return now, peak


def serve():
    have = jobs()
    j = None
    for line in sys.stdin:
        verb, _, rest = line.rstrip("\n").partition(" ")
        if verb == "prepare":
            j = None
            if rest not in have:
                print("none this side does not have it", flush=True)
                continue
            j = have[rest]()
            print("ok", *(f"{v:.9g}" for v in j.values), flush=True)
        elif verb == "run":
            n = int(rest)
            wall, cpu = time.perf_counter_ns(), time.process_time_ns()
            j.run(n)
            cpu, wall = time.process_time_ns() - cpu, time.perf_counter_ns() - wall
            print(cpu, wall, flush=True)
        elif verb == "figure":
            print(f"{j.figure():.9g}", flush=True)
        elif verb == "growth":
            n, _, name = rest.partition(" ")
            with open("/proc/self/clear_refs", "w") as f:
                f.write("5")
            before, _ = resident()
            have[name]().run(int(n))
            _, peak = resident()
            print(peak - before, flush=True)
        elif verb == "version":
            print("PyTorch", torch.__version__, "Python", sys.version.split()[0], flush=True)


serve()
