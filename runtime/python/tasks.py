# tasks.py: what a model is for, in the words that people know: classify(), encode(), generate() and so on.
from __future__ import annotations

import functools
import importlib
import inspect
import os
import threading
import warnings
import wave
from typing import (TYPE_CHECKING, Any, Callable, Dict, Iterator, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Type,
                    TypeVar, Union, cast)

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calls import Outputs
from library import _Model, _Pooled
from pages import Page, PageTokens
from text import Text, Tokens
from values import Path, _flag, _integer, _list, _refuse_value

if TYPE_CHECKING:
    from typing import Concatenate, ParamSpec

    _Parameters = ParamSpec("_Parameters")
_Result = TypeVar("_Result")


class _Facts(NamedTuple):
    """What tasks have to know of their model."""

    inputs: Tuple[str, ...]  # the parameters of forward that take ids, then token types, or pictures or sounds
    output: str  # that answers
    second: str  # of a span: the scores of its end
    function: str  # that makes probabilities of scores: softmax, sigmoid or none
    labels: Tuple[str, ...]
    mask_token: int
    cls_token: int
    unknown_token: int
    prefix: str  # of tokens that go on a word, such as "##"
    similarity: str  # of embeddings: cosine, dot, euclidean or manhattan


class _Pipeline(_Pooled):
    """A model for its task, which is closed with its Model."""

    _kind: Type[_Model]
    _facts: _Facts
    _file: str  # the weights of a package; "": they are linked in, or the model has none

    def __init__(self, weights: Optional[Path] = None, threads: Optional[int] = None) -> None:
        """weights: a checkpoint, or a file that `pack` wrote; None: the package's, or linked in. threads: as of
        Model()."""
        if weights is None and self._file:
            weights = self._file
            if not os.path.exists(weights):
                raise ValueError("%s: is not there; Pipeline(weights) takes a checkpoint" % os.path.basename(weights))
        self.model: Any = self._kind.__new__(self._kind)
        self.model._open_with(self._kind._library.open, weights, threads)
        self._library, self._pool = self.model._library, self.model._pool

    def _label(self, number: int) -> str:
        labels = self._facts.labels
        return labels[number] if number < len(labels) else "LABEL_%d" % number

    def _answers(self, given: Any, batch_size: int, prompt: Optional[str] = None,
                 dimensions: Optional[int] = None) -> NDArray[Any]:
        """The output that answers, with a row for each text, picture or sound."""
        raise NotImplementedError


class _Packaged:
    """The pipeline with a package's own weights, which is opened by the first call of one of its functions."""

    def __init__(self, kind: Type[_Pipeline]) -> None:
        self._kind, self._lock = kind, threading.Lock()
        self._made: Optional[_Pipeline] = None

    def _pipeline(self) -> _Pipeline:
        with self._lock:
            if self._made is None:
                self._made = self._kind()
            return self._made

    def function(self, method: Callable[Concatenate[Any, _Parameters], _Result]) -> Callable[_Parameters, _Result]:
        """A method of the pipeline as a function of the module."""
        @functools.wraps(method)
        def function(*arguments: _Parameters.args, **named: _Parameters.kwargs) -> _Result:
            return method(self._pipeline(), *arguments, **named)

        signature = inspect.signature(method)
        own = [each for each in signature.parameters.values() if each.name != "self"]
        function.__signature__ = signature.replace(parameters=own)  # type: ignore[attr-defined]
        function.__module__, function.__qualname__ = self._kind.__module__, method.__name__
        return function


def _is_one(given: Any) -> bool:
    """True for one text, which stands for a list of one."""
    return isinstance(given, (str, bytes, Page))


def _probabilities(scores: NDArray[Any], function: str) -> NDArray[np.float64]:
    """Scores of labels, along the last axis, as probabilities."""
    wide = np.asarray(scores, "float64")
    if function == "softmax":
        powers = np.exp(wide - wide.max(axis=-1, keepdims=True, initial=-np.inf))
        return np.asarray(powers / powers.sum(axis=-1, keepdims=True))
    return np.asarray(1 / (1 + np.exp(-wide))) if function == "sigmoid" else wide


def _best(scores: NDArray[Any], most: Optional[int]) -> List[int]:
    """The places of the largest scores, in order; None: of all."""
    return [int(i) for i in np.argsort(-scores, kind="stable")[:most]]


