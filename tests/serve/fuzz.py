"""fuzz.py - sends damaged requests to a server: fuzz.py ADDRESS COUNT SEED FILE [SOURCES]

FILE has JSON: a list of {"path", "type", "body"}, requests that are right. Each request that is sent is one of them,
changed at random: bytes, pieces of another one, values that no field takes. With SOURCES, the folder of the server's
C, each object of each request in JSON also has each name in these files as a field, once with each of some odd values. The
server must answer every one, never with status 500, and must afterwards give the right requests the same answers as
before.
"""
import copy
import http.client
import itertools
import json
import pathlib
import random
import re
import sys

ALLOWED = {200, 400, 404, 405, 413, 415, 422, 503}
VALUES = [b"null", b"true", b"0", b"-1", b"1e999", b"-0.0", b"18446744073709551616", b"9007199254740993", b"[]", b"{}",
          b'""', b'"\\u0000"', b'"\\ud800"', b'"\xff\xfe"', b'"\xf0\x9f\x98\x80"', b"[[[[]]]]", b'{"a":{"a":{}}}', b"NaN",
          b"[" * 3000, b'"' + b"a" * 5000 + b'"', b"[1,2,3]", b'["a","b"]', b'[["a"],["b","c"]]', b'[{"text":"a"}]',
          b"--x", b"\r\n\r\n", b"\r\n", b"--x--", b'name="file"', b"filename*=utf-8''a", b"data:image/png;base64,",
          b"Content-Disposition: form-data; ", b"\0", b"%s%n", b'"\\']


def change(draw, body, others):
    body = bytearray(body)
    for _ in range(draw.choice((1, 1, 1, 2, 3, 8))):
        at = draw.randrange(len(body) + 1)
        end = min(len(body), at + draw.choice((1, 1, 2, 8, 64, 1 << 20)))
        kind = draw.randrange(7)
        if kind == 0:
            body[at:at + 1] = bytes([draw.randrange(256)])
        elif kind == 1:
            del body[at:end]
        elif kind == 2:
            body[at:at] = draw.choice(VALUES)
        elif kind == 3:
            body[at:end] = draw.choice(VALUES)
        elif kind == 4:
            body[at:at] = body[at:end]
        elif kind == 5:
            other = draw.choice(others)["bytes"]
            first = draw.randrange(len(other) + 1)
            body[at:end] = other[first:first + draw.choice((1, 8, 64, 1 << 20))]
        else:
            # The value of a field, between a colon and a comma.
            colon = body.find(b":", at)
            comma = body.find(b",", colon)
            if 0 <= colon < comma:
                body[colon + 1:comma] = draw.choice(VALUES)
        del body[1 << 20:]
    return bytes(body)


JSON_VALUES = [None, True, 0, -1, 1.5, 1e300, 1 << 62, "", "a", "\u0001", [], {}, [[]], [1], ["a"], ["a", "b"], [["a", "b"]],
               [[1, 2], [3]], [None], "word " * 300, ["a"] * 300, [7] * 300, {"text": "a"}, "float", "base64"]


def change_value(draw, body):
    """The same JSON with some of its values replaced, doubled or left out."""
    whole = json.loads(body)
    for _ in range(draw.choice((1, 1, 2, 4))):
        holder = whole
        while True:
            keys = list(holder) if isinstance(holder, dict) else list(range(len(holder)))
            if not keys:
                break
            key = draw.choice(keys)
            if isinstance(holder[key], (dict, list)) and holder[key] and draw.random() < 0.6:
                holder = holder[key]
                continue
            if draw.random() < 0.2:
                del holder[key]
            elif draw.random() < 0.2 and isinstance(holder, list):
                holder.append(copy.deepcopy(holder[key]))
            else:
                holder[key] = copy.deepcopy(draw.choice(JSON_VALUES))
            break
    return json.dumps(whole).encode()


