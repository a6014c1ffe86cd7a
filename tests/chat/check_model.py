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
    for wrong in ([{"role": "user", "content": 3}], ["text"], [{"role": "user", "content": "a", "x": 1.5}], []):
        try:
            tokenizer.apply_chat_template(wrong)
            print("%r is taken" % (wrong,))
        except ValueError:
            pass
    print("%d texts" % count)


if __name__ == "__main__":
    main()