def _warn_of_cut(count: int) -> None:
    if count:
        warnings.warn("texts that are longer than the model takes were cut: %d" % count, stacklevel=4)


class _OfTexts(_Pipeline):
    """A pipeline whose model takes texts."""

    _most: Optional[int] = None

    def _batches(self, texts: Any, batch_size: int) -> Iterator[List[Text]]:
        listed: List[Text] = [texts] if _is_one(texts) else _list("texts", texts)
        size = _integer("batch_size", batch_size, 1, None)
        for i, each in enumerate(listed):
            self.model._in("texts[%d]" % i, each)  # raises
        for i in range(0, max(len(listed), 1), size):
            yield listed[i:i + size]

    def _answers(self, given: Any, batch_size: int, prompt: Optional[str] = None, dimensions: Optional[int] = None,
                 truncation: str = "longest_first") -> NDArray[Any]:
        name, made, cut, most = self._facts.output, [], 0, self._longest()
        for batch in self._batches(given, batch_size):
            outputs, lengths = self.model.forward_text(batch, {name: None}, prompt, dimensions, truncation=truncation)
            made.append(outputs[name])
            cut += sum(self.model.encode(batch[i], 0, prompt).removed > 0 for i in np.flatnonzero(lengths >= most))
        _warn_of_cut(cut)
        return np.concatenate(made)

    def _longest(self) -> int:
        """The length of texts that may have been cut: longer ones have no more tokens than this one."""
        if self._most is None:
            self._most = len(self.model.encode("a " * (self.model._table.seq + 8)).ids)
        return self._most

    def _tokens(self, texts: Any, batch_size: int) -> Iterator[Tuple[Text, Tokens, NDArray[Any]]]:
        """Each text with its tokens and their rows of scores."""
        name, is_open, cut = self._facts.output, self.model._table.least_seq is not None, 0
        for batch in self._batches(texts, batch_size):
            read = [self.model.encode(each) for each in batch]
            if is_open and batch:
                rows = np.split(self._forward(batch, read, name)[name], np.cumsum([len(each.ids) for each in read])[:-1])
            else:
                rows = self.model.forward_text(batch, {name: None})[0][name]
            cut += sum(each.removed > 0 for each in read)
            for text, tokens, scores in zip(batch, read, rows):
                yield text, tokens, scores[:len(tokens.ids)]
        _warn_of_cut(cut)

    def _asked(self, question: Any, text: Any) -> Any:
        """A text with a question before it."""
        return question, text

    def _has_answer(self, text: Any, tokens: Tokens, i: int) -> bool:
        """True if a token of a text has a label of its own."""
        return bool(tokens.sources[i] != 2)

    def _goes_on(self, text: Any, tokens: Tokens, i: int) -> bool:
        """True if a token goes on the word before it, as transformers' pipeline takes it."""
        start, end = (int(each) for each in tokens.places[i, 2:])
        if tokens.ids[i] == self._facts.unknown_token:
            return False
        if self._facts.prefix:
            return len(self.model.decode(tokens.ids[i:i + 1], False)) != end - start
        return start > 0 and " " not in _part(text, start - 1, start + 1)

    def _some(self, tokens: Tokens, kept: NDArray[np.bool_]) -> Tokens:
        """The tokens that are kept."""
        return Tokens(tokens.ids[kept], tokens.types[kept], tokens.places[kept], tokens.sources[kept], 0)

    def _forward(self, texts: Sequence[Any], read: Sequence[Tokens], *outputs: str) -> Outputs:
        """Some outputs of texts without padding."""
        given = zip(self._facts.inputs, ([each.ids for each in read], [each.types for each in read]))
        made: Outputs = self.model.forward(**dict(given), out=dict.fromkeys(outputs))
        return made


