"""What a checker of types has to refuse of a program that uses the speaker's module: each line after `with`."""

import speaker

with speaker.Model("weights.safetensors") as model:
    model.forward()
    model.forward(features=None)
    model.forward(features=[[[1.0]]], out={"logits": [1.0]})
    model.forward(features=[[[1.0]]])["logits"].no_such_member + 1
    speaker.Model(5)
    speaker.version() + 1