ODD_VALUES = [None, False, True, -1, 0, 1.5, 1e300, 1 << 62, "", "a", "\u0000", [], {}, [[]], [None, 1, "a"], {"a": {}}]


def objects_in(value):
    """The objects of a value of JSON, itself and others."""
    if isinstance(value, dict):
        yield value
    for member in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from objects_in(member)


def swept(requests, sources):
    """The requests with each field that the server's files name."""
    text = "".join(file.read_text() for file in sorted(pathlib.Path(sources).rglob("*.[ch]")))
    names = sorted(set(re.findall(r'"([a-z][a-z_]*)"', text)))
    for each in (each for each in requests if each["type"] == "application/json"):
        for number in range(sum(1 for _ in objects_in(json.loads(each["body"])))):
            for name in names:
                for value in ODD_VALUES:
                    whole = json.loads(each["body"])
                    list(objects_in(whole))[number][name] = value
                    yield each, each["type"], json.dumps(whole).encode()


def drawn(draw, requests, count):
    """Requests changed at random."""
    for _ in range(count):
        each = draw.choice(requests)
        if each["type"] == "application/json" and draw.random() < 0.6:
            body = change_value(draw, each["bytes"])
        else:
            body = change(draw, each["bytes"], requests)
        kind = draw.choice((each["type"],) * 30 + ("", "text/plain", "multipart/form-data; boundary=", "multipart/form-data; "
                           "boundary=\"x", "multipart/form-data; a=b; boundary=x;", "application/json; charset=latin1"))
        yield each, kind, body


class Client:
    def __init__(self, address):
        self.host = address.split("//")[1]
        self.connection = http.client.HTTPConnection(self.host, timeout=60)

    def ask(self, path, kind, body):
        for attempt in (0, 1):
            try:
                self.connection.request("POST", path, body, {"Content-Type": kind} if kind else {})
                reply = self.connection.getresponse()
                return reply.status, reply.read()
            except (http.client.HTTPException, ConnectionError):
                # The server may have closed a connection that was idle, but not twice.
                self.connection.close()
                if attempt:
                    raise


def lasting(reply):
    """A reply without what each one has for itself."""
    status, text = reply
    return status, re.sub(rb'"(id|created|cached_tokens)":("[^"]*"|\d+)', b"", text)


def main():
    address, count, seed, path = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
    with open(path, encoding="utf-8", errors="surrogateescape") as file:
        requests = json.load(file)
    for each in requests:
        each["bytes"] = each["body"].encode("utf-8", "surrogateescape")
    draw, client, statuses = random.Random(seed), Client(address), {}
    wanted = [client.ask(each["path"], each["type"], each["bytes"]) for each in requests]
    for each, (status, text) in zip(requests, wanted):
        if status != 200:
            sys.exit(f"fuzz.py: {each['path']}: {status} {text[:300]}")
    fields = swept(requests, sys.argv[5]) if len(sys.argv) > 5 else ()
    for number, (each, kind, body) in enumerate(itertools.chain(drawn(draw, requests, count), fields)):
        try:
            status, text = client.ask(each["path"], kind, body)
        except Exception as fault:
            sys.exit(f"fuzz.py: request {number} of seed {seed}: {each['path']} {kind}: {fault!r}: {body[:500]!r}")
        statuses[status] = statuses.get(status, 0) + 1
        is_wrong = status not in ALLOWED or (status >= 500 and number >= count)
        if is_wrong or (status != 200 and b"\n" in text):
            sys.exit(f"fuzz.py: request {number} of seed {seed}: {each['path']}: {status} {text[:300]!r}: {body[:500]!r}")
    for each, want in zip(requests, wanted):
        if lasting(client.ask(each["path"], each["type"], each["bytes"])) != lasting(want):
            sys.exit(f"fuzz.py: {each['path']}: its answer is another one now")
    if len(statuses) < 2:
        sys.exit(f"fuzz.py: all requests had one status: {statuses}")
    print(" ".join(f"{status}: {number}" for status, number in sorted(statuses.items())))


main()