class _OfPages(_OfTexts):
    """A pipeline whose model takes pages: in place of a text a Page, whose words are answered as a whole."""

    def _asked(self, question: Any, text: Any) -> Any:
        return text._replace(text=(question, cast(str, text.text))) if isinstance(text, Page) else (question, text)

    def _has_answer(self, text: Any, tokens: Tokens, i: int) -> bool:
        inside = i > 0 and tokens.sources[i] == tokens.sources[i - 1] and tokens.places[i, 1] == tokens.places[i - 1, 1]
        return super()._has_answer(text, tokens, i) and not (isinstance(text, Page) and inside)

    def _goes_on(self, text: Any, tokens: Tokens, i: int) -> bool:
        return not isinstance(text, Page) and super()._goes_on(text, tokens, i)

    def _some(self, tokens: Tokens, kept: NDArray[np.bool_]) -> Tokens:
        made = PageTokens(*super()._some(tokens, kept))
        made.boxes = cast(PageTokens, tokens).boxes[kept]
        return made

    def _forward(self, texts: Sequence[Any], read: Sequence[Tokens], *outputs: str) -> Outputs:
        table, page, wanted = self.model._table, self.model._page, dict.fromkeys(outputs)
        names = [*zip(self._facts.inputs, ("ids", "types")), (page.boxes, "boxes")]
        given = {name: [getattr(each, of) for each in read] for name, of in names}
        if table.least_seq is not None:
            return cast(Outputs, self.model.forward(**given, out=wanted))
        # One text, which fills up a call of one size.
        length, images = len(read[0].ids), self.model._images(texts)
        for name, (row,) in given.items():
            padding = [(0, table.seq - length)] + [(0, 0)] * (row.ndim - 1)
            given[name] = [np.pad(row, padding)] * table.batch
        if page.lengths:
            given[page.lengths] = [length] * table.batch
        if images is not None:
            given[page.picture] = [images[0]] * table.batch
        made = self.model.forward(**given, out=wanted)
        return {name: made[name][0, :length] for name in outputs}


class _OfPictures(_Pipeline):
    """A pipeline whose model takes pictures, uint8 [height, width, 3]."""

    def _answers(self, given: Any, batch_size: int, prompt: Optional[str] = None,
                 dimensions: Optional[int] = None) -> NDArray[Any]:
        return _in_calls(self, self.model.images(given), batch_size)


class _OfSounds(_Pipeline):
    """A pipeline whose model takes sounds: files, or samples of one channel, floats from -1 to 1."""

    def _answers(self, given: Any, batch_size: int, prompt: Optional[str] = None,
                 dimensions: Optional[int] = None) -> NDArray[Any]:
        rows = [self.model.features(_samples("sounds[%d]" % i, each, self.model._sounds.rate))
                for i, each in enumerate(_list("sounds", given))]
        return _in_calls(self, rows, batch_size)


def _in_calls(of: _Pipeline, rows: Sequence[NDArray[Any]], batch_size: int) -> NDArray[Any]:
    """The output that answers, of an array for each picture or sound; calls that have a size of their own are filled up."""
    table, name, output = of.model._table, of._facts.inputs[0], of._facts.output
    is_fixed = table.inputs[0].sizes[0] != "batch"
    size = table.batch if is_fixed else _integer("batch_size", batch_size, 1, None)
    made: List[NDArray[Any]] = []
    for i in range(0, len(rows), size):
        taken = list(rows[i:i + size])
        filled = taken + [taken[0]] * (size - len(taken)) if is_fixed else taken
        given = filled if table.inputs[0].sizes[1] == "seq" else np.stack(filled)
        made.append(of.model.forward(**{name: given, "out": {output: None}})[output][:len(taken)])
    return np.concatenate(made) if made else np.zeros((0, 0), "float32")


class _Embedding(_Pipeline):
    """The functions of a model whose answer is an embedding."""

    def encode(self, texts: Any, batch_size: int = 32, prompt_name: Optional[str] = None, dimensions: Optional[int] = None,
               normalize_embeddings: bool = False) -> NDArray[np.float32]:
        """The embeddings of texts, pictures or sounds, float32 [texts][width]; [width] for one text. prompt_name: the
        model's prompt that is put before each text (None: the usual one). dimensions: numbers that are kept, from the
        first (None: the usual number). normalize_embeddings: scales each to the length 1."""
        made = self._answers(texts, batch_size, prompt_name, dimensions)
        if _flag("normalize_embeddings", normalize_embeddings):
            lengths = np.linalg.norm(made, axis=1, keepdims=True)
            made = made / np.where(lengths > 0, lengths, 1).astype("float32")
        return np.asarray(made[0] if _is_one(texts) else made)

    def similarity(self, a: ArrayLike, b: ArrayLike) -> NDArray[np.float32]:
        """How much each embedding of `a` is like each of `b`, float32 [a][b]: the cosine, unless the model's folder says
        dot, or a distance, which gets a minus."""
        sides = [np.atleast_2d(np.asarray(each, "float64")) for each in (a, b)]
        for name, each in zip("ab", sides):
            if each.ndim != 2 or each.shape[1] != sides[0].shape[1]:
                raise ValueError("%s: is %s, but embeddings [count, %d] are expected"
                                 % (name, list(each.shape), sides[0].shape[-1]))
        how = self._facts.similarity
        if how == "dot":
            return np.asarray(sides[0] @ sides[1].T, "float32")
        if how != "cosine":
            order = 2 if how == "euclidean" else 1
            return np.asarray([-np.linalg.norm(sides[1] - each, order, axis=1) for each in sides[0]], "float32")
        units = [each / np.where(length > 0, length, 1)
                 for each, length in ((each, np.linalg.norm(each, axis=1, keepdims=True)) for each in sides)]
        return np.asarray(units[0] @ units[1].T, "float32")


