#!/usr/bin/env python3
"""Makes the checkpoint folders of tests/hf/texts: small random models with the tokenizers of
tests/text/goldens, texts, and what transformers makes of them.

    config.json, model.safetensors, tokenizer.json, ...   the checkpoint
    texts.txt                                             a text a line, with its pair after a tab
    lengths.npy, out_NAME.npy                             of all texts (or windows), rows of padding 0
    texts.npy                                             of windows: which text each is of
    query.npy, kept.npy, ranked.npy                       of sentence-transformers: embeddings of texts as queries, and
                                                          of few dimensions; scores [queries][texts]
    answers.jsonl, answers_N.jsonl                        what a pipeline says, a line a text; with --stride N

    texts.py            writes all cases
    texts.py CASE ...   only these
    texts.py --pipeline compares the answers to questions with the pipeline's of transformers 4.57.6 (5 has none), and
                        writes its pipeline.json
    texts.py --pipelines writes pipeline.json of the others by transformers 5

Run with Python 3.11, torch 2.15.0, transformers 5.23.0, tokenizers 0.23.3, numpy 2.4.6, safetensors 0.8.0,
sentence-transformers 6.2.0.
"""

import gzip
import json
import shutil
import sys
import zlib
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import torch
import transformers as hf

import cases
import goldens

HERE = Path(__file__).resolve().parent
MOST = 40  # tokens
WIDTH = goldens.WIDTH
TEXTS = ["how do I reset my password", "the dog", "", "The quick brown fox jumps over the lazy dog, twice!",
         "Zürich — naïve café, 東京 and Ελλάδα", "a " * 60, "don't panic", "x", "one two three four five six seven",
         "the cat sat on the mat and then it slept for a very long time in the sun"]
PAIRS = ["the answer is behind the dog", "a cat", "no", "jump over it", "what is naïve?", "b " * 9, "panic", "y z",
         "eight", "where did the cat sleep?"]
QUESTIONS = ["where is the cat?", "who slept?", "what jumps over the dog", "how long?"]
CONTEXTS = ["The cat sat on the mat.", "It was the dog that slept, not the cat.",
            "A quick brown fox (naïve as it is) jumps over the lazy dog and runs away.", "for a very long time"]
LONG = ("The cat sat on the mat — naïve as it was, it slept for a very long time in the sun.  東京 is far away; "
        "one two three four five six seven dogs don't panic, and a quick brown fox jumps over each of them, twice! ")
LONG_QUESTIONS = ["where is the cat?", "who?", "how do I reset my password?", "what is naïve?", "is there nothing",
                  "one word"]
LONG_CONTEXTS = [LONG * 3, " " + LONG[:120], LONG, LONG[40:] + "\t" + LONG, "x", LONG[::-1] + LONG]

# Amino acids, some unknown, spaces, tokens of several characters, and a text that is cut.
PROTEINS = ["MKTAYIAKQRQISFVKSHFSRQ", "MK<mask>AYI<mask>", "", "m K  T\tJJA JJ", "<null_1>.-XBUZO<eos>A", "é东MA<cls", "L" * 60,
            "<mask>"]
ACIDS = "<cls> <pad> <eos> <unk> L A G V S E R T I D P K Q N F Y M H W C X B U Z O . - <null_1> <mask>".split()


def bert(**more):
    return {"hidden_size": WIDTH, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": WIDTH,
            "max_position_embeddings": MOST, "layer_norm_eps": 1e-6, **more}


def labels(*names):
    return {"id2label": dict(enumerate(names)), "label2id": {name: i for i, name in enumerate(names)}}


ROBERTA = {**bert(), "max_position_embeddings": MOST + 2, "pad_token_id": 1, "bos_token_id": 0, "eos_token_id": 2,
           "type_vocab_size": 1}

