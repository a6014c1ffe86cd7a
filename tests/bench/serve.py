"""serve.py - times a program that serves: python3 tests/bench/serve.py PROGRAM WEIGHTS [NAME...].

NAME is one of overhead, silent, start, chat, first, prefix; default: all. PROGRAM was built with --serve, and continues
sequences, at least 8 for chat and first. Only Python's own modules are used. The server runs with the words of the
environment's SERVE_RUN before it, such as `chrt -f 10`."""
import json
import os
import re
import resource
import select
import signal
import socket
import statistics
import subprocess
import sys
import threading
import time


class Server:
    """A server on a free port, for a `with` block."""

    def __init__(self, program, weights, *options):
        self.words = os.environ.get("SERVE_RUN", "").split() + [
            program, "serve", "--weights", weights, "--port", "0", "--log", "none", *options]

    def __enter__(self):
        self.begun = time.perf_counter()
        self.process = subprocess.Popen(self.words, stdout=subprocess.PIPE)
        self.port = int(re.search(rb":(\d+)\s*$", self.process.stdout.readline()).group(1))
        self.pid = self.process.pid
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(40)

    def connect(self):
        made = socket.create_connection(("127.0.0.1", self.port))
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return made

    def seconds(self):
        """Processor seconds of the server."""
        fields = open(f"/proc/{self.pid}/stat").read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def kilobytes(self):
        return int(re.search(r"VmRSS:\s+(\d+)", open(f"/proc/{self.pid}/status").read()).group(1))

    def metrics(self):
        text = ask(self.connect(), "GET", "/metrics").decode()
        return {name: float(value) for name, value in re.findall(r"^(\w+) (\S+)$", text, re.M)}


def send(connection, method, path, body=None):
    data = b"" if body is None else json.dumps(body).encode()
    connection.sendall(f"{method} {path} HTTP/1.1\r\nHost: x\r\nContent-Length: {len(data)}\r\n\r\n".encode() + data)


def ask(connection, method, path, body=None):
    """Sends a request, and returns the body of its reply, which has a length."""
    send(connection, method, path, body)
    got = b""
    while b"\r\n\r\n" not in got:
        got += connection.recv(65536)
    head, rest = got.split(b"\r\n\r\n", 1)
    length = int(re.search(rb"content-length: (\d+)", head, re.I).group(1))
    while len(rest) < length:
        rest += connection.recv(65536)
    return rest


def stream(connection, body):
    """Sends a completion that is streamed. Returns the time of each event of text."""
    send(connection, "POST", "/v1/completions", {**body, "stream": True})
    times, rest = [], b""
    while b"[DONE]" not in rest:
        got = connection.recv(65536)
        assert got, rest[-500:]
        now = time.perf_counter()
        times += [now] * got.count(b"data: {")
        rest = rest[-8:] + got
    return times


def words(count, seed):
    return " ".join(str((seed * 7919 + i * 104729) % 1000) for i in range(count))


def exchange(server, count, many, request):
    """Sends `many` requests over some connections, each once the reply to the one before has come."""
    poll, left, open_requests = select.epoll(), many, 0
    connections = {made.fileno(): made for made in (server.connect() for _ in range(count))}
    for made in connections.values():
        poll.register(made, select.EPOLLIN)
        send(made, *request)
        left, open_requests = left - 1, open_requests + 1
    while open_requests:
        for number, _ in poll.poll():
            got = connections[number].recv(65536) # replies are short, and come whole
            assert got.startswith(b"HTTP/1.1 200") and got.endswith(b"}"), got
            open_requests -= 1
            if left:
                send(connections[number], *request)
                left, open_requests = left - 1, open_requests + 1


def overhead(program, weights):
    with Server(program, weights) as server:
        for name, many, request in (
                ("GET /v1/models", 20000, ("GET", "/v1/models", None)),
                ("a completion of 1 token", 20000, ("POST", "/v1/completions",
                                                    {"prompt": [5], "max_tokens": 1, "temperature": 0}))):
            for count in (1, 16):
                exchange(server, count, 100, request)
                before, counts, begun = server.seconds(), server.metrics(), time.perf_counter()
                exchange(server, count, many, request)
                wall = time.perf_counter() - begun
                took, now = server.seconds() - before, server.metrics()
                model = sum(now[key] - counts[key] for key in ("attn2c_prompt_seconds_total",
                                                               "attn2c_generated_seconds_total") if key in now)
                print(f"{name}, {count} at once: {1e6 * (took - model) / many:.1f} us of a processor beside the "
                      f"model's {1e6 * model / many:.1f} us; {many / wall:.0f} a second")


