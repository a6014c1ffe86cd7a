# generate_text.py: texts that follow texts, for models that take text and continue sequences.
from __future__ import annotations

from typing import Any, List, Mapping, Optional, Sequence

from numpy.typing import NDArray

from generate import _Generating
from text import _TextModel
from values import _list, _utf8


def _cut(text: str, stop: Sequence[str]) -> str:
    """The text before the first of some strings."""
    ends = [text.index(each) for each in stop if each in text]
    return text[:min(ends)] if ends else text


class _GeneratingText(_Generating, _TextModel):
    """The methods for text of a model that continues sequences."""

    def generate_text(self, prompts: Sequence[str], tokens: Optional[int] = None, stop: Sequence[str] = (),
                      **options: Any) -> List[str]:
        """The texts that follow prompts, without special tokens. stop: strings that end an answer, which are not part of
        it, or special tokens; they do not go with beams. options: see generate()."""
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

        def is_end(number: int, ids: List[int]) -> bool:
            if not stop:
                return False
            shown = text(number, ids)
            is_special = not self.decode(ids[-1:])
            return any(each in shown for each in stop) or (is_special and self.decode(ids[-1:], False) in stop)

        made = self._generate(read, tokens, options, is_end)
        return [_cut(text(number, ids.tolist()), stop) for number, ids in enumerate(made)]