# case: class, configuration, tokenizer, texts, pairs or None, mask token
CASES = {
    "sequence": ("BertForSequenceClassification", bert(**labels("no", "yes", "per\u202ehaps\u001b[31m")), "bert_uncased", TEXTS,
                 None),
    "pairs": ("BertForSequenceClassification", bert(**labels("no", "yes")), "bert_uncased", TEXTS, PAIRS),
    "many": ("RobertaForSequenceClassification",
             {**ROBERTA, **labels("a", "b", "c", "d"), "problem_type": "multi_label_classification"}, "roberta", TEXTS, None),
    "token": ("BertForTokenClassification", bert(**labels("O", "B-X", "I-X")), "bert_cased", TEXTS, None),
    "masked": ("RobertaForMaskedLM", ROBERTA, "roberta",
               ["the <mask> sat on the mat", "<mask>", "a <mask> and a <mask>", "no word is left out"], None),
    "question": ("BertForQuestionAnswering", bert(), "bert_uncased", QUESTIONS, CONTEXTS),
    "windows": ("RobertaForQuestionAnswering", ROBERTA, "roberta", LONG_QUESTIONS, LONG_CONTEXTS),
    "sentence": ("BertModel", bert(), "bert_uncased", TEXTS, None),
    "modern": ("ModernBertModel", cases.MODERN | {"max_position_embeddings": MOST}, "roberta", TEXTS, None),
    "prompt": ("BertModel", bert(), "bert_uncased", [text for text in TEXTS if text], None),
    "modules": ("BertModel", bert(), "bert_uncased", [text for text in TEXTS if text], None),
    "reranker": ("BertForSequenceClassification", bert(num_labels=1), "bert_uncased", TEXTS, PAIRS),
    "untyped": ("BertForSequenceClassification", bert(num_labels=1), "bert_uncased", TEXTS, PAIRS),
    "limited": ("BertModel", bert(), "bert_uncased", [text for text in TEXTS if text], None),
    "states": ("MPNetModel", {**bert(), "max_position_embeddings": MOST + 2, "pad_token_id": 1}, "mpnet",
               [text for text in TEXTS if text.isascii()], None), # [UNK] is 1 there, which MPNet takes for padding
    "entailment": ("DebertaV2ForSequenceClassification", {
        **bert(**labels("entailment", "neutral", "contradiction")), "relative_attention": True, "position_buckets": 8,
        "norm_rel_ebd": "layer_norm", "share_att_key": True, "pos_att_type": "p2c|c2p",
        "position_biased_input": False, "type_vocab_size": 0}, "deberta", TEXTS, PAIRS),
    "proteins": ("EsmForMaskedLM", {**bert(), "pad_token_id": 1, "mask_token_id": 32,
                                    "token_dropout": True, "position_embedding_type": "rotary"}, "esm", PROTEINS, None),
    "disentangled": ("DebertaForSequenceClassification", {
        **bert(**labels("no", "yes")), "relative_attention": True, "pos_att_type": "c2p|p2c", "type_vocab_size": 0,
        "position_biased_input": False}, "deberta_1", TEXTS, PAIRS),
    "ended": ("Qwen3ForSequenceClassification", {
        "hidden_size": WIDTH, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 8,
        "intermediate_size": WIDTH, "max_position_embeddings": MOST, "pad_token_id": 0, **labels("no", "yes", "perhaps")},
        "qwen2", TEXTS, None), # the tokenizer ends texts with the padding token
    "next": ("GPT2LMHeadModel", {"n_positions": MOST, "n_embd": WIDTH, "n_layer": 2, "n_head": 4, "n_inner": WIDTH},
             "gpt2", [text for text in TEXTS if text], None),
    "next_bloom": ("BloomForCausalLM", {"hidden_size": WIDTH, "n_layer": 2, "n_head": 4}, "bloom",
                   [text for text in TEXTS if text], None),
    "next_cohere2": ("Cohere2ForCausalLM", {
        "hidden_size": WIDTH, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2,
        "intermediate_size": WIDTH, "max_position_embeddings": MOST, "sliding_window": 4,
        "layer_types": ["sliding_attention", "full_attention"]}, "digits", [text for text in TEXTS if text], None),
}


SENTENCES = {"sentence", "modern"} # mean embeddings, scaled to unit vectors
LIMITS = {"limited": 8, "untyped": 14} # tokens, which only tokenizer_config.json states; the last ones stay
STRIDES = {"question": [None], "windows": [None, 0, 5]} # None: the program's own