def silent(program, weights):
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    with Server(program, weights, "--sequences", "1") as server:
        ask(server.connect(), "GET", "/health")
        before = server.kilobytes()
        held = [server.connect() for _ in range(10000)]
        ask(server.connect(), "GET", "/health")
        print(f"10,000 silent connections: {(server.kilobytes() - before) / 1024:.1f} MB more")
        del held


def start(program, weights):
    times = []
    for _ in range(11):
        with Server(program, weights, "--sequences", "1") as server:
            ask(server.connect(), "GET", "/health")
            times.append(time.perf_counter() - server.begun)
    print(f"from start to the first answer: {1e3 * statistics.median(times):.1f} ms, least {1e3 * min(times):.1f}")


def run_clients(server, count, tokens):
    """Tokens a second of some clients at once."""
    ready, ends = threading.Barrier(count + 1), []

    def client(number):
        connection = server.connect()
        ready.wait()
        ask(connection, "POST", "/v1/completions", {"prompt": words(8, number), "max_tokens": tokens, "temperature": 0,
                                                    "ignore_eos": True})
        ends.append(time.perf_counter())

    threads = [threading.Thread(target=client, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    ready.wait()
    begun = time.perf_counter()
    for thread in threads:
        thread.join()
    return count * tokens / (max(ends) - begun)


def chat(program, weights):
    rates = {1: [], 8: []}
    with Server(program, weights) as server:
        run_clients(server, 8, 8)
        for _ in range(5):
            for count, list_of in rates.items():
                list_of.append(run_clients(server, count, 128))
    one, eight = (max(rates[count]) for count in (1, 8))
    print(f"tokens a second: 1 client {one:.1f}, 8 clients {eight:.1f}: {eight / one:.2f} times "
          f"(medians {statistics.median(rates[1]):.1f}, {statistics.median(rates[8]):.1f})")


def first(program, weights):
    prompt = words(60, 3)
    with Server(program, weights) as server:
        run_clients(server, 8, 4)
        alone = []
        for i in range(5):
            begun = time.perf_counter()
            alone.append(stream(server.connect(), {"prompt": words(60, 50 + i), "max_tokens": 1, "temperature": 0})[0]
                         - begun)
        others = [threading.Thread(target=ask, args=(server.connect(), "POST", "/v1/completions", {
            "prompt": words(8, i), "max_tokens": 200, "temperature": 0, "ignore_eos": True})) for i in range(7)]
        for thread in others:
            thread.start()
        time.sleep(0.5)
        steps, tries = [], []
        for i in range(4):
            begun = time.perf_counter()
            times = stream(server.connect(), {"prompt": words(60, 100 + i), "max_tokens": 8, "temperature": 0,
                                              "ignore_eos": True})
            tries.append(times[0] - begun)
            steps += [b - a for a, b in zip(times, times[1:])]
        for thread in others:
            thread.join()
    step = statistics.median(steps)
    print(f"first token of a prompt of {len(prompt.split())} numbers while 7 write: {1e3 * min(tries):.0f} to "
          f"{1e3 * max(tries):.0f} ms; alone {1e3 * min(alone):.0f} ms and two steps of {1e3 * step:.1f} ms: "
          f"{1e3 * (min(alone) + 2 * step):.0f} ms")


def prefix(program, weights):
    with Server(program, weights) as server:
        common = [5 + i * 37 % 400 for i in range(1000)]
        results = []
        for last in (11, 12, 13):
            connection, begun = server.connect(), time.perf_counter()
            times = stream(connection, {"prompt": common + [last], "max_tokens": 16, "temperature": 0,
                                        "ignore_eos": True})
            step = statistics.median([b - a for a, b in zip(times, times[1:])])
            results.append((times[0] - begun, step))
    print("first token of a prompt of 1,001 tokens: " + ", ".join(
        f"{1e3 * took:.1f} ms ({took / step:.2f} steps)" for took, step in results))


def main():
    program, weights, *names = sys.argv[1:]
    for name in names or ["overhead", "silent", "start", "chat", "first", "prefix"]:
        {"overhead": overhead, "silent": silent, "start": start, "chat": chat, "first": first,
         "prefix": prefix}[name](program, weights)


main()
