"""One engine of the race of models that write, in a process of its own: reads a prompt, and decodes
tokens of one sequence or of several. Asked by generate.py, a line each; answers a line of JSON each.

    generate_worker.py attn2c NAME WEIGHTS THREADS SEQUENCES
    generate_worker.py llama.cpp NAME MODEL.gguf THREADS SEQUENCES

    logits FILE.npy COUNT           the logits after COUNT tokens
    prefill COUNT                   {"ms"} of a prompt
    decode SEQUENCES POSITION CALLS {"ms"} of a call for one token of each sequence
"""
import ctypes
import json
import os
import sys
import time

import numpy as np

CONTEXT = 1280
VOCABULARY = 49000      # ids are below it in every model
clock = time.process_time if "PROCESSOR_TIME" in os.environ else time.perf_counter


def token(position):
    return position * 7919 % VOCABULARY


class Attn2c:
    def __init__(self, name, weights, threads, sequences):
        library = ctypes.CDLL(f"out/{name}/lib{name}.so")
        pointer, message = ctypes.c_void_p, ctypes.create_string_buffer(500)
        self.call = lambda function, *words: getattr(library, f"{name}_{function}")(*words)
        model, self.context = pointer(), pointer()
        if self.call("open", weights.encode(), ctypes.byref(model), message, ctypes.c_size_t(500)):
            raise RuntimeError(message.value.decode())
        if self.call("create", model, ctypes.byref(self.context)):
            raise RuntimeError("no memory for a context")
        self.width = int(np.load(f"out/peers/{name}.npy"))
        self.logits = np.zeros((sequences, self.width), np.float32)
        self.pointer = self.logits.ctypes.data_as(pointer)
        self.sequences = (ctypes.c_int32 * sequences)(*range(sequences))

    def rewind(self, sequence, position):
        self.call("rewind", self.context, sequence, position)

    def prefill(self, first, count):
        ids = (ctypes.c_int32 * count)(*map(token, range(first, first + count)))
        if self.call("prefill", self.context, 0, ids, count, self.pointer):
            raise RuntimeError("prefill failed")

    def copy(self, to):
        self.call("copy", self.context, 0, to)

    def decode(self, sequences, position):
        ids = (ctypes.c_int32 * sequences)(*[token(position)] * sequences)
        if self.call("decode", self.context, sequences, self.sequences, ids, self.pointer):
            raise RuntimeError("decode failed")

    def last(self):
        return self.logits[0]


class LlamaCpp:
    def __init__(self, name, weights, threads, sequences):
        import llama_cpp
        self.api = llama_cpp
        silence = llama_cpp.llama_log_callback(lambda *_: None)
        self.silence = silence      # the library keeps only the pointer
        llama_cpp.llama_log_set(silence, None)
        llama_cpp.llama_backend_init()
        parameters = llama_cpp.llama_model_default_params()
        parameters.use_extra_bufts = "LLAMA_PLAIN" not in os.environ
        self.model = llama_cpp.llama_model_load_from_file(weights.encode(), parameters)
        if not self.model:
            raise RuntimeError(f"llama.cpp does not load {weights}")
        parameters = llama_cpp.llama_context_default_params()
        parameters.n_ctx, parameters.n_seq_max = CONTEXT * sequences, sequences
        parameters.n_batch = parameters.n_ubatch = 512
        parameters.n_threads = parameters.n_threads_batch = threads
        self.context = llama_cpp.llama_init_from_model(self.model, parameters)
        if not self.context:
            raise RuntimeError("llama.cpp makes no context")
        self.memory = llama_cpp.llama_get_memory(self.context)
        self.batch = llama_cpp.llama_batch_init(CONTEXT, 0, 1)
        self.width = llama_cpp.llama_vocab_n_tokens(llama_cpp.llama_model_get_vocab(self.model))

    def rewind(self, sequence, position):
        self.api.llama_memory_seq_rm(self.memory, sequence, position, -1)

    def run(self, rows):
        """rows: (sequence, position, whether its logits are wanted)"""
        for i, (sequence, position, wanted) in enumerate(rows):
            self.batch.token[i], self.batch.pos[i] = token(position), position
            self.batch.n_seq_id[i], self.batch.seq_id[i][0], self.batch.logits[i] = 1, sequence, wanted
        self.batch.n_tokens = len(rows)
        if self.api.llama_decode(self.context, self.batch):
            raise RuntimeError("llama_decode failed")
        self.found = self.api.llama_get_logits_ith(self.context, len(rows) - 1)     # waits for the result

    def prefill(self, first, count):
        for done in range(0, count, 512):
            rows = range(first + done, first + min(count, done + 512))
            self.run([(0, position, position == first + count - 1) for position in rows])

    def copy(self, to):
        self.api.llama_memory_seq_rm(self.memory, to, -1, -1)
        self.api.llama_memory_seq_cp(self.memory, 0, to, -1, -1)

    def decode(self, sequences, position):
        self.run([(sequence, position, True) for sequence in range(sequences)])

    def last(self):
        return np.ctypeslib.as_array(self.found, (self.width,))


def answer(engine, state, words):
    if words[0] == "logits":
        engine.rewind(0, 0)
        engine.prefill(0, int(words[2]))
        np.save(words[1], engine.last())
        state.update(tokens=int(words[2]), copies=0)
        return {}
    if words[0] == "prefill":
        engine.rewind(0, 0)
        start = clock()
        engine.prefill(0, int(words[1]))
        state.update(tokens=int(words[1]), copies=0)
        return {"ms": (clock() - start) * 1e3}
    sequences, position, calls = map(int, words[1:])
    if state["tokens"] != position or state["copies"] < sequences:
        kept = min(state["tokens"], position)
        engine.rewind(0, kept)
        if kept < position:
            engine.prefill(kept, position - kept)
        for sequence in range(1, sequences):
            engine.copy(sequence)
        state.update(tokens=position, copies=sequences)
    start = clock()
    for _ in range(calls):
        engine.decode(sequences, position)
        for sequence in range(sequences):
            engine.rewind(sequence, position)
    return {"ms": (clock() - start) * 1e3 / calls}


def main():
    name, *words = sys.argv[1:]
    state = {"tokens": 0, "copies": 0}
    try:
        engine = {"attn2c": Attn2c, "llama.cpp": LlamaCpp}[name](words[0], words[1], int(words[2]), int(words[3]))
        print(json.dumps({}), flush=True)
        for line in sys.stdin:
            print(json.dumps(answer(engine, state, line.split())), flush=True)
    except (RuntimeError, OSError) as error:
        print(json.dumps({"error": str(error)}), flush=True)


if __name__ == "__main__":
    main()
