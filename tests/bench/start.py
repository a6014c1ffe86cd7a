"""How long a model of texts takes from the start of its process to its first answer, against the forward call alone,
and how much memory it takes: start.py PROGRAM [WEIGHTS] [--rounds N]

PROGRAM is a built model with a tokenizer; WEIGHTS what `pack` wrote, or nothing where they are linked in. A text of 100
characters is answered by N processes, one after the other, so that the file of weights is in the page cache. The
forward call is timed by the program's own bench, for as many tokens. The first answer of a model that writes is its
first token, and the forward call is its prefill.
"""
import argparse
import json
import os
import statistics
import subprocess
import tempfile
import time

TEXT = ("The quick brown fox jumps over the lazy dog while seven wizards quietly brew some strong black coffee")[:100]
MEGA = 1e6


def answer(command):
    """(milliseconds to the first answer, to the end, most bytes of memory) of a process."""
    reader, writer = os.pipe()
    start = time.perf_counter_ns()
    process = os.posix_spawn(command[0], command, os.environ, file_actions=[
        (os.POSIX_SPAWN_DUP2, writer, 1), (os.POSIX_SPAWN_CLOSE, reader)])
    os.close(writer)
    first = os.read(reader, 1 << 16)
    answered = time.perf_counter_ns()
    while os.read(reader, 1 << 16):
        pass
    os.close(reader)
    _, status, usage = os.wait4(process, 0)
    if status or not first:
        raise SystemExit(f"start.py: {' '.join(command)}: status {status}")
    return (answered - start) / 1e6, (time.perf_counter_ns() - start) / 1e6, usage.ru_maxrss * 1024


def writes(program):
    """Whether the model continues texts."""
    about = json.loads(subprocess.run([program, "info", "--json"], check=True, capture_output=True, text=True).stdout)
    return "context" in about


def prompt_tokens(command):
    """How many tokens the prompt has."""
    line = subprocess.run([*command, "--format", "jsonl"], check=True, capture_output=True, text=True).stdout
    return json.loads(line)["prompt_tokens"]


def tokens(command):
    """How many tokens the text has."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "lengths.npy")
        subprocess.run([*command, "--output", "lengths=" + path], check=True, stdout=subprocess.DEVNULL)
        with open(path, "rb") as file:
            array = file.read()
    return int.from_bytes(array[-4 if b"<i4" in array else -8:], "little")     # the only element


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("weights", nargs="?")
    parser.add_argument("--rounds", type=int, default=50)
    chosen = parser.parse_args()
    weights = ["--weights", chosen.weights] if chosen.weights else []
    if writes(chosen.program):
        command = [chosen.program, "generate", *weights, "--prompt", TEXT, "--tokens", "1", "--greedy"]
        length = prompt_tokens(command)
    else:
        command = [chosen.program, "run", *weights, "--text-string", TEXT]
        length = tokens(command)
    bench = json.loads(subprocess.run([chosen.program, "bench", *weights, "--length", str(length), "-o", "json"],
                                      check=True, capture_output=True, text=True).stdout.splitlines()[0])
    rounds = [answer(command) for _ in range(chosen.rounds)]
    first, last, memory = ([round[i] for round in rounds] for i in range(3))
    forward, median = bench["ms_median"], statistics.median(first)
    room = bench["weight_bytes"] + bench["arena_bytes"]
    print(f"{length} tokens; forward: median {forward:.2f}, least {bench['ms_min']:.2f} ms")
    print(f"first answer: median {median:.2f}, least {min(first):.2f} ms: forward + {median - forward:.2f} ms, "
          f"of the least {min(first) - bench['ms_min']:.2f} ms; end: median {statistics.median(last):.2f} ms")
    print(f"memory: {max(memory) / MEGA:.1f} MB; weights and arena {room / MEGA:.1f} MB: "
          f"{(max(memory) - room) / MEGA:+.1f} MB")


if __name__ == "__main__":
    main()
