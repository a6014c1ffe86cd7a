"""schemas.py - random JSON schemas: each text that is drawn from one is valid by python3-jsonschema, and valid texts
are accepted. schemas.py PROGRAM TABLES SIZE COUNT SEED; PROGRAM is c/grammar_cases. It prints the faults, and ends
with 1 if there are any."""
import datetime
import json
import random
import subprocess
import sys

import jsonschema

TEXTS = ["", "a", "Zoë", 'a "b"', "tab\there", "x\\y", "line\nend", "日本", "😀", "0", "null", "a b c"]
NAMES = ["a", "ab", "abc", "b", "id", "name", "ä", "äö", "the value", 'q"', "x\\", "日"]
PATTERNS = [("^[a-c]+$", ["a", "abc", "ccc"]), ("^\\d{2,4}$", ["12", "1234"]), ("^(ab|cd)*$", ["", "abcd"]),
            ("^[^x\"]{1,3}$", ["é", "a\\b", "\n"]), ("^a.c?$", ["ab", "a\tc"]), ("b", ["abc", "b"]),
            ("^\\w+@\\w+\\.(com|org)$", ["x_1@y.org"]), ("^x|y$", ["xa", "by"]), ("^[+-]?[0-9]+(\\.[0-9]*)?$", ["-1.", "+20"]),
            ("^\\u00e4[\\u4e00-\\u9fff]$", ["ä日"]), ("^\"\\\\$", ['"\\'])]
FORMATS = {"date": ["2024-02-29", "1999-12-31", "0001-01-01"], "time": ["23:59:59Z", "00:00:00.5+01:00"],
           "date-time": ["2000-02-29T12:00:00Z", "2023-04-30T01:02:03.25-05:30"],
           "uuid": ["123e4567-e89b-12d3-a456-426614174000", "00000000-0000-0000-0000-00000000ABCD"]}


def any_value(r, depth=2):
    kinds = [lambda: None, lambda: r.random() < 0.5, lambda: r.randint(-10**6, 10**6), lambda: r.choice(TEXTS),
             lambda: round(r.uniform(-100, 100), 3)]
    if depth > 0:
        kinds += [lambda: [any_value(r, depth - 1) for _ in range(r.randint(0, 3))],
                  lambda: {r.choice(NAMES): any_value(r, depth - 1) for _ in range(r.randint(0, 3))}]
    return r.choice(kinds)()


def integers(r):
    low, high = sorted(r.choice([r.randint(-1000, 1000), r.randint(-20, 20), r.randint(-10**12, 10**12)]) for _ in range(2))
    schema, make = {"type": "integer"}, lambda: r.randint(max(low, -10**15), min(high, 10**15))
    kind = r.randint(0, 5)
    if kind == 0:
        return schema, make
    if kind in (1, 3, 4):
        schema["minimum"] = low
    if kind in (2, 3):
        schema["maximum"] = high
    if kind == 4:
        schema["exclusiveMaximum"] = high + 1
    if kind == 5:
        schema.update(exclusiveMinimum=low - 0.5, maximum=float(high))
    return schema, make


def strings(r):
    kind = r.randint(0, 4)
    if kind == 0:
        return {"type": "string"}, lambda: r.choice(TEXTS)
    if kind == 1:
        texts = r.sample(TEXTS, 4)
        low, high = min(map(len, texts)), max(map(len, texts))
        schema = {"type": "string"}
        if r.random() < 0.8:
            schema["maxLength"] = high
        if r.random() < 0.8:
            schema["minLength"] = low
        return schema, lambda: r.choice(texts)
    if kind == 2:
        pattern, texts = r.choice(PATTERNS)
        return {"type": "string", "pattern": pattern}, lambda: r.choice(texts)
    if kind == 3:
        name = r.choice(sorted(FORMATS))
        return {"type": "string", "format": name}, lambda: r.choice(FORMATS[name])
    texts = r.sample(TEXTS, 3)
    return {"enum": texts}, lambda: r.choice(texts)