def _ranked(scores: NDArray[Any], documents: Sequence[Text], top_k: Optional[int], with_text: bool) -> List[Dict[str, Any]]:
    """The documents by their scores, the best first."""
    most = None if top_k is None else _integer("top_k", top_k, 1, None)
    with_text = _flag("return_documents", with_text)
    return [{"corpus_id": i, "score": float(scores[i]), **({"text": documents[i]} if with_text else {})}
            for i in _best(scores, most)]


class _Searching(_Embedding):
    """The functions of a model that embeds texts."""

    def _usual(self, names: Sequence[str]) -> Optional[str]:
        return next((name for name in names if name in self.model._prompts), None)

    def rank(self, query: Text, documents: Sequence[Text], top_k: Optional[int] = None, return_documents: bool = False,
             batch_size: int = 32) -> List[Dict[str, Any]]:
        """The documents by the similarity of their embeddings to the query's, the best first: dicts with corpus_id, the
        place in the list, score, and with return_documents text. The model's prompts for queries and documents are put
        before them, if it has any. top_k: how many (None: all)."""
        listed: List[Text] = _list("documents", documents)
        asked = self.encode([query], 1, self._usual(("query",)))
        found = self.encode(listed, batch_size, self._usual(("document", "passage", "corpus")))
        return _ranked(self.similarity(asked, found)[0], listed, top_k, return_documents)


class _Scoring(_OfTexts):
    """The functions of a model that gives a score to a pair of texts."""

    def predict(self, pairs: Sequence[Tuple[Text, Text]], batch_size: int = 32) -> NDArray[np.float32]:
        """The scores of pairs of texts, float32 [pairs]."""
        scores = _probabilities(self._answers(pairs, batch_size), self._facts.function)
        return np.asarray(scores.reshape(-1), "float32")

    def rank(self, query: Text, documents: Sequence[Text], top_k: Optional[int] = None, return_documents: bool = False,
             batch_size: int = 32) -> List[Dict[str, Any]]:
        """The documents by their score with the query, the best first: dicts with corpus_id, the place in the list,
        score, and with return_documents text. top_k: how many (None: all)."""
        listed: List[Text] = _list("documents", documents)
        scores = self.predict([self._asked(query, each) for each in listed], batch_size)
        return _ranked(scores, listed, top_k, return_documents)


class _Classifying(_Pipeline):
    """The functions of a model that gives a label to a text, a picture or a sound."""

    def classify(self, texts: Any, top_k: Optional[int] = None, batch_size: int = 32) -> List[Any]:
        """The label of each text, picture or sound and its probability: [(label, score), ...]. top_k: a list of so many
        instead of the best one, the best first: [[(label, score), ...], ...]."""
        most = 1 if top_k is None else _integer("top_k", top_k, 1, None)
        made = [[(self._label(i), float(row[i])) for i in _best(row, most)]
                for row in _probabilities(self._answers(texts, batch_size), self._facts.function)]
        return [each[0] for each in made] if top_k is None else made


