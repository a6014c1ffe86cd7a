# generate_text.py: texts that follow texts, for models that take text and continue sequences.
from __future__ import annotations

from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple

from numpy.typing import NDArray

from generate import _Generating
from text import _TextModel
from values import _list, _utf8


def _first_stop(text: str, hidden: Sequence[Tuple[int, str]], stop: Sequence[str]) -> Optional[int]:
    """The place in a text where the first of some strings begins, or None. hidden: special tokens, which are not of the
    text: places and names. A string may have them as parts, or go on after them."""
    whole, at, names = "", 0, []
    for place, name in hidden:
        whole += text[at:place]
        names.append((len(whole), len(name)))
        whole, at = whole + name, place
    whole += text[at:]
    places = [text.index(each) for each in stop if each in text]
    for begin in [whole.index(each) for each in stop if each in whole]:
        places.append(begin - sum(min(length, begin - place) for place, length in names if place < begin))
    return min(places, default=None)


class _GeneratingText(_Generating, _TextModel):
    """The methods for text of a model that continues sequences."""

    def generate_text(self, prompts: Sequence[str], tokens: Optional[int] = None, stop: Sequence[str] = (),
                      **options: Any) -> List[str]:
        """The texts that follow prompts, without special tokens. stop: strings that end an answer, which are not part of
        it, and may have special tokens; they do not go with beams. options: see generate()."""
        read = [self.encode(_utf8("prompts[%d]" % i, each)) for i, each in enumerate(_list("prompts", prompts))]
        for i, each in enumerate(read):
            if each.removed:
                raise ValueError("prompts[%d]: has more than %d tokens, the most of a sequence" % (i, self._table.seq))
        return self._texts_after([each.ids for each in read], tokens, stop, options)

    def _texts_after(self, read: Sequence[NDArray[Any]], tokens: Optional[int], stop: Sequence[str],
                     options: Mapping[str, Any]) -> List[str]:
        """The same for prompts that are ids, or for sources."""
        stop = _list("stop", stop)
        if stop and self._searches(options):
            raise ValueError("stop: does not go with beams; beam_search gives ids, and decode their texts")
        if b"" in [_utf8("stop[%d]" % i, each) for i, each in enumerate(stop)]:
            raise ValueError("stop: an empty string, but strings of 1 character or more are expected")
        prompts_of = [each.tolist() if self._source is None else list(self._first_ids) for each in read]
        before = [len(self.decode(each)) for each in prompts_of]

        def text(number: int, ids: Sequence[int]) -> str:
            return self.decode([*prompts_of[number], *ids])[before[number]:]

        names: Dict[int, str] = {}

        def special(token: int) -> str:
            if token not in names:
                names[token] = "" if self.decode([token]) else self.decode([token], False)
            return names[token]

        def end_of(number: int, ids: List[int], shown: str) -> Optional[int]:
            hidden = [(len(text(number, ids[:i])), name) for i, name in enumerate(map(special, ids)) if name]
            return _first_stop(shown, hidden, stop)

        def is_end(number: int, ids: List[int]) -> bool:
            return bool(stop) and end_of(number, ids, text(number, ids)) is not None

        made, answers = [each.tolist() for each in self._generate(read, tokens, options, is_end)], []
        for number, ids in enumerate(made):
            shown = text(number, ids)
            answers.append(shown[:end_of(number, ids, shown) if stop else None])
        return answers