def objects(r, depth, context):
    names = r.sample(NAMES, r.randint(0, 4))
    parts = {name: draw(r, depth - 1, context) for name in names}
    required = [name for name in names if r.random() < 0.5]
    schema = {"type": "object", "properties": {name: part[0] for name, part in parts.items()}}
    more = None
    if required:
        schema["required"] = r.sample(required, len(required))
    kind = r.randint(0, 3)
    if kind == 0:
        schema["additionalProperties"] = False
    elif kind == 1:
        more = draw(r, depth - 1, context) if r.random() < 0.7 else (True, lambda: any_value(r))
        schema["additionalProperties"] = more[0]

    def make():
        value = {name: parts[name][1]() for name in names if name in required or r.random() < 0.5}
        for name in NAMES:
            if more and name not in names and '"' not in name and "\\" not in name and r.random() < 0.2:
                value[name] = more[1]()
        return value
    return schema, make


def lists(r, depth, context):
    schema, prefix = {"type": "array"}, []
    item = draw(r, depth - 1, context)
    if r.random() < 0.3:
        prefix = [draw(r, depth - 1, context) for _ in range(r.randint(1, 3))]
        schema["prefixItems"] = [part[0] for part in prefix]
    is_closed = prefix and r.random() < 0.3
    if is_closed:
        schema["items"] = False
    else:
        schema["items"] = item[0]
    least, most = 0, len(prefix) if is_closed else len(prefix) + 4
    if r.random() < 0.5:
        schema["minItems"] = least = r.randint(0, most)
    if r.random() < 0.5:
        schema["maxItems"] = most = r.randint(least, most)

    def make():
        count = r.randint(least, most)
        return [part[1]() for part in prefix[:count]] + [item[1]() for _ in range(count - len(prefix))]
    return schema, make


def choices(r, depth, context):
    if r.random() < 0.3:
        tags = r.sample(NAMES[:6], 2)
        parts = []
        for tag in tags:
            schema, make = objects(r, depth, context)
            schema["properties"] = {"kind": {"const": tag}} | schema["properties"]
            schema["required"] = ["kind"] + schema.get("required", [])
            parts.append((schema, lambda make=make, tag=tag: {"kind": tag} | make()))
        return {"oneOf": [part[0] for part in parts]}, lambda: r.choice(parts)[1]()
    parts = [draw(r, depth - 1, context) for _ in range(r.randint(1, 3))]
    return {"anyOf": [part[0] for part in parts]}, lambda: r.choice(parts)[1]()


def merged(r, depth, context):
    one, make_one = objects(r, depth, context)
    two, make_two = objects(r, depth, context)
    for each in (one, two):
        each.pop("additionalProperties", None)
    both = [name for name in one["properties"] if name in two["properties"]]
    for name in both:
        two["properties"].pop(name)
    two["required"] = [name for name in two.get("required", []) if name not in both]

    def make():
        value = {name: part for name, part in make_one().items() if name in one["properties"]}
        return value | {name: part for name, part in make_two().items() if name in two["properties"]}
    return {"allOf": [one, two]}, make


def recursive(r, context):
    number = len(context["defs"])
    name = "n%d" % number
    context["defs"][name] = None
    left, make_left = draw(r, 1, context)
    context["defs"][name] = {"type": "object", "properties": {"v": left, "next": {"$ref": "#/$defs/" + name},
                                                              "all": {"type": "array", "items": {"$ref": "#/$defs/" + name}}},
                             "required": ["v"]}

    def make(depth=2):
        value = {"v": make_left()}
        if depth and r.random() < 0.6:
            value["next"] = make(depth - 1)
        if depth and r.random() < 0.6:
            value["all"] = [make(depth - 1) for _ in range(r.randint(0, 2))]
        return value
    return {"$ref": "#/$defs/" + name}, make