class _Entailing(_Classifying, _OfTexts):
    """The functions of a model that says whether one text follows from another."""

    def zero_shot(self, texts: Any, candidate_labels: Union[str, Sequence[str]],
                  hypothesis_template: str = "This example is {}.", multi_label: bool = False,
                  batch_size: int = 32) -> List[List[Tuple[str, float]]]:
        """For each text the labels and their probabilities, the best first: [[(label, score), ...], ...]. A label's score
        is how much the template with the label in place of {} follows from the text. multi_label: each label has a
        probability of its own; otherwise their sum is 1. candidate_labels: a list, or a str with commas. Only the text is
        cut if both are too long."""
        split = candidate_labels.split(",") if isinstance(candidate_labels, str) else candidate_labels
        names = [each.strip() if isinstance(each, str) else _refuse_value("candidate_labels", each, "texts")
                 for each in _list("candidate_labels", split)]
        made = [hypothesis_template.format(name) for name in names]
        if not names or made[0] == hypothesis_template:
            raise ValueError("candidate_labels, hypothesis_template: labels, and {} in their place, are needed")
        listed: List[Text] = [texts] if _is_one(texts) else _list("texts", texts)
        pairs = [(text, each) for text in listed for each in made]
        scores = self._answers(pairs, batch_size, truncation="only_first")
        entails = [each.lower().startswith("entail") for each in self._facts.labels].index(True)
        scores = scores.reshape(len(listed), len(names), scores.shape[-1])
        if _flag("multi_label", multi_label) or len(names) == 1:
            shares = _probabilities(scores[..., [-1 if entails == 0 else 0, entails]], "softmax")[..., 1]
        else:
            shares = _probabilities(scores[..., entails], "softmax")
        return [[(names[i], float(row[i])) for i in _best(row, None)] for row in shares]


class _Tagging(_OfTexts):
    """The functions of a model that gives labels to the tokens of a text."""

    def tag(self, texts: Any, aggregation_strategy: str = "none", batch_size: int = 32) -> List[List[Dict[str, Any]]]:
        """The tokens of each text whose label is not O: dicts with entity, score, index (of the token), word (its part of
        the text), start and end (characters). aggregation_strategy, as of transformers: "simple" joins neighbours of one
        label: entity_group in place of entity, and no index. "first", "average" and "max" also give a word one label: that
        of its first token, of the mean of its tokens' scores, or of its token with the largest score."""
        if aggregation_strategy not in ("none", "simple", "first", "average", "max"):
            _refuse_value("aggregation_strategy", aggregation_strategy, "'none', 'simple', 'first', 'average' or 'max'")
        by_word = aggregation_strategy not in ("none", "simple")
        made: List[List[Dict[str, Any]]] = []
        for text, tokens, scores in self._tokens(texts, batch_size):
            if isinstance(text, tuple) and not isinstance(text, Page):
                _refuse_value("texts", text, "one text in place of each pair")
            words: List[List[int]] = []
            for i in range(len(tokens.ids)):
                if not self._has_answer(text, tokens, i):
                    continue
                if by_word and words and self._goes_on(text, tokens, i):
                    words[-1].append(i)
                else:
                    words.append([i])
            shares = _probabilities(scores, self._facts.function)
            found = [self._entity(tokens, each, shares[each], aggregation_strategy) for each in words]
            found = found if aggregation_strategy == "none" else _joined(found)
            for each in found:
                each["word"] = _part(text, each["start"], each["end"])
            made.append([each for each in found if each.get("entity", each.get("entity_group")) != "O"])
        return made

    def _entity(self, tokens: Tokens, word: List[int], scores: NDArray[Any], strategy: str) -> Dict[str, Any]:
        """The label of a word's tokens. scores: their rows."""
        row = scores.mean(axis=0) if strategy == "average" else scores[scores.max(axis=1).argmax() if strategy == "max" else 0]
        best = int(row.argmax())
        return {"entity": self._label(best), "score": float(row[best]), "index": word[0], "word": "",
                "start": int(tokens.places[word[0], 2]), "end": int(tokens.places[word[-1], 3])}


class _Labelling(_OfTexts):
    """The functions of a model that finds spans of labels that come with each text."""

    def tag(self, texts: Any, labels: Sequence[str], threshold: float = 0.5, nested: bool = False,
            multi_label: bool = False) -> List[List[Dict[str, Any]]]:
        """The parts of each text that have one of the labels: dicts with label, score, text, start and end (characters).
        threshold, nested, multi_label: as of Model.spans."""
        listed: List[Text] = [texts] if _is_one(texts) else _list("texts", texts)
        return [[{"label": labels[each.label], "score": each.score, "text": _part(text, each.begin, each.end),
                  "start": each.begin, "end": each.end} for each in found]
                for text, found in zip(listed, self.model.spans(listed, labels, threshold, nested, multi_label))]


