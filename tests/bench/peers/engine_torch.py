"""PyTorch: eager (its encoder's fast path, and plain functions on MKL's or on oneDNN's
products), and compiled by Inductor with the weights frozen."""
import torch

import encoder as torch_encoder


def eager_variants(model, encoder, weights):
    yield "encoder", encoder
    yield "sdpa", torch_encoder.PlainEncoder(encoder, model)
    yield "onednn", torch_encoder.OneDnnEncoder(encoder, model)


def compiled_variants(model, encoder, weights):
    import torch._inductor.config as inductor
    inductor.freezing = True
    inductor.compile_threads = 1    # no pool of compilers is left beside the race
    for name, kind in ("sdpa", torch_encoder.PlainEncoder), ("onednn", torch_encoder.OneDnnEncoder):
        torch._dynamo.reset()
        yield name, torch.compile(kind(encoder, model), dynamic=False)


class Torch:
    def __init__(self, model, threads, module, x):
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
