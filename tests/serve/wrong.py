"""wrong.py - sends wrong requests to a program that serves: python3 tests/serve/wrong.py PATH SEED COUNT.

PATH is the socket file of its --unix. Each request is a right one with random faults: in its JSON, its bytes, its headers or
its end. Every reply must have a status that says so, never 500, and an error in JSON; and a right request between them must get what it got at
first. Prints the number of replies by status."""
import collections
import json
import random
import re
import select
import socket
import sys

COMPLETION = {"prompt": "Once upon", "max_tokens": 3, "temperature": 0, "logprobs": 2, "n": 2, "stop": ["x"],
              "seed": 1, "top_p": 0.9, "top_k": 5, "echo": True, "logit_bias": {"5": 1}, "stream": False,
              "frequency_penalty": 0.5}
CHAT = {"messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": [
    {"type": "text", "text": "Hi"}]}], "max_tokens": 2, "temperature": 0.5, "seed": 3, "logprobs": True,
    "top_logprobs": 1, "stream": True, "stream_options": {"include_usage": True},
    "tools": [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}]}
ALLOWED = {200, 400, 404, 405, 413, 417, 431, 501, 503, 505}
STRANGE = [None, True, False, 0, -1, 1, 1.5, 1e308, -1e308, 2 ** 31, 2 ** 53, 2 ** 63 - 1, -2 ** 63, "", "x", "\u0001",
           "\U0001f600" * 9, "a" * 5000, [], [[]], [None], [0] * 3000, [-1], [10 ** 9], {}, {"x": {}}, [["a"]], [[5, 6]],
           {"type": "text"}, {"type": "json_schema", "json_schema": {}}, [1, "a"], "NaN"]


def mutate(draw, value, depth=0):
    """Returns a value with a fault somewhere."""
    if depth and draw.random() < 0.25:
        return draw.choice(STRANGE)
    if isinstance(value, dict):
        made = dict(value)
        for _ in range(draw.randint(1, 2)):
            key = draw.choice(sorted(made) + ["other"]) if made else "other"
            what = draw.random()
            if what < 0.1:
                made.pop(key, None)
            elif what < 0.2:
                made[draw.choice(["suffix", "response_format", "tool_choice", "n", "best_of", "prompt", "messages"])] = (
                    draw.choice(STRANGE))
            else:
                made[key] = mutate(draw, made.get(key), depth + 1)
        return made
    if isinstance(value, list) and value:
        made = list(value)
        made[draw.randrange(len(made))] = mutate(draw, made[0], depth + 1)
        return made
    return draw.choice(STRANGE)


def spoil(draw, data):
    """Returns bytes with a fault somewhere."""
    data = bytearray(data)
    for _ in range(draw.randint(1, 4)):
        if not data:
            break
        at = draw.randrange(len(data))
        what = draw.randrange(4)
        if what == 0:
            data[at] = draw.randrange(256)
        elif what == 1:
            del data[at:at + draw.randint(1, 9)]
        elif what == 2:
            data[at:at] = bytes(draw.randrange(256) for _ in range(draw.randint(1, 9)))
        else:
            data[at:at] = data[at:at + draw.randint(1, 40)] * draw.choice([1, 2, 30])
    return bytes(data)


def request(draw):
    """Returns the bytes of a request, and whether all of it is there."""
    path, body = draw.choice([("/v1/completions", COMPLETION), ("/v1/chat/completions", CHAT)])
    text = json.dumps(mutate(draw, body)).encode()
    what = draw.randrange(12)
    if what == 0:
        text = spoil(draw, text)
    elif what == 1:
        depth = draw.choice([10, 2000, 100000])
        text = b'{"prompt":' + b"[" * depth
    head = b"POST " + path.encode() + b" HTTP/1.1\r\nHost: x\r\n"
    if what == 2:
        size = draw.choice([1 << 30, 1 << 62, -1, len(text) + 5, max(len(text) - 9, 0)])
        return head + b"Content-Length: %d\r\n\r\n" % size + text, False
    if what == 3:
        sent, rest = b"", text
        while rest:
            count = draw.randint(1, 200)
            piece, rest = rest[:count], rest[count:]
            sent += b"%x\r\n%s\r\n" % (len(piece) + draw.choice([0] * 30 + [1, 5000000, 1 << 40]), piece)
        whole = draw.random() < 0.7
        return head + b"Transfer-Encoding: chunked\r\n\r\n" + sent + (b"0\r\n\r\n" if whole else b""), False
    if what == 4:
        head += b"".join(b"X-%d: %s\r\n" % (i, b"y" * draw.randint(0, 300)) for i in range(draw.randint(1, 200)))
    whole = head + b"Content-Length: %d\r\n\r\n" % len(text) + text
    if what == 5:
        return spoil(draw, whole), False
    if what == 6:
        return whole * 3, True
    if what == 7:
        return whole[:draw.randrange(len(whole))], False
    return whole, True


def exchange(path, data, is_whole):
    """Sends bytes, and returns what comes back within a moment."""
    made = socket.socket(socket.AF_UNIX)
    made.settimeout(20)
    made.connect(path)
    got = b""
    made.sendall(data)
    while True:
        # A request that is not whole may get no reply.
        if not is_whole and not got and not select.select([made], [], [], 0.02)[0]:
            break
        piece = made.recv(1 << 16)
        got += piece
        if not piece or b"[DONE]" in got:
            break
        head, _, rest = got.partition(b"\r\n\r\n")
        if b"ontent-Length: " in head and len(rest) >= int(head.split(b"ontent-Length: ")[1].split(b"\r")[0]):
            break
    made.close()
    return got


def has_error(got):
    """True if a reply's body is an error as OpenAI's clients know it, or TEI's, as paths have that are none."""
    head, _, rest = got.partition(b"\r\n\r\n")
    length = re.search(rb"\r\nContent-Length: (\d+)", head)
    try:
        error = json.loads(rest[:int(length[1])])["error"] if length else ""
        return len(error if isinstance(error, str) else error["message"]) > 0
    except (ValueError, KeyError):
        return False


def right(path):
    text = json.dumps(COMPLETION).encode()
    got = exchange(path, b"POST /v1/completions HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % len(text) + text, True)
    return json.loads(got.partition(b"\r\n\r\n")[2])["choices"]


def main():
    path, seed, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    expected, statuses = right(path), collections.Counter()
    for i in range(count):
        draw = random.Random(seed * 1000003 + i)
        data, is_whole = request(draw)
        got = exchange(path, data, is_whole)
        status = int(got.split(b" ", 2)[1]) if got.startswith(b"HTTP/1.") else 0
        statuses[status] += 1
        if status not in ALLOWED and (status or is_whole):
            sys.exit(f"seed {seed}, request {i}: status {status}\n{data[:2000]!r}\n{got[:2000]!r}")
        if status >= 400 and not has_error(got):
            sys.exit(f"seed {seed}, request {i}: a reply without an error in JSON\n{data[:2000]!r}\n{got[:2000]!r}")
        if i % 50 == 49 and right(path) != expected:
            sys.exit(f"seed {seed}: after request {i} another one has another reply")
    print(dict(sorted(statuses.items())))


main()
