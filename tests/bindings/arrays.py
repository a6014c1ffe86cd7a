# arrays.py - the speaker classifier through its Python module: what the program answers, arrays of any layout, what is
# refused, outputs into arrays that are given, many threads. Usage: arrays.py WEIGHTS SEGMENTS.npy LOGITS.npy SPEAKERS.npy
import copy
import os
import pickle
import sys
import threading

import numpy as np
import speaker
from refuses import refuses

weights = sys.argv[1]
segments, logits, speakers = (np.load(path) for path in sys.argv[2:5])
first = segments[:32]


def same(outputs):
    assert list(outputs) == ["logits", "speaker"]
    assert outputs["logits"].dtype == np.float32 and outputs["speaker"].dtype == np.int32
    assert np.array_equal(outputs["logits"], logits[:32]) and np.array_equal(outputs["speaker"], speakers[:32])


with speaker.Model(weights) as model:
    assert speaker.BATCH == 32 and speaker.SEQ == 128 and speaker.version()
    same(model.forward(features=first))
    other = model.forward(features=segments[32:])
    assert np.array_equal(other["logits"], logits[32:]) and not np.array_equal(other["logits"], logits[:32])

    same(model.forward(features=first.astype("float64")))
    same(model.forward(features=first.astype(">f4")))
    same(model.forward(features=np.asfortranarray(first)))
    same(model.forward(features=np.repeat(first, 2, axis=2)[:, :, ::2]))
    unaligned = np.frombuffer(b"x" + first.tobytes(), "float32", offset=1).reshape(first.shape)
    assert not unaligned.flags.aligned
    same(model.forward(features=unaligned))
    assert np.allclose(model.forward(features=first.astype("float16"))["logits"], logits[:32], atol=0.1)

    expected = "float32 [32][128][40] is expected"
    refuses(ValueError, "features: is float32 [31][128][40], but " + expected, model.forward, features=first[1:])
    refuses(ValueError, "features: is float32 [32][128], but " + expected, model.forward, features=first[:, :, 0])
    refuses(ValueError, "features: is int64 [32][128][40], but " + expected, model.forward, features=first.astype("int64"))
    refuses(ValueError, "features: is complex64 [32][128][40]", model.forward, features=first.astype("complex64"))
    refuses(ValueError, "features: is object one number", model.forward, features=None)
    refuses(ValueError, "features: has masked elements", model.forward, features=np.ma.masked_less(first, 0))
    refuses(ValueError, "features: is not an array, but " + expected, model.forward, features=[[1.0], [1.0, 2.0]])
    refuses(TypeError, "features", model.forward)
    refuses(TypeError, "segments", model.forward, segments=first)

    given = np.zeros((32, 600), "float32")
    answer = model.forward(features=first, out={"logits": given})
    assert list(answer) == ["logits"] and answer["logits"] is given and np.array_equal(given, logits[:32])
    assert list(model.forward(features=first, out={"speaker": None})) == ["speaker"]
    assert model.forward(features=first, out={}) == {}

    def out(**arrays):
        model.forward(features=first, out=arrays)

    refuses(ValueError, "out: 'label' is not an output; outputs are logits, speaker", out, label=None)
    refuses(ValueError, "out['logits']: is float64 [32][600], but float32 [32][600] is expected", out,
            logits=np.zeros((32, 600)))
    refuses(ValueError, "out['logits']: is float32 [600], but", out, logits=given[0])
    refuses(ValueError, "out['logits']: is not a NumPy array", out, logits=[0.0])
    refuses(ValueError, "out['logits']: must be writeable", out, logits=np.zeros((600, 32), "float32").T)
    constant = np.zeros((32, 600), "float32")
    constant.flags.writeable = False
    refuses(ValueError, "out['logits']: must be writeable", out, logits=constant)
    shared = first.copy()
    refuses(ValueError, "out['logits']: must not overlap", model.forward, features=shared,
            out={"logits": shared.reshape(-1)[:32 * 600].reshape(32, 600)})
    memory = np.zeros(32 * 600, "float32")
    refuses(ValueError, "out['speaker']: must not overlap", out, logits=memory.reshape(32, 600),
            speaker=memory.view("int32")[:32])

    failures = []

    def calls():
        try:
            for _ in range(20):
                same(model.forward(features=first))
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=calls) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures, failures

refuses(ValueError, "the model is closed", model.forward, features=first)
model.close()

with open(weights, "rb") as file:
    with speaker.Model.from_memory(file.read()) as model:
        same(model.forward(features=first))
refuses(ValueError, "memory", speaker.Model.from_memory, b"not a checkpoint")
refuses(TypeError, "weights: is bytearray, but bytes are expected", speaker.Model.from_memory, bytearray(8))
refuses(OSError, "No such file", speaker.Model, "/nowhere/at all")
refuses(ValueError, "NUL", speaker.Model, "a\0b")
refuses(ValueError, "weights: None, but a path is expected", speaker.Model, None)

# A model has one owner: no copy of it frees, or uses, what another one has.
model = speaker.Model(weights)
for copied in copy.copy, copy.deepcopy, pickle.dumps, lambda each: each.__reduce__ and each.__reduce_ex__(2):
    refuses(TypeError, "a Model cannot be copied or pickled, as it owns memory of libspeaker.so: share it, or open",
            copied, model)
with model:
    same(model.forward(features=first))  # its context is there now, and two may not have that, either
other = speaker.Model.__new__(speaker.Model)
refuses(ValueError, "the model is closed", other.forward, features=first)
model = speaker.Model(weights)
vars(other).update(vars(model))
del model
same(other.forward(features=first))
refuses(OSError, "No such file", other.__init__, "/nowhere/at all")
same(other.forward(features=first))
del other

# Nothing is left behind: as much memory after many models as after a few.
def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def models(count):
    for _ in range(count):
        speaker.Model(weights).forward(features=first, out={"speaker": None})


models(20)
model = speaker.Model(weights)
before = resident()
models(60)
for _ in range(60):
    model.__init__(weights)
    model.forward(features=first, out={"speaker": None})
assert resident() - before < 8 << 20, resident() - before
