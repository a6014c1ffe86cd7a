"""A program that uses the speaker's module, as a checker of types sees it; it is never run."""

from typing import Any, Dict

import numpy as np
from numpy.typing import NDArray

import speaker


def of_all(features: NDArray[np.float32]) -> NDArray[Any]:
    out: Dict[str, NDArray[np.float32]] = {"logits": np.zeros((32, 600), np.float32)}
    with speaker.Model("weights.safetensors") as model, speaker.Model.from_memory(b"") as other:
        other.forward(features=features.tolist(), out={"speaker": None})
        outputs: Dict[str, NDArray[Any]] = model.forward(features=features, out=out)
    print("made by " + speaker.version())
    return outputs["logits"]