def tokenizer_of(folder, name, case):
    if name == "deberta_1":
        model = json.loads(gzip.open(HERE.parent / "text/goldens/roberta.json.gz", "rt", encoding="utf-8").read())["model"]
        renamed = {"<s>": "[CLS]", "</s>": "[SEP]", "<pad>": "[PAD]", "<unk>": "[UNK]", "<mask>": "[MASK]"}
        vocab = {renamed.get(word, word): id for word, id in model["vocab"].items()}
        merges = [each if isinstance(each, str) else " ".join(each) for each in model["merges"]]
        (folder / "vocab.json").write_text(json.dumps(vocab))
        (folder / "merges.txt").write_text("\n".join(["#version: 0.2"] + merges) + "\n")
        (folder / "tokenizer_config.json").write_text('{"tokenizer_class": "DebertaTokenizer"}\n')
        return hf.DebertaTokenizer.from_pretrained(folder)
    if name == "esm":
        (folder / "vocab.txt").write_text("\n".join(ACIDS))
        made = hf.EsmTokenizer(str(folder / "vocab.txt"))
        made.save_pretrained(folder)
        return made
    text = gzip.open(HERE.parent / f"text/goldens/{name}.json.gz", "rt", encoding="utf-8").read()
    if case == "ended":
        end = json.loads(text)["added_tokens"][0]
        text = json.dumps({**json.loads(text), "post_processor": {
            "type": "TemplateProcessing", "single": [{"Sequence": {"id": "A", "type_id": 0}}, {
                "SpecialToken": {"id": end["content"], "type_id": 0}}], "pair": [],
            "special_tokens": {end["content"]: {"id": end["content"], "ids": [end["id"]], "tokens": [end["content"]]}}}})
    (folder / "tokenizer.json").write_text(text, encoding="utf-8")
    more = {"mask_token": "<mask>"} if name == "roberta" else {}
    if case == "windows":
        more["cls_token"] = "<s>"
    if case in ("prompt", "modules", "reranker", *LIMITS):
        more.update(sep_token="[SEP]", pad_token="[PAD]")
    if case in ("sequence", "pairs", "question", "reranker", "untyped"):
        types = [] if case == "untyped" else ["token_type_ids"]
        more["model_input_names"] = ["input_ids", *types, "attention_mask"]
    if case in LIMITS:
        more.update(model_max_length=LIMITS[case], truncation_side="left")
    (folder / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "PreTrainedTokenizerFast", **more}))
    made = hf.PreTrainedTokenizerFast(tokenizer_file=str(folder / "tokenizer.json"), **more)
    made.pad_token_id = 0
    return made


def best(scores, count):
    order = sorted(range(len(scores)), key=lambda i: -float(scores[i]))[:count]
    return [(i, float(scores[i])) for i in order]


def sigmoid_or_softmax(config, logits):
    many = config.problem_type == "multi_label_classification"
    return (torch.sigmoid(logits) if many else torch.softmax(logits, -1)), many


def of_labels(model, row, *_):
    scores, many = sigmoid_or_softmax(model.config, row["logits"])
    names = model.config.id2label
    listed = [{"label": names[i], "score": score} for i, score in best(scores, len(scores))]
    return {"labels": [each for each in listed if each["score"] >= 0.5]} if many else listed[0]


def byte_places(text, begin, end):
    return len(text[:begin].encode()), len(text[:end].encode())


def of_tokens(model, row, encoding, text, _):
    scores = torch.softmax(row["logits"], -1)
    found = []
    for i, (begin, end) in enumerate(encoding.offsets[:len(scores)]):
        if encoding.special_tokens_mask[i]:
            continue
        number, score = best(scores[i], 1)[0]
        first, last = byte_places(text, begin, end)
        found.append({"begin": first, "end": last, "text": text[begin:end], "label": model.config.id2label[number],
                      "score": score})
    return {"tokens": found}


def of_masks(model, row, encoding, text, tokenizer):
    scores = torch.softmax(row["logits"], -1)
    found = []
    for i, token in enumerate(encoding.ids[:len(scores)]):
        if token != tokenizer.mask_token_id:
            continue
        begin, end = byte_places(text, *encoding.offsets[i])
        found.append({"begin": begin, "end": end, "text": text[slice(*encoding.offsets[i])], "tokens": [
            {"token": tokenizer.decode([each]), "id": each, "score": score} for each, score in best(scores[i], 5)]})
    return {"masks": found}