def draw(r, depth, context):
    """Returns a schema, and a function that makes values of it."""
    kinds = [lambda: ({"type": "boolean"}, lambda: r.random() < 0.5), lambda: ({"type": "null"}, lambda: None),
             lambda: integers(r), lambda: integers(r), lambda: strings(r), lambda: strings(r), lambda: strings(r),
             lambda: ({"type": "number"}, lambda: r.choice([0.5, -1e-7, 3, 1e20, 12.25])),
             lambda: ({"type": ["integer", "null", "string"]}, lambda: r.choice([None, 5, "x"])),
             lambda: (lambda value: ({"const": value}, lambda: value))(any_value(r)),
             lambda: ({}, lambda: any_value(r))]
    if depth > 0:
        kinds += 3 * [lambda: objects(r, depth, context)] + 2 * [lambda: lists(r, depth, context)]
        kinds += [lambda: choices(r, depth, context), lambda: merged(r, depth, context), lambda: recursive(r, context)]
    return r.choice(kinds)()


def write(r, value):
    form = r.choice([{"separators": (",", ":")}, {}, {"indent": 2}, {"indent": "\t"}])
    text = json.dumps(value, ensure_ascii=False, **form)
    return json.dumps(value, ensure_ascii=False) if "\n" + 41 * " " in text or 41 * "\t" in text else text  # as much as is accepted


def case(seed):
    r = random.Random(seed)
    context = {"defs": {}}
    schema, make = draw(r, 3, context)
    if context["defs"]:
        schema = dict(schema) | {"$defs": context["defs"]}
    values = [make() for _ in range(4)]
    return {"schema": schema, "draws": 4, "seed": seed, "accept": [write(r, value) for value in values]}, values


def is_compact_only(schema):
    """Values of const and enum that are lists or objects have one form."""
    return any(word in json.dumps(schema) for word in ('"const": [', '"const": {', '"const":[', '"const":{'))


def checker():
    """jsonschema looks at dates and UUIDs; times are Python's, with a zone."""
    made = jsonschema.FormatChecker(formats=("date", "uuid"))
    parts = {"time": datetime.time, "date-time": datetime.datetime}
    for name, part in parts.items():
        def check(text, part=part):
            return not isinstance(text, str) or part.fromisoformat(text.replace("Z", "+00:00")).tzinfo is not None
        made.checkers = made.checkers | {name: (check, ValueError)}
    return made


def main():
    program, tables, size, count, first = sys.argv[1:]
    process = subprocess.Popen([program, tables, size], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    faults = texts = left = 0
    formats = checker()
    for seed in range(int(first), int(first) + int(count)):
        asked, values = case(seed)
        process.stdin.write(json.dumps(asked) + "\n")
        process.stdin.flush()
        line = process.stdout.readline()
        given = json.loads(line) if line else {"fault": "the program has ended"}
        validator = jsonschema.Draft202012Validator(asked["schema"], format_checker=formats)
        said = []
        if "fault" in given:
            said.append(given["fault"])
        for text in given.get("texts", []):
            try:
                said += ["drawn: %s: %s" % (text, error.message) for error in validator.iter_errors(json.loads(text))]
            except ValueError as error:
                said.append("drawn: %s: %s" % (text, error))
        if not is_compact_only(asked["schema"]):
            for text, value, accepted in zip(asked["accept"], values, given.get("accepted", [])):
                if not validator.is_valid(value):
                    said.append("the case is wrong: %s" % text)
                elif not accepted:
                    said.append("not accepted: %s" % text)
        texts += len(given.get("texts", []))
        left += given.get("open", 0)
        faults += len(said) > 0
        for line in said[:3]:
            print("seed %d: %s\n  %s" % (seed, line, json.dumps(asked["schema"], ensure_ascii=False)))
    print("%s schemas, %d texts, %d too long, %d with faults" % (count, texts, left, faults))
    process.stdin.close()
    return process.wait() or faults > 0


sys.exit(main())
