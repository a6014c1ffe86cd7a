"""Compares how builds of a GGUF file, and llama.cpp, predict a text: perplexity, KL divergence from the same weights
multiplied as floats, and standard errors of differences. Run in the environment of run.sh --generate:

    out/generate-venv/bin/python tests/bench/perplexity.py FILE.gguf [--text FILE] [--first N] [--tokens N]
        [--threads N] [--build "KEY=VALUE ..."] ... [--made NAME,...] [--built] [--without-llama] [--keep FILE.npz]

The text is Python's own help by default: N tokens of it. llama.cpp makes its ids. All take the same windows of 1,024
tokens, which share 128. Each --build adds a build of the file with other keys; --made adds programs out/NAME/NAME. An
engine writes its logits into a pipe. So differences are of the same token, and logits of 10 GB take no memory. A
standard error is that of the mean difference, as if tokens were independent.

50,000 tokens take some 7 minutes of a processor. --keep adds a run to a file and reports all runs in it, so that a text
can be read in parts, each with its own --first; --built takes the programs of the run before.
"""
import argparse
import contextlib
import os
import pydoc_data.topics
import signal
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
WINDOW, SHARED, BATCH = 1024, 128, 512
FLOATS, OWN, LLAMA = "floats", "own types", "llama.cpp"
HEAD = struct.Struct("=16sqqqi")        # runtime/program/generate/compared.c
ERROR = "standard error"


def windows(count):
    """(begin, end, first token that is predicted) of each."""
    begin, first = 0, 1
    while first < count:
        end = min(count, begin + WINDOW)
        yield begin, end, first
        begin, first = begin + WINDOW - SHARED, end


class Llama:
    def __init__(self, path, threads):
        import llama_cpp
        self.api = llama_cpp
        self.silence = llama_cpp.llama_log_callback(lambda *_: None)      # the library keeps only the pointer
        llama_cpp.llama_log_set(self.silence, None)
        llama_cpp.llama_backend_init()
        self.model = llama_cpp.llama_model_load_from_file(str(path).encode(), llama_cpp.llama_model_default_params())
        if not self.model:
            sys.exit(f"{path}: llama.cpp does not load it")
        self.vocabulary = llama_cpp.llama_model_get_vocab(self.model)
        self.width = llama_cpp.llama_vocab_n_tokens(self.vocabulary)
        self.threads = threads

    def ids(self, text):
        text, ids = text.encode(), (self.api.llama_token * (len(text.encode()) + 8))()
        count = self.api.llama_tokenize(self.vocabulary, text, len(text), ids, len(ids), False, False)
        return np.array(ids[:count], np.int32)

    def write(self, ids, out):
        """Writes the logits of each window, as `perplexity --logits` does."""
        parameters = self.api.llama_context_default_params()
        parameters.n_ctx = WINDOW
        parameters.n_batch = parameters.n_ubatch = BATCH
        parameters.n_threads = parameters.n_threads_batch = self.threads
        context = self.api.llama_init_from_model(self.model, parameters)
        memory = self.api.llama_get_memory(context)
        batch = self.api.llama_batch_init(BATCH, 0, 1)
        out.write(HEAD.pack(b"attn2c logits 2\n", len(ids), WINDOW, SHARED, self.width))
        for begin, end, first in windows(len(ids)):
            self.api.llama_memory_clear(memory, True)
            for start in range(begin, end - 1, BATCH):
                rows = range(start, min(start + BATCH, end - 1))
                for i, at in enumerate(rows):
                    batch.token[i], batch.pos[i] = int(ids[at]), at - begin
                    batch.n_seq_id[i], batch.seq_id[i][0], batch.logits[i] = 1, 0, at + 1 >= first
                batch.n_tokens = len(rows)
                if self.api.llama_decode(context, batch):
                    sys.exit("llama_decode failed")
                for i, at in enumerate(rows):
                    if at + 1 >= first:
                        logits = self.api.llama_get_logits_ith(context, i)
                        out.write(struct.pack("=i", ids[at + 1]))
                        out.write(np.ctypeslib.as_array(logits, (self.width,)).tobytes())


class Stream:
    """What an engine writes: (id, logits) of each predicted token."""
    def __init__(self, name, path):
        self.name, self.file = name, open(path, "rb", buffering=1 << 20)
        head = self.file.read(HEAD.size)
        if len(head) < HEAD.size:
            sys.exit(f"{name}: has written no logits")
        self.width = HEAD.unpack(head)[4]

    def next(self):
        data = self.file.read(4 + 4 * self.width)
        if len(data) < 4 + 4 * self.width:
            sys.exit(f"{self.name}: ended too early")
        return int(np.frombuffer(data, np.int32, 1)[0]), np.frombuffer(data, np.float32, offset=4)


def log_probabilities(logits):
    """and the probabilities. Sums are in f64, so that a mean divergence of 0.001 has three digits."""
    x = logits - logits.max()
    powers = np.exp(x)
    total = powers.sum(dtype=np.float64)
    return x - np.float32(np.log(total)), powers / np.float32(total)


