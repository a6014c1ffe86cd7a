"""What all engines of a contest share: a folder with the weights, the input and the
expected output of one model, written once and read by each engine's process."""
import os

import numpy as np


class Data:
    def __init__(self, model, folder):
        self.model = model
        self.weights_path = os.path.join(folder, "weights.safetensors")
        self.input_path = os.path.join(folder, "input.npy")
        self.expected_path = os.path.join(folder, "expected.npy")

    def prepare(self):
        """Makes the three files: random weights and input, and what comes out in double precision."""
        from safetensors.torch import save_file

        import encoder
        module, x = encoder.make_encoder(self.model), encoder.make_input(self.model)
        save_file(module.state_dict(), self.weights_path)
        np.save(self.input_path, x.numpy())
        np.save(self.expected_path, encoder.expected_output(module, self.model, x))

    def input(self):
        return np.load(self.input_path)

    def expected(self):
        return np.load(self.expected_path)

    def arrays(self):
        """The weights by PyTorch's names."""
        from safetensors.numpy import load_file
        return load_file(self.weights_path)

    def module(self):
        """The weights as an Encoder."""
        from safetensors.torch import load_file

        import encoder
        module = encoder.Encoder(self.model).eval().requires_grad_(False)
        module.load_state_dict(load_file(self.weights_path))
        return module
