"""PyTorch: eager (its encoder's fast path, and plain functions on MKL's or on oneDNN's
products), and compiled by Inductor with the weights frozen. In bf16 the module and what it
computes with are bf16; its input and its output stay f32, as those of all engines."""
import torch

import encoder


def source(model, data, engine, variant):
    """A module; compiled at its first call where the engine is `compile`."""
    kinds = {"encoder": lambda module, model: module, "sdpa": encoder.PlainEncoder, "onednn": encoder.OneDnnEncoder}
    parts = data.module()
    if model.precision == "bf16":
        parts = parts.bfloat16()
    module = kinds[variant](parts, model)
    if model.precision == "bf16":
        module = Between(module)
    if engine != "compile":
        return module
    import torch._inductor.config as inductor
    inductor.freezing = True
    inductor.compile_threads = 1    # no pool of compilers is left beside the race
    torch._dynamo.reset()
    return torch.compile(module, dynamic=model.any_length)


class Between(torch.nn.Module):
    """A module of bf16, between input and output of f32."""

    def __init__(self, module):
        super().__init__()
        self.module = module

    def forward(self, x):
        return self.module(x.bfloat16()).float()


class Engine:
    def __init__(self, model, threads, module, x):
        torch.set_num_threads(threads)
        self.module, self.x, self.y = module, torch.tensor(x), None

    @torch.inference_mode()
    def run(self, calls):
        module, x = self.module, self.x
        for _ in range(calls):
            self.y = module(x)

    def output(self):
        return self.y.numpy()

    def close(self):
        self.module = None