def _part(text: Text, start: int, end: int) -> str:
    """Characters of a text, or of the first of two."""
    if isinstance(text, Page):
        text = text.text
    first = text[0] if isinstance(text, tuple) else text
    return (first if isinstance(first, str) else first.decode("utf-8", "replace"))[start:end]


def _joined(entities: List[Dict[str, Any]]) -> List[Dict[str, Any]]:
    """Neighbouring tokens of one label as one, unless the later one begins a name (B-)."""
    groups: List[List[Dict[str, Any]]] = []
    for each in entities:
        begins, name = each["entity"][:2] == "B-", each["entity"][2:] if each["entity"][:2] in ("B-", "I-") else each["entity"]
        each["name"] = name
        if groups and groups[-1][-1]["name"] == name and not begins:
            groups[-1].append(each)
        else:
            groups.append([each])
    return [{"entity_group": group[0]["name"], "score": float(np.mean([each["score"] for each in group])), "word": "",
             "start": group[0]["start"], "end": group[-1]["end"]} for group in groups]


class _Filling(_OfTexts):
    """The functions of a model that knows what stands in a text's gaps."""

    def fill(self, texts: Any, top_k: int = 5, batch_size: int = 8) -> List[Any]:
        """For each text the best tokens in place of its mask token: dicts with score, token, token_str and sequence, the
        text with it. Of a text with several mask tokens, a list of such lists, whose sequences show special tokens."""
        most, made = _integer("top_k", top_k, 1, None), []
        for i, (_, tokens, scores) in enumerate(self._tokens(texts, batch_size)):
            places = np.flatnonzero(tokens.ids == self._facts.mask_token)
            if not len(places):
                raise ValueError("texts[%d]: has no mask token, %r" % (i, self.model.decode([self._facts.mask_token], False)))
            lists = [self._filled(tokens.ids, int(place), _probabilities(scores[place], "softmax"), most, len(places) == 1)
                     for place in places]
            made.append(lists[0] if len(lists) == 1 else lists)
        return made

    def _filled(self, ids: NDArray[Any], place: int, scores: NDArray[Any], most: int,
                skips_special: bool) -> List[Dict[str, Any]]:
        made, text = [], ids.copy()
        for token in _best(scores, most):
            text[place] = token
            made.append({"score": float(scores[token]), "token": token, "token_str": self.model.decode([token], False),
                         "sequence": self.model.decode(text, skips_special)})
        return made


