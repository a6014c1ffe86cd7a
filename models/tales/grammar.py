"""Turns the templates of tales into text.

A template is English with choices, [a|b|c], which may be nested, and with names of the tale's cast:

    {h}         a person's name, or now and then its kind: "Mira", "the fox"; a thing's noun
    {h.he}      a field of it: he, him, his, name, kind; a, the, noun, of a thing
    {H.he}      the same with a capital letter, for the beginning of a sentence

A tale knows how many bits its choices took. No reader who does not know them can guess the text with fewer on
average, unless two ways of choosing give the same text.
"""

import math
import re

PRONOUNS = {"she": {"he": "she", "him": "her", "his": "her"}, "he": {"he": "he", "him": "him", "his": "his"}}
VOWELS = tuple("aeiou")


def with_article(words):
    return ("an " if words.startswith(VOWELS) else "a ") + words


class Person:
    """One of the cast. Without a name it is always called by its kind."""

    def __init__(self, kind, sex, name=None, look=""):
        self.fields = {**PRONOUNS[sex], "kind": kind, "name": name or "the " + kind,
                       "a": with_article(f"{look} {kind}".strip())}
        self.named = name is not None

    def get(self, field, tale):
        if field == "":
            return "the " + self.fields["kind"] if self.named and tale.chance(0.2) else self.fields["name"]
        return self.fields[field]


class Thing:
    """Something that can be owned, found or given; `look` is its adjective."""

    def __init__(self, noun, look=""):
        self.fields = {"noun": noun, "a": with_article(f"{look} {noun}".strip()), "the": f"the {noun}",
                       "look": f"{look} {noun}".strip()}

    def get(self, field, tale):
        return self.fields[field or "noun"]


class Tale:
    """A tale in the making: its cast, its paragraphs, and the bits of its choices."""

    def __init__(self, rng):
        self.rng, self.cast, self.paragraphs, self.bits = rng, {}, [], 0.0

    def pick(self, choices):
        choices = list(choices)
        self.bits += math.log2(len(choices))
        return choices[self.rng.randrange(len(choices))]

    def chance(self, share):
        """Returns True with a probability of `share`."""
        yes = self.rng.random() < share
        self.bits -= math.log2(share if yes else 1 - share)
        return yes

    def say(self, template):
        """Adds a paragraph."""
        text = " ".join(self.expand(template).split())
        text = re.sub(r" (?=[,.])(?!\.\.\.)", "", text)         # an empty choice leaves a space
        self.paragraphs.append(re.sub(r'([.!?]")\.', r"\1", text))  # a sentence that ends with what somebody says

    def expand(self, template):
        """Returns a template's text, with choices made and names filled in."""
        chosen = self.choose(template)
        return re.sub(r"\{(\w+)\.?(\w*)\}", self.fill, chosen)

    def fill(self, match):
        key, field = match.groups()
        entry = self.cast[key.lower()]
        text = entry if isinstance(entry, str) else entry.get(field, self)
        if "[" in text or "{" in text:
            text = self.expand(text)
        return text[0].upper() + text[1:] if key[0].isupper() else text

    def choose(self, template):
        """Replaces the outermost choices first, so that only what is taken costs bits."""
        out, at = [], 0
        while at < len(template):
            if template[at] != "[":
                end = template.find("[", at)
                end = len(template) if end < 0 else end
                out.append(template[at:end])
                at = end
                continue
            depth, begin, parts = 0, at + 1, []
            while True:
                sign = template[at]
                depth += (sign == "[") - (sign == "]")
                if sign == "|" and depth == 1 or depth == 0:
                    parts.append(template[begin:at])
                    begin = at + 1
                at += 1
                if depth == 0:
                    break
            out.append(self.choose(self.pick(parts)))
        return "".join(out)

    def text(self):
        return "\n".join(self.paragraphs)
