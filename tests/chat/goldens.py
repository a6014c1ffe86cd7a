#!/usr/bin/env python3
"""goldens.py: what transformers' apply_chat_template makes of the templates here, for tests/spec/whole/chat_spec.lua.

It writes goldens.json: for each template of templates/, and each snippet of snippets.py, the text of each chat of
chats.json, or null where transformers raises an error; what each filter makes of each of some values; and the ids of some chats with the tokenizer of a folder. Needs transformers (5.23) and its tokenizers.
"""

import datetime
import json
import pathlib

from tokenizers import Tokenizer, models
from transformers import AutoTokenizer, PreTrainedTokenizerFast
from transformers.utils import chat_template_utils

from snippets import EXPRESSIONS, FILTERS, TEMPLATES, VALUES

HERE = pathlib.Path(__file__).parent
DATE = "2026-11-23T18:05:09"
TOKENS = {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>", "pad_token": "<pad>"}


class Fixed(datetime.datetime):
    """A clock that stands still."""

    @classmethod
    def now(cls, tz=None):
        return cls.fromisoformat(DATE)


chat_template_utils.datetime = Fixed


def tokenizer():
    vocabulary = {token: i for i, token in enumerate(TOKENS.values())}
    return PreTrainedTokenizerFast(tokenizer_object=Tokenizer(models.WordLevel(vocabulary, "<unk>")), **TOKENS)


def text_of(made, template, chat):
    """The text, or None for an error."""
    try:
        return made.apply_chat_template(chat["messages"], chat_template=template, tokenize=False,
                                        add_generation_prompt=chat.get("add_generation_prompt", False),
                                        **chat.get("flags", {}))
    except Exception:  # any error of Jinja or Python refuses the messages
        return None


def ids_of(chats):
    """The ids of some chats, by the template `tools_macro` and a folder's tokenizer."""
    made = AutoTokenizer.from_pretrained(HERE.parent / "hf" / "texts" / "next")
    made.chat_template = (HERE / "templates" / "tools_macro.jinja").read_text()
    lists = [made.apply_chat_template(chat["messages"], tokenize=True, return_dict=False,
                                      add_generation_prompt=chat.get("add_generation_prompt", False))
             for chat in chats[:5]]
    return [" ".join(map(str, ids)) for ids in lists]


def main():
    made, chats = tokenizer(), json.loads((HERE / "chats.json").read_text())
    names = sorted(path.stem for path in (HERE / "templates").glob("*.jinja"))
    families = {name: [text_of(made, (HERE / "templates" / (name + ".jinja")).read_text(), chat) for chat in chats]
                for name in names}
    expressions = EXPRESSIONS.strip().replace("\\\nz", "\\\0z").split("\n")
    snippets = ["{{ %s }}" % line.replace("\0", "\n") for line in expressions]
    snippets += TEMPLATES
    small = chats[:2]
    rows = [{"template": each, "texts": [text_of(made, each, chat) for chat in small]} for each in snippets]
    refused = [row["template"] for row in rows[:len(expressions)] if None in row["texts"]]
    assert not refused, refused
    filters = {each: [text_of(made, "{{ %s|%s }}" % (value, each), chats[0]) for value in VALUES] for each in FILTERS}
    (HERE / "goldens.json").write_text(json.dumps({"date": DATE, "tokens": TOKENS, "families": families,
                                                   "snippets": rows, "values": VALUES, "filters": filters,
                                                   "ids": ids_of(chats)}, ensure_ascii=False, indent=0) + "\n")


if __name__ == "__main__":
    main()