class _Answering(_OfTexts):
    """The functions of a model that finds the answer to a question in a text."""

    def answer(self, question: str, context: Any, max_answer_len: int = 15, doc_stride: Optional[int] = None,
               top_k: Optional[int] = None, handle_impossible_answer: bool = False) -> Any:
        """The part of `context`, a text or a Page, that answers the question: a dict with score, start, end (characters)
        and answer, which is "" if there is none. A long context is read in windows, which share doc_stride tokens (None:
        128, or half of a window if that is less). max_answer_len: the most tokens of an answer. top_k: a list of so many
        answers, the best first; each part is there once. handle_impossible_answer: "" may be an answer, whose score is that
        of the window in which it is least probable."""
        longest = _integer("max_answer_len", max_answer_len, 1, None)
        stride = None if doc_stride is None else _integer("doc_stride", doc_stride, 0, None)
        most = 1 if top_k is None else _integer("top_k", top_k, 1, None)
        may_be_none, none_score = _flag("handle_impossible_answer", handle_impossible_answer), 1.0
        scores: Dict[Tuple[int, int], float] = {}
        asked = self._asked(question, context)
        for tokens in self._windows(asked, stride):
            begins, ends = self._spans(asked, tokens)
            may = tokens.sources == 1
            none = np.flatnonzero((tokens.sources == 2) & (tokens.ids == self._facts.cls_token))[:1]
            counted = may.copy()
            counted[none] = True
            if not may.any():
                continue
            before, after = (np.where(counted, each, -np.inf) - _log_sum(each[counted]) for each in (begins, ends))
            none_score = min(none_score, float(np.exp(before[none] + after[none]).sum()))
            before[none] = after[none] = -np.inf
            sums = np.stack([np.concatenate([before[:len(may) - i] + after[i:], np.full(i, -np.inf)])
                             for i in range(min(longest, len(may)))], 1)
            for best in _best(sums.reshape(-1), most):
                first, more = divmod(best, sums.shape[1])
                place, score = (int(tokens.places[first, 2]), int(tokens.places[first + more, 3])), float(np.exp(sums[first, more]))
                if score > scores.get(place, 0):
                    scores[place] = score
        if may_be_none or not scores:
            scores[0, 0] = none_score if may_be_none else 0.0
        made = [{"score": scores[place], "start": place[0], "end": place[1], "answer": _part(context, *place)}
                for place in sorted(scores, key=lambda place: -scores[place])[:most]]
        return made[0] if top_k is None else made

    def _spans(self, asked: Any, tokens: Tokens) -> List[NDArray[np.float64]]:
        names = (self._facts.output, self._facts.second)
        made = self._forward([asked], [tokens], *names)
        return [np.asarray(made[name], "float64").reshape(-1) for name in names]

    def _windows(self, asked: Any, stride: Optional[int]) -> Iterator[Tokens]:
        most = self.model._table.seq
        tokens = self.model.encode(asked, 2**31 - 1)
        inside = np.flatnonzero(tokens.sources == 1)
        room = most - (len(tokens.ids) - len(inside))
        if room < 1:
            raise ValueError("question: has no room for a part of the context; a call takes %d tokens" % most)
        shared = min(128 if stride is None else stride, room - 1 if stride is not None else room // 2)
        for at in range(0, max(len(inside) - shared, 1), room - shared):
            kept = np.ones(len(tokens.ids), bool)
            kept[inside[:at]] = kept[inside[at + room:]] = False
            yield self._some(tokens, kept)


def _log_sum(scores: NDArray[np.float64]) -> np.float64:
    """The logarithm of the sum of the powers of e."""
    largest = scores.max()
    return np.float64(largest + np.log(np.exp(scores - largest).sum()))


class _Writing(_Pipeline):
    """The functions of a model that writes texts."""

    def generate(self, /, prompts: Any, max_new_tokens: Optional[int] = None, stop: Sequence[str] = (),
                 **options: Any) -> List[str]:
        """The texts that the model writes after prompts, or of sources. max_new_tokens: the most tokens of each (None: what
        the model's folder says). stop: strings that end a text. options: greedy, temperature, top_k, top_p, min_p,
        repetition_penalty, seed and others of Model.sampler, or beams and others of Model.beam_search."""
        made: List[str] = self.model.generate_text([prompts] if _is_one(prompts) else prompts, max_new_tokens, stop, **options)
        return made


class _Chatting(_Writing):
    """The functions of a model that chats."""

    def chat(self, /, messages: Union[str, Sequence[Mapping[str, Any]]], max_new_tokens: Optional[int] = None,
             stop: Sequence[str] = (), **options: Any) -> str:
        """The answer to the messages of a chat, dicts with role and content, or to one text of a user. The other
        parameters: see generate()."""
        said = [{"role": "user", "content": messages}] if isinstance(messages, str) else messages
        self.model._refuse_left_out(said)
        ids = self.model.chat_tokens(said, add_generation_prompt=True).ids
        made: str = self.model._texts_after([ids], max_new_tokens, stop, options)[0]
        return made


class _Translating(_Writing):
    """The functions of a model that translates."""

    def translate(self, /, texts: Any, source_language: Optional[str] = None, target_language: Optional[str] = None,
                  max_new_tokens: Optional[int] = None, **options: Any) -> List[str]:
        """Texts in another language. Languages are codes of the model, such as "de_DE", "deu_Latn" or "de"; None: the usual
        one. options: beams and others of Model.beam_search."""
        listed: List[Any] = [texts] if _is_one(texts) else _list("texts", texts)
        read = [self.model._encoded(self.model._in("texts[%d]" % i, each), 0, None, source_language, target_language)
                for i, each in enumerate(listed)]
        for i, (tokens, start, first) in enumerate(read):
            if tokens.removed:
                raise ValueError("texts[%d]: has more than %d tokens, the most of a source" % (i, self.model._source.seq))
            options.update({name: token for name, token in (("start", start), ("forced_bos", first)) if token >= 0})
        made = self.model.generate([tokens.ids for tokens, _, _ in read], max_new_tokens, **options)
        return [self.model.decode(ids) for ids in made]


class _Captioning(_Pipeline):
    """The functions of a model that writes about pictures."""

    def caption(self, /, pictures: Sequence[ArrayLike], max_new_tokens: Optional[int] = None, **options: Any) -> List[str]:
        """Texts about pictures, uint8 [height, width, 3], such as numpy.asarray(PIL.Image.open(...).convert("RGB")). The
        other parameters: see Model.generate."""
        made = self.model.generate(self.model.images(pictures), max_new_tokens, **options)
        return [self.model.decode(ids) for ids in made]


class _Spelling(_Pipeline):
    """The functions of a model that writes down speech by CTC."""

    def transcribe(self, sound: Any) -> str:
        """The text of a sound: a file, or the samples of one channel, floats from -1 to 1, at RATE samples a second. WAV
        files of integers at that rate are read as they are; others need the packages soundfile and soxr."""
        rows = self.model.features(_samples("sound", sound, self.model._sounds.rate))
        most, name, output = self.model._table.seq, self._facts.inputs[0], self._facts.output
        scores = [self.model.forward(**{name: [rows[i:i + most]], "out": {output: None}})[output]
                  for i in range(0, len(rows), most)]
        made: str = self.model.text_of(np.concatenate([each.reshape(-1, each.shape[-1]) for each in scores]))
        return made


class _Listening(_Pipeline):
    """The functions of a model that listens to speech and writes it down."""

    def transcribe(self, /, sound: Any, language: Optional[str] = None, task: Optional[str] = None, **options: Any) -> str:
        """The text of a sound of any length: a file, or the samples of one channel, floats from -1 to 1, at RATE samples a
        second. WAV files of integers at that rate are read as they are; others need the packages soundfile and soxr.
        language: a code, or "auto"; task: "transcribe" or "translate"; options: see Model.transcribe, whose segments have
        the times."""
        samples = _samples("sound", sound, self.model._speech.rate)
        said = self.model.transcribe(samples, language=language, task=task, **options)
        return " ".join(segment.text for segment in said)


def _samples(name: str, sound: Any, rate: int) -> Any:
    """The samples of a file at a rate, or of an array."""
    if not isinstance(sound, (str, bytes, os.PathLike)):
        return sound
    path = os.fsdecode(sound)
    samples, own = _wave_file(name, path) or _sound_file(name, path)
    if not len(samples):
        raise ValueError("%s: %s has no samples, or says so" % (name, path))
    samples = samples.mean(axis=1)
    if own == rate:
        return samples
    try:
        resample = importlib.import_module("soxr").resample
    except ImportError:
        raise ValueError("%s: %s has %d samples a second, and the model takes %d: pip install soxr converts them"
                         % (name, path, own, rate)) from None
    return np.asarray(resample(samples, own, rate), "float32")


def _wave_file(name: str, path: str) -> Optional[Tuple[NDArray[np.float32], int]]:
    """The samples [count][channels] of a WAV file of integers, and its rate; None: it is another file."""
    try:
        with wave.open(path, "rb") as file:
            width, channels, rate = file.getsampwidth(), file.getnchannels(), file.getframerate()
            data, said = file.readframes(file.getnframes()), file.getnframes() * width * channels
    except (wave.Error, EOFError):
        return None
    if width > 4:
        return None
    if len(data) < said < 0x7ffff000:  # a file of a pipe says the most
        raise ValueError("%s: %s was cut: %d bytes of its %d bytes of samples are there" % (name, path, len(data), said))
    count = len(data) // (width * channels) * channels
    parts = np.frombuffer(data, "uint8", count * width).reshape(count, width)
    padded = np.zeros((count, 4), "uint8")  # samples of any width as the high bytes of integers of 32 bits
    padded[:, 4 - width:] = parts ^ 128 if width == 1 else parts
    return (padded.view("<i4") / np.float32(2**31)).astype("float32").reshape(-1, channels), rate


def _sound_file(name: str, path: str) -> Tuple[NDArray[np.float32], int]:
    """The samples of any other file."""
    try:
        read = importlib.import_module("soundfile").read
    except ImportError:
        raise ValueError("%s: %s is no WAV file of integers: pip install soundfile reads others" % (name, path)) from None
    samples, rate = read(path, dtype="float32", always_2d=True)
    return samples, int(rate)
