"""Writes an nn.Module's weights, an input and its output, which `check --expect` compares with its description.

    python3 models/examples/export_module.py FOLDER        # needs torch and safetensors
"""
import sys

import numpy as np
import torch
from safetensors.torch import save_file
from torch import nn


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(100, 16)
        self.encoder = nn.TransformerEncoder(
            nn.TransformerEncoderLayer(16, 2, 32, activation="gelu", batch_first=True), 2)
        self.head = nn.Linear(16, 5)

    def forward(self, ids):
        return self.head(self.encoder(self.embedding(ids)).mean(dim=1))


torch.manual_seed(1)
model, ids, folder = Classifier().eval(), torch.randint(100, (3, 16)), sys.argv[1]
with torch.no_grad():
    logits = model(ids)
save_file(model.state_dict(), f"{folder}/classifier.safetensors")
np.save(f"{folder}/ids.npy", ids.numpy())
np.save(f"{folder}/logits.npy", logits.numpy())
