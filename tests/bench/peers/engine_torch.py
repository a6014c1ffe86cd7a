"""PyTorch: eager (its encoder's fast path, and plain functions), and compiled by Inductor
with the weights frozen, which lets oneDNN pack them."""
import torch

import encoder as torch_encoder


def eager_variants(model, encoder, weights):
    yield "encoder", encoder
    yield "sdpa", torch_encoder.PlainEncoder(encoder, model)


def compiled_variants(model, encoder, weights):
    import torch._inductor.config as inductor
    inductor.freezing = True
    inductor.compile_threads = 2
    torch._dynamo.reset()
    yield "inductor", torch.compile(torch_encoder.PlainEncoder(encoder, model), dynamic=False)


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
