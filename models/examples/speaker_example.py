# speaker_example.py - the speaker classifier from Python: prints a segment's speaker and its largest logit a line.
# Usage: PYTHONPATH=FOLDER_OF_THE_MODEL speaker_example.py WEIGHTS SEGMENTS; segments are floats [32][128][40].
import sys

import numpy as np
import speaker

with speaker.Model(sys.argv[1]) as model:
    features = np.fromfile(sys.argv[2], "float32").reshape(-1, 128, 40)
    outputs = model.forward(features=features)
    for number, logits in zip(outputs["speaker"], outputs["logits"]):
        print("%d %.6f" % (number, logits.max()))
