#!/usr/bin/python3
"""check_model.py: compares a model's Python module with goldens.json: check_model.py FOLDER NAME TEMPLATE.

TEMPLATE is the family whose template the model has. It prints what differs, then "N texts".
"""

import importlib
import json
import pathlib
import sys

HERE = pathlib.Path(__file__).parent


def main():
    folder, name, family = sys.argv[1:]
    sys.dont_write_bytecode = True
    sys.path.insert(0, folder)
    tokenizer = importlib.import_module(name).Tokenizer()
    goldens, chats = json.loads((HERE / "goldens.json").read_text()), json.loads((HERE / "chats.json").read_text())
    tokens, count = goldens["tokens"], 0
    for i, (chat, expected) in enumerate(zip(chats, goldens["families"][family])):
        prompt, flags = chat.get("add_generation_prompt", False), {**tokens, **chat.get("flags", {})}
        if "tools" in flags:  # lists, which the module does not take
            continue
        try:
            found = tokenizer.apply_chat_template(chat["messages"], prompt, goldens["date"], **flags)
        except ValueError as error:
            found = None
            assert str(error).startswith("chat template, line "), error
        count += found is not None
        if found != expected:
            print("chat %d: %r, not %r" % (i, found, expected))
        if i < len(goldens["ids"]):
            ids = " ".join(map(str, tokenizer.chat_tokens(chat["messages"], prompt).ids))
            if ids != goldens["ids"][i]:
                print("chat %d: ids %s, not %s" % (i, ids, goldens["ids"][i]))
    one = {"role": "user", "content": "a"}
    for said, messages, more in (
            ("messages[0]: content: 3, but a str", [{"role": "user", "content": 3}], {}),
            ("messages[1]: 'text', but a dict", [one, "text"], {}),
            ("messages[0]: x: 1.5, but a str, bool, int or None", [{**one, "x": 1.5}], {}),
            ("messages[0]: x: is 9223372036854775808, but -9", [{**one, "x": 2**63}], {}),
            ("messages[0]: a name: 'x\\x00y', but a str without NUL", [{**one, "x\0y": 1}], {}),
            ("messages[0]: a name: 5, but a str", [{**one, 5: 1}], {}),
            ("messages: 5, but a list", 5, {}),
            ("date: '2026-11-23\\x00', but a str without NUL", [one], {"date": "2026-11-23\0"}),
            ("date: 5, but a str", [one], {"date": 5}),
            ("flags: x: is -9223372036854775809", [one], {"x": -(2**63) - 1}),
            ("", [], {})):
        for function in tokenizer.apply_chat_template, tokenizer.chat_tokens:
            try:
                function(messages, **more)
                print("%r is taken" % (messages,))
            except ValueError as error:
                if not str(error).startswith(said):
                    print("%r: %s" % (messages, error))
    print("%d texts" % count)


if __name__ == "__main__":
    main()