def of_next(model, row, encoding, text, tokenizer):
    scores = torch.softmax(row["logits"], -1)
    return {"next": [{"token": tokenizer.decode([each]), "id": each, "score": score} for each, score in best(scores, 5)]}


def of_span(model, row, encoding, context, tokenizer):
    kept = torch.tensor([each == 1 for each in encoding.sequence_ids[:len(row["start_logits"])]])
    none = torch.tensor([each == tokenizer.cls_token_id for each in encoding.ids[:len(kept)]]) # there is no answer
    begins, ends = (torch.softmax(row[name].masked_fill(~kept & ~none, -torch.inf), 0).masked_fill(none, 0)
                    for name in ("start_logits", "end_logits"))
    products = torch.triu(begins[:, None] * ends[None, :]).tril(14)
    first, last = divmod(int(products.argmax()), len(ends))
    begin, end = encoding.offsets[first][0], encoding.offsets[last][1]
    places = byte_places(context, begin, end)
    return {"answer": context[begin:end], "score": float(products.max()), "begin": places[0], "end": places[1]}


def of_embedding(model, row, *_):
    return {"embedding": row["sentence_embedding"].tolist()}


ANSWERS = {"sequence": of_labels, "ended": of_labels, "pairs": of_labels, "disentangled": of_labels, "entailment": of_labels, "many": of_labels, "token": of_tokens, "masked": of_masks,
           "question": of_span, "windows": of_span, **{name: of_next for name in CASES if name.startswith("next")}, "sentence": of_embedding, "modern": of_embedding}