def measure(names, streams, predicted):
    """nats [engine][token], and the divergence from the first engine's distribution and whether the same token is the
    most probable one, [engine][token]."""
    nats, divergence, equal = found = [np.zeros((len(names), predicted)) for _ in range(3)]
    begin = time.time()
    for at in range(predicted):
        for i, stream in enumerate(streams):
            token, logits = stream.next()
            log, own = log_probabilities(logits)
            if i == 0:
                first, base, probability = token, log, own
            elif token != first:
                sys.exit(f"{names[i]} predicts token {token}, {names[0]} {first}")
            nats[i, at] = -log[token]
            divergence[i, at] = probability @ (base - log)
            equal[i, at] = log.argmax() == base.argmax()
        if at % 1000 == 999:
            so_far = " ".join(f"{np.exp(each[:at + 1].mean()):.4f}" for each in nats)
            print(f"{at + 1} of {predicted}, {time.time() - begin:.0f} s: perplexity {so_far}", file=sys.stderr,
                  flush=True)
    return found


def percent_more(nats, base):
    """By how many percent the perplexity is larger than another, with the standard error."""
    growth = nats - base
    return 100 * np.expm1(growth.mean()), 100 * growth.std(ddof=1) / len(growth) ** 0.5


def report(names, nats, divergence, equal):
    last = names[-1]
    print(f"| engine | perplexity | against {names[0]} | {ERROR} | against {last} | {ERROR} | KL divergence "
          f"| {ERROR} | 99th percentile | equal greedy tokens |")
    print("|" + "---|" * 10)
    for i, name in enumerate(names):
        kl = divergence[i]
        own, against = percent_more(nats[i], nats[0]), percent_more(nats[i], nats[-1])
        print(f"| {name} | {np.exp(nats[i].mean()):.4f} | {own[0]:+.3f}% | {own[1]:.3f}% | {against[0]:+.3f}% | "
              f"{against[1]:.3f}% | {kl.mean():.6f} | {kl.std(ddof=1) / len(kl) ** 0.5:.6f} | "
              f"{np.percentile(kl, 99):.5f} | {100 * equal[i].mean():.2f}% |")


def with_kept(path, names, found):
    """Adds what was found to the file of earlier runs. Returns all."""
    if path.exists():
        kept = np.load(path)
        if list(kept["names"]) != names:
            sys.exit(f"{path}: has other engines")
        found = [np.concatenate((kept[str(i)], each), axis=1) for i, each in enumerate(found)]
    np.savez(path, names=names, **{str(i): each for i, each in enumerate(found)})
    return found


def build(path, name, words):
    command = ["gen/attn2c", "build", str(path), f"name={name}", f"context={WINDOW}", *words]
    found = subprocess.run(command, cwd=ROOT, stdout=subprocess.DEVNULL, check=False)
    if found.returncode:
        sys.exit(f"{' '.join(command)}: status {found.returncode}")


def text_of(path):
    if path:
        return Path(path).read_text(encoding="utf-8")
    topics = pydoc_data.topics.topics
    return "\n\n".join(topics[name] for name in sorted(topics))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--text")
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--tokens", type=int, default=50000)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--build", action="append", default=[])
    parser.add_argument("--made", default="")
    parser.add_argument("--built", action="store_true")
    parser.add_argument("--without-llama", action="store_true")
    parser.add_argument("--keep", type=Path)
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))      # engines end with this process
    path, threads = arguments.file.resolve(), f"threads={arguments.threads}"
    builds = {FLOATS: ("perplexity_floats", ["weights=none", "precision=f32"]), OWN: ("perplexity_own", [threads])}
    builds.update((words, (f"perplexity_{i}", [threads, *words.split()])) for i, words in enumerate(arguments.build))
    for name, words in () if arguments.built else builds.values():
        build(path, name, words)
    programs = {title: name for title, (name, _) in builds.items()}
    programs.update((name, name) for name in arguments.made.split(",") if name)
    llama = Llama(path, arguments.threads)
    ids = llama.ids(text_of(arguments.text))[arguments.first:][:arguments.tokens]
    with tempfile.TemporaryDirectory() as place, contextlib.ExitStack() as started:
        pipes = {}
        for i, name in enumerate([*programs] if arguments.without_llama else [*programs, LLAMA]):
            pipes[name] = os.path.join(place, str(i))
            os.mkfifo(pipes[name])
        np.save(os.path.join(place, "ids.npy"), ids)
        child = None if arguments.without_llama else os.fork()
        if child == 0:
            with open(pipes[LLAMA], "wb", buffering=1 << 20) as out:
                llama.write(ids, out)
            os._exit(0)
        if child:
            started.callback(os.waitpid, child, 0)
            started.callback(os.kill, child, signal.SIGTERM)
        for name, program in programs.items():
            process = subprocess.Popen(
                [f"out/{program}/{program}", "perplexity", "--weights", str(path), "--input",
                 f"ids={place}/ids.npy", "--stride", str(SHARED), "--logits", pipes[name]], cwd=ROOT,
                stdout=subprocess.DEVNULL)
            started.enter_context(process)
            started.callback(process.terminate)
        names = list(pipes)
        streams = [Stream(name, pipes[name]) for name in names]
        found = measure(names, streams, len(ids) - 1)
    if arguments.keep:
        found = with_kept(arguments.keep, names, found)
    print(f"{path.name}, {arguments.text or 'the help of Python ' + sys.version.split()[0]}: "
          f"{found[0].shape[1]} tokens are predicted\n")
    report(names, *found)


if __name__ == "__main__":
    main()
