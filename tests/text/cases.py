"""Writes tests/text/goldens/: small tokenizers and what the real library makes of nasty texts.

    python3 -m venv V && V/bin/pip install tokenizers==0.23.3 transformers==5.23.0 sentencepiece==0.2.1 protobuf==7.36.2
    V/bin/python tests/text/cases.py [NAME ...]        writes all, or some
    V/bin/python tests/text/cases.py --show NAME N     prints the text of a case and what the library gives

NAME.json.gz is a tokenizer.json. texts.gz: texts, each after its length (a varint). NAME.cases.gz: case by case, as
varints: text, pair + 1 or 0, 1 without special tokens, limit + 1 or 0, strategy + 4 from the left, number of ids, ids;
then FNV-1a, 32 bits, little-endian: of types and places (of characters), of the text that the ids give with special
tokens, without them.
"""

import gzip
import os
import struct
import sys

from tokenizers import Tokenizer

import made
import texts

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "goldens")
DRAWN, STRIDE = 900, 4
STRATEGIES = ["longest_first", "only_first", "only_second"]


def varint(n):
    out = bytearray()
    while n >= 0x80:
        out.append(n & 0x7F | 0x80)
        n >>= 7
    out.append(n)
    return bytes(out)


def fnv(data):
    h = 0x811C9DC5
    for byte in data:
        h = (h ^ byte) * 0x01000193 & 0xFFFFFFFF
    return h


def write(name, data):
    with open(os.path.join(FOLDER, name), "wb") as f:
        f.write(gzip.compress(data, 9, mtime=0))


def all_texts():
    return texts.fixed() + texts.drawn(7, DRAWN)


def cases_of(index, count):
    """(text, pair, plain, limit, strategy, left) by index of the texts: another part for each tokenizer."""
    fixed = count - DRAWN
    for i in range(index % STRIDE, fixed, STRIDE):
        yield i, None, 0, None, 0, 0
    drawn = [fixed + (index * 37 + i) % DRAWN for i in range(260)]
    for i in drawn[:180]:
        yield i, None, i % 7 == 0, None, 0, 0
    for i, j in zip(drawn[180:230], drawn[10:]):
        yield i, j, i % 5 == 0, None, 0, 0
    for k, i in enumerate(drawn[230:]):
        pair = drawn[k] if k % 3 else None
        yield i, pair, 0, (1, 2, 3, 4, 5, 7, 10, 20)[k % 8], k % 2 if pair is None else k % 3, k % 5 == 0


def run(tokenizer, everything, case):
    """What the library gives; None where it refuses or breaks off."""
    text, pair, plain, limit, strategy, left = case
    a = everything[text].decode("utf-8", "replace")
    b = everything[pair].decode("utf-8", "replace") if pair is not None else None
    tokenizer.no_truncation()
    try:
        if limit is not None:
            tokenizer.enable_truncation(limit, stride=0, strategy=STRATEGIES[strategy], direction="left" if left else "right")
        return tokenizer.encode(a, b, add_special_tokens=not plain)
    except BaseException:  # its panics are no Exception
        return None


def decoded(tokenizer, ids, skip):
    try:
        return tokenizer.decode(ids, skip_special_tokens=skip).encode()
    except BaseException:
        return None


def record(tokenizer, case, result):
    text, pair, plain, limit, strategy, left = case
    out = varint(text) + varint(0 if pair is None else pair + 1) + varint(int(plain))
    out += varint(0 if limit is None else limit + 1) + varint(strategy + 4 * int(left))
    out += varint(len(result.ids)) + b"".join(map(varint, result.ids))
    places = b"".join(struct.pack("<III", t, *o) for t, o in zip(result.type_ids, result.offsets))
    hashes = [fnv(places)] + [fnv(decoded(tokenizer, result.ids, skip) or b"") for skip in (False, True)]
    return out + struct.pack("<III", *hashes)


def main():
    os.makedirs(FOLDER, exist_ok=True)
    everything = all_texts()
    if sys.argv[1:2] == ["--show"]:
        path = os.path.join(FOLDER, sys.argv[2] + ".json.gz")
        tokenizer = Tokenizer.from_str(gzip.open(path, "rt", encoding="utf-8").read())
        done = [c for c in cases_of(list(made.MAKERS).index(sys.argv[2]), len(everything)) if run(tokenizer, everything, c)]
        case = done[int(sys.argv[3])]
        result = run(tokenizer, everything, case)
        print(case, everything[case[0]], case[1] is not None and everything[case[1]])
        print(list(zip(result.ids, result.tokens, result.type_ids, result.offsets)))
        return
    write("texts.gz", b"".join(varint(len(t)) + t for t in everything))
    for index, (name, maker) in enumerate(made.MAKERS.items()):
        if sys.argv[1:] and name not in sys.argv[1:]:
            continue
        data = maker().to_str(pretty=False)
        tokenizer = Tokenizer.from_str(data)
        out, refused, count = [], 0, 0
        for case in cases_of(index, len(everything)):
            result = run(tokenizer, everything, case)
            if result is None:
                refused += 1
                continue
            out.append(record(tokenizer, case, result))
        write(name + ".json.gz", data.encode())
        write(name + ".cases.gz", b"".join(out))
        print(name, len(out), "cases,", refused, "refused")


if __name__ == "__main__":
    main()