def sentence_modules(folder):
    kind = "sentence_transformers.models."
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling/config.json").write_text(json.dumps(
        {"word_embedding_dimension": WIDTH, "pooling_mode_mean_tokens": True}))
    parts = [("", "Transformer"), ("1_Pooling", "Pooling"), ("2_Normalize", "Normalize")]
    (folder / "modules.json").write_text(json.dumps(
        [{"idx": i, "name": str(i), "path": path, "type": kind + word} for i, (path, word) in enumerate(parts)]))
    (folder / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": MOST, "do_lower_case": False}))


PROMPT = "Represent this, naïvely: "


def sentence_prompt(folder):
    """A default prompt, whose rows the pooling leaves out."""
    (folder / "config_sentence_transformers.json").write_text(json.dumps(
        {"prompts": {"query": PROMPT, "document": ""}, "default_prompt_name": "query", "similarity_fn_name": "euclidean"}))
    config = folder / "1_Pooling/config.json"
    config.write_text(json.dumps({**json.loads(config.read_text()), "include_prompt": False}))


def write_prompt(folder, tokenizer, texts):
    """Answers, lengths and embeddings as sentence-transformers' encode() gives them."""
    from sentence_transformers import SentenceTransformer
    model = SentenceTransformer(str(folder), device="cpu", model_kwargs={"dtype": torch.float32})
    rows = [model.encode(text).tolist() for text in texts]
    wholes = [len(tokenizer(PROMPT + text)["input_ids"]) for text in texts]
    answers = [{"embedding": row, **({"truncated": True} if whole > MOST else {})} for row, whole in zip(rows, wholes)]
    (folder / "answers.jsonl").write_text("".join(json.dumps(each) + "\n" for each in answers))
    np.save(folder / "out_sentence_embedding.npy", np.array(rows, np.float32))
    np.save(folder / "lengths.npy", np.array([min(MOST, whole) for whole in wholes], np.int32))
    (folder / "texts.txt").write_text("\n".join(texts) + "\n", encoding="utf-8")


MODULES_PROMPTS = {"query": "find, naïvely: ", "passage": "text: ", "clear": ""}
QUERIES, KEPT = 3, 8  # texts that are queries, too; numbers of an embedding that are kept


def write_answers(folder, tokenizer, texts, pairs, answers):
    """Answers and lengths; the last ones of texts that are too long are cut."""
    most = LIMITS.get(folder.name, MOST)
    wholes = [len(tokenizer(*each)["input_ids"]) for each in (zip(texts, pairs) if pairs else zip(texts))]
    answers = [{**each, **({"truncated": True} if whole > most else {})} for each, whole in zip(answers, wholes)]
    (folder / "answers.jsonl").write_text("".join(json.dumps(each) + "\n" for each in answers))
    np.save(folder / "lengths.npy", np.array([min(most, whole) for whole in wholes], np.int32))
    lines = [text + ("\t" + pairs[i] if pairs else "") for i, text in enumerate(texts)]
    (folder / "texts.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    for name in ("README.md", "generation_config.json"):
        (folder / name).unlink(missing_ok=True)


def write_limited(folder, tokenizer, texts):
    """A folder as sentence-transformers saves it, with a limit in tokenizer_config.json alone."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.base.modules import Transformer
    from sentence_transformers.sentence_transformer.modules import Pooling
    parts = [Transformer(str(folder), model_kwargs={"dtype": torch.float32}), Pooling(WIDTH, "mean")]
    model = SentenceTransformer(modules=parts, device="cpu").eval()
    model.save(str(folder), create_model_card=False)
    rows = model.encode(texts, batch_size=1)
    np.save(folder / "out_sentence_embedding.npy", rows)
    write_answers(folder, tokenizer, texts, None, [{"embedding": row} for row in rows.tolist()])


def write_modules(folder, tokenizer, texts, generator):
    """A folder as sentence-transformers saves it, with prompts and modules of each kind."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.base.modules import Dense, Normalize, Transformer
    from sentence_transformers.sentence_transformer.modules import LayerNorm, Pooling
    parts = [Transformer(str(folder), model_kwargs={"dtype": torch.float32}),
             Pooling(WIDTH, ("weightedmean", "lasttoken"), include_prompt=False),
             Dense(2 * WIDTH, WIDTH, activation_function=torch.nn.GELU()), LayerNorm(WIDTH), Normalize()]
    for part in parts[2:4]:
        goldens.fill(part, generator)
    parts[0].max_seq_length = MOST
    model = SentenceTransformer(modules=parts, prompts=MODULES_PROMPTS, device="cpu").eval()
    model.save(str(folder), create_model_card=False)
    rows = model.encode(texts, batch_size=1)
    np.save(folder / "out_sentence_embedding.npy", rows)
    queries, kept = model.encode(texts, prompt_name="query", batch_size=1), dict(truncate_dim=KEPT, batch_size=1)
    np.save(folder / "query.npy", queries)
    np.save(folder / "kept.npy", model.encode(texts, normalize_embeddings=True, **kept))
    # encode_document would take "document", which sentence-transformers adds as an empty prompt.
    passages = model.encode(texts, prompt_name="passage", batch_size=1)
    np.save(folder / "ranked.npy", model.encode_query(texts[:QUERIES], batch_size=1) @ passages.T)
    write_answers(folder, tokenizer, texts, None, [{"embedding": row} for row in rows.tolist()])
    assert model.prompts == {"document": "", **MODULES_PROMPTS}
    settings = json.loads((folder / "config_sentence_transformers.json").read_text())
    (folder / "config_sentence_transformers.json").write_text(json.dumps({**settings, "prompts": MODULES_PROMPTS}))


def write_reranker(folder, tokenizer, texts, pairs):
    """A cross-encoder as sentence-transformers saves it, whose scores are logits."""
    from sentence_transformers import CrossEncoder
    most = None if folder.name in LIMITS else MOST
    model = CrossEncoder(str(folder), device="cpu", activation_fn=torch.nn.Identity(), max_length=most,
                         model_kwargs={"dtype": torch.float32})
    model.save_pretrained(str(folder))
    scores = model.predict(list(zip(texts, pairs)), batch_size=1)
    np.save(folder / "out_logits.npy", scores)
    queries = [text for text in texts if text][:QUERIES]
    if most:
        np.save(folder / "ranked.npy", np.stack([model.predict([(query, pair) for pair in pairs], batch_size=1)
                                                 for query in queries]))
    names = model.model.config.id2label
    write_answers(folder, tokenizer, texts, pairs, [{"label": names[0], "score": float(score)} for score in scores])


def outputs_of(name, class_name, result, length):
    """The outputs of one text by itself."""
    found = {key: result[key][0].float() for key in sorted(goldens.HIDDEN_ONLY & set(result.keys()))}
    if "LMHead" in class_name or "CausalLM" in class_name:
        found["logits"] = found["logits"][length - 1]
    if name in SENTENCES:
        mean = found["last_hidden_state"].mean(0)
        found = {"sentence_embedding": mean / mean.norm()}
    return found


def stride_of(tokenizer, question, stride):
    if stride is not None:
        return stride
    used = len(tokenizer(question, add_special_tokens=False)["input_ids"]) + tokenizer.num_special_tokens_to_add(pair=True)
    return min(128, (MOST - used) // 2)


def encodings_of(name, tokenizer, text, pair, stride=None):
    """The calls that a text takes: one, or windows over the pair of a question."""
    if not tokenizer.is_fast:
        ids = tokenizer(text, truncation=True, max_length=MOST)["input_ids"]
        return [SimpleNamespace(ids=ids)]
    if name not in STRIDES:
        return tokenizer(text, pair, truncation=True, max_length=MOST).encodings
    stride = stride_of(tokenizer, text, stride)
    return tokenizer(text, pair, truncation="only_second", max_length=MOST, stride=stride,
                     return_overflowing_tokens=True).encodings


def row_of(name, class_name, model, encoding):
    inputs = {"input_ids": torch.tensor([encoding.ids])}
    if getattr(model.config, "type_vocab_size", 0) > 1 and name != "sentence":
        inputs["token_type_ids"] = torch.tensor([encoding.type_ids])
    with torch.no_grad():
        return outputs_of(name, class_name, model(**inputs), len(encoding.ids))


def answer_of(name, model, tokenizer, text, pair, calls):
    source = text if ANSWERS[name] is not of_span else pair
    found = [ANSWERS[name](model, row, encoding, source, tokenizer) for encoding, row in calls]
    if name in STRIDES:
        return max(found, key=lambda each: each["score"])
    whole = tokenizer(text, pair)["input_ids"]
    return {**found[0], **({"truncated": True} if len(whole) > MOST else {})}


def write(name):
    class_name, settings, tokenizer_name, texts, pairs = CASES[name]
    folder = HERE / "texts" / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    generator = torch.Generator().manual_seed(zlib.crc32(name.encode()))
    tokenizer = tokenizer_of(folder, tokenizer_name, name)
    model_class = getattr(hf, class_name)
    model = model_class(model_class.config_class(**{**settings, "vocab_size": len(tokenizer)}))
    goldens.fill(model, generator)
    model.half().save_pretrained(folder)
    model = model_class.from_pretrained(folder, dtype=torch.float32).eval()
    if name in SENTENCES or name == "prompt":
        sentence_modules(folder)
    if name == "prompt":
        sentence_prompt(folder)
        return write_prompt(folder, tokenizer, texts)
    if name == "modules":
        return write_modules(folder, tokenizer, texts, generator)
    if name == "limited":
        return write_limited(folder, tokenizer, texts)
    if name in ("reranker", "untyped"):
        return write_reranker(folder, tokenizer, texts, pairs)
    rows, numbers = [], []
    for stride in STRIDES.get(name, [None]):
        answers = []
        for i, text in enumerate(texts):
            pair = pairs[i] if pairs else None
            calls = [(each, row_of(name, class_name, model, each))
                     for each in encodings_of(name, tokenizer, text, pair, stride)]
            if stride is None:
                rows += [(len(encoding.ids), row) for encoding, row in calls]
                numbers += [i] * len(calls)
            if name in ANSWERS:
                answers.append(answer_of(name, model, tokenizer, text, pair, calls))
        file = "answers.jsonl" if stride is None else f"answers_{stride}.jsonl"
        if answers:
            (folder / file).write_text("".join(json.dumps(each) + "\n" for each in answers))
    longest = max(length for length, _ in rows)
    for key in rows[0][1]:
        values = np.zeros((len(rows), *[longest if n == rows[0][0] and a == 0 and key != "pooler_output" else n
                                        for a, n in enumerate(rows[0][1][key].shape)]), np.float32)
        for i, (_, row) in enumerate(rows):
            each = row[key].numpy()
            values[i][tuple(slice(0, n) for n in each.shape)] = each
        np.save(folder / f"out_{key}.npy", values)
    np.save(folder / "lengths.npy", np.array([length for length, _ in rows], np.int32))
    if name in STRIDES:
        np.save(folder / "texts.npy", np.array(numbers, np.int32))
    lines = [text + ("\t" + pairs[i] if pairs else "") for i, text in enumerate(texts)]
    (folder / "texts.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (folder / "generation_config.json").unlink(missing_ok=True)


def of_fits(tokenizer, texts):
    return [text for text in texts if text and len(tokenizer(text)["input_ids"]) <= MOST]


# The pipeline cuts only the text, so that all of a label is there.
LONG = "the cat sat on the mat. " * 9


def write_pipelines():
    """pipeline.json: what transformers' own pipelines say of tokens, masks and labels that come with the call."""
    def write_json(name, made):
        lines = ",\n".join(json.dumps(each, default=float) for each in made)
        (HERE / "texts" / name / "pipeline.json").write_text(f"[{lines}]\n")

    tags, fills, follows = (hf.pipeline(task, str(HERE / "texts" / name), dtype=torch.float32) for task, name in (
        ("token-classification", "token"), ("fill-mask", "masked"), ("zero-shot-classification", "entailment")))
    tags.model.config.id2label[0] = "B-Y"  # every token has it; labels O would be left out
    write_json("token", [{"text": text, "strategy": strategy, "found": tags(text, aggregation_strategy=strategy)}
                         for strategy in ("none", "simple", "first", "average", "max")
                         for text in of_fits(tags.tokenizer, TEXTS)])
    write_json("masked", [{"text": text, "found": fills(text, top_k=3)} for text in CASES["masked"][3][:3]])
    follows.tokenizer.pad_token, follows.tokenizer.model_max_length = "[PAD]", MOST
    write_json("entailment", [
        {"text": text, "labels": labels, "multi_label": multi, "template": template, "found": [*zip(said["labels"], said["scores"])]}
        for text in (TEXTS[0], TEXTS[1], TEXTS[5], LONG) for labels in (["dogs", "one"], "x, naïve,is it") for multi in (False, True)
        for template in ("{}?", "It is {}.", *["one and two and three and four and {}."] * (text == LONG))
        for said in [follows(text, candidate_labels=labels, multi_label=multi, hypothesis_template=template)]])


def compare_pipeline():
    # It adds up the scores of equal answers in several windows, which are then no probabilities.
    hf.QuestionAnsweringPipeline.get_answer = lambda *_: None
    for name in ("question", "windows"):
        folder = HERE / "texts" / name
        asks = hf.pipeline("question-answering", str(folder), dtype=torch.float32)
        for stride in STRIDES[name]:
            lines = (folder / ("answers.jsonl" if stride is None else f"answers_{stride}.jsonl")).read_text().splitlines()
            for line, question, context in zip(lines, *CASES[name][3:]):
                want = asks(question=question, context=context, max_seq_len=MOST, align_to_words=False,
                            doc_stride=stride_of(asks.tokenizer, question, stride))
                got = json.loads(line)
                assert want["answer"] == got["answer"] and abs(want["score"] - got["score"]) < 1e-6, (want, got)
                assert byte_places(context, want["start"], want["end"]) == (got["begin"], got["end"]), (want, got)
        made = []
        for question, context in zip(*CASES[name][3:]):
            made.append([])
            for each in asks(question=question, context=context, max_seq_len=MOST, align_to_words=False, top_k=5,
                             handle_impossible_answer=True, doc_stride=stride_of(asks.tokenizer, question, None)):
                if each["score"] > 0 and (each["start"], each["end"]) not in [(a["start"], a["end"]) for a in made[-1]]:
                    made[-1].append(each) # windows share places
        (folder / "pipeline.json").write_text("[" + ",\n".join(json.dumps(each) for each in made) + "]\n")
        print(name)


def main():
    if sys.argv[1:] == ["--pipeline"]:
        return compare_pipeline()
    if sys.argv[1:] == ["--pipelines"]:
        return write_pipelines()
    torch.manual_seed(0)
    for name in sys.argv[1:] or CASES:
        write(name)
        print(name)


if __name__ == "__main__":
    main()
