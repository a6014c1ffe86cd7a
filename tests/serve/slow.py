"""slow.py - clients that read slowly, go away or are too many: python3 tests/serve/slow.py WHAT ADDRESS [FIELDS ...].

ADDRESS is of a program that writes texts, which nobody else asks; FIELDS are JSON of a completion. WHAT is:
slow   streams that nobody reads let others pass, and go on later with the same text and the same bits
cut    a stream whose client goes away frees its sequence
full   --sequences 1 --max-waiting 2: further requests get 503 with Retry-After, those that wait get their answer
end    SIGTERM to the process PID, the fourth argument: streams that run, wait or are not read yet are written to their end"""
import json
import os
import re
import signal
import socket
import sys
import time
import urllib.error
import urllib.request

CLIENTS = 12
WHAT, ADDRESS = sys.argv[1:3]
HOST, PORT = re.fullmatch(r"http://(.*):(\d+)", ADDRESS).groups()


def ask(fields):
    """Returns status, headers and value of a completion."""
    request = urllib.request.Request(ADDRESS + "/v1/completions", json.dumps(fields).encode(),
                                     {"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=100) as reply:
            return reply.status, reply.headers, json.load(reply)
    except urllib.error.HTTPError as error:
        return error.code, error.headers, json.load(error)


def metric(name):
    with urllib.request.urlopen(ADDRESS + "/metrics", timeout=100) as reply:
        return int(float(re.search("^attn2c_%s (.*)" % name, reply.read().decode(), re.M)[1]))


def wait_for(is_so, what):
    for _ in range(3000):
        if is_so():
            return
        time.sleep(0.02)
    raise SystemExit("not within a minute: " + what)


def wait_for_rest():
    """Waits until the model is not called."""
    last = [-1]

    def rests():
        time.sleep(0.2)
        before, last[0] = last[0], metric("steps_total")
        return before == last[0]
    wait_for(rests, "rest")


class Stream:
    """A stream that is not read before read() is called. It leaves the system little room for bytes."""

    def __init__(self, fields, stream=True):
        body = json.dumps(dict(fields, stream=stream)).encode()
        self.socket = socket.socket()
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        self.socket.settimeout(100)
        self.socket.connect((HOST, int(PORT)))
        self.socket.sendall(b"POST /v1/completions HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
                            b"Content-Length: %d\r\n\r\n%s" % (len(body), body))

    def read(self, most=None):
        """Returns text and log-probabilities of each answer; most: bytes after which it stops."""
        said = b""
        while not said.endswith(b"\r\n0\r\n\r\n") and (most is None or len(said) < most):
            piece = self.socket.recv(1 << 16)
            assert piece, said[-300:]
            said += piece
        raw = b"".join(re.findall(rb"\r\n[0-9a-f]+\r\n(data: .*?\n\n)", said, re.S))
        events = [json.loads(each) for each in re.findall(rb"data: (\{.*?\})\n\n", raw)]
        choices = [each["choices"][0] for each in events]
        if most is None:
            assert raw.endswith(b"data: [DONE]\n\n") and choices[-1]["finish_reason"] == "length", raw[-300:]
        answers = {}
        for each in choices:
            text, logs = answers.get(each["index"], ("", []))
            more = each["logprobs"]["token_logprobs"] if each["logprobs"] else []
            answers[each["index"]] = text + each["text"], logs + more
        return [answers[index] for index in sorted(answers)]

    def close(self):
        self.socket.close()


def slow(*given):
    fields = {"max_tokens": 150, "ignore_eos": True, "logprobs": 20, "temperature": 0.5, "seed": 3,
              **json.loads(given[0] if given else "{}")}
    asked = [dict(fields, prompt="text %d" % i) for i in range(CLIENTS)]
    short = dict(fields, prompt="short", max_tokens=8)

    def alone(each):
        return [(choice["text"], choice["logprobs"]["token_logprobs"]) for choice in ask(each)[2]["choices"]]
    expected, other = [alone(each) for each in asked], alone(short)
    steps, written = metric("steps_total"), metric("generated_tokens_total")
    streams = [Stream(each) for each in asked]
    assert alone(short) == other
    wait_for_rest()
    steps, written = metric("steps_total") - steps, metric("generated_tokens_total") - written
    # All of them are begun, none is written to its end, and none waits for another one.
    assert metric("requests_running") == CLIENTS and metric("requests_waiting") == 0
    assert written < CLIENTS * fields["max_tokens"] * fields.get("n", 1) * 0.7, written
    before = metric("steps_total")
    assert alone(short) == other
    assert metric("steps_total") - before <= 9 * fields.get("n", 1), metric("steps_total") - before
    for each in streams[1::2]:
        each.close()
    wait_for(lambda: metric("requests_running") == CLIENTS // 2, "the clients that went away")
    for i in range(0, CLIENTS, 2):
        assert streams[i].read() == expected[i], i
    assert alone(short) == other
    wait_for(lambda: metric("requests_running") == 0, "an end")
    print("%d calls of the model until nobody read" % steps)


def cut(*_):
    long = {"prompt": "a", "max_tokens": 150, "n": 100, "ignore_eos": True, "stream": True}
    for most in [1, 20000]:
        before = metric("generated_tokens_total")
        stream = Stream(long)
        stream.read(most)
        stream.close()
        wait_for(lambda: metric("requests_running") == 0, "the sequence of a client that went away")
        steps = metric("steps_total")
        assert metric("generated_tokens_total") - before < 100 * 150 // 2
        assert ask({"prompt": "b", "max_tokens": 3, "ignore_eos": True})[0] == 200
        assert metric("steps_total") - steps == 3


def full(*_):
    # The first one is no stream, so that it keeps the only sequence.
    first = Stream({"prompt": "a", "max_tokens": 150, "n": 128, "ignore_eos": True}, False)
    wait_for(lambda: metric("requests_running") == 1, "a request that runs")
    waiting = [Stream({"prompt": "b", "max_tokens": 3, "ignore_eos": True, "temperature": 0}) for _ in range(2)]
    wait_for(lambda: metric("requests_waiting") == 2, "two that wait")
    status, headers, said = ask({"prompt": "c", "max_tokens": 3})
    assert (status, headers["Retry-After"], said["error"]["message"]) == (503, "1", "too many requests wait"), said
    assert metric('requests_total{route="/v1/completions",status="503"}') == 1
    first.close()
    assert waiting[0].read() == waiting[1].read()
    assert ask({"prompt": "c", "max_tokens": 3})[0] == 200


def end(pid):
    fields = {"max_tokens": 150, "ignore_eos": True, "logprobs": 20, "temperature": 0}
    asked = [dict(fields, prompt="text %d" % i) for i in range(5)]
    expected = [ask(each)[2]["choices"][0]["text"] for each in asked]
    streams = [Stream(each) for each in asked]
    wait_for_rest()
    os.kill(int(pid), signal.SIGTERM)
    for _ in range(500):
        try:
            Stream(fields).close()
        except OSError:
            break
        time.sleep(0.02)
    else:
        raise SystemExit("it takes connections after SIGTERM")
    assert [each.read()[0][0] for each in streams] == expected


globals()[WHAT](*sys.argv[3:])
