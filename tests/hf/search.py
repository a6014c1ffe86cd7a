#!/usr/bin/env python3
"""Makes the checkpoint folders of tests/hf/search: small random models for searching, texts, and what
sentence-transformers' SparseEncoder, PyLate and the rules of FlagEmbedding make of them.

    config.json, model.safetensors, ...    the checkpoint
    texts.txt                              a text a line
    weights.jsonl                          lexical weights of each text, [token, weight], the largest first
    out_NAME.npy, vectors.npy              arrays of all texts as documents; the vectors of each
    queries.npy                            vectors of tokens of all texts as queries
    query_weights.npy                      lexical weights of all texts as queries
    scores.npy                             [queries][texts]: what --query gives for the texts as queries
    lexical_scores.npy                     the same of lexical weights

    search.py            writes all cases
    search.py CASE ...   only these

Run with Python 3.11, torch 2.15.0, transformers 5.24.0, numpy 2.4.6, safetensors 0.8.0, sentence-transformers 6.2.0;
the cases of ColBERT with PyLate (1f1f47c) and sentence-transformers 5.3.0.
"""

import json
import shutil
import sys
from pathlib import Path

import numpy as np
import torch
import transformers as hf
from safetensors.torch import load_file, save_file

import goldens

HERE = Path(__file__).resolve().parent
WORDS = ("[PAD] [UNK] [CLS] [SEP] [MASK] [unused0] [unused1] a b the cat dog sat on mat ##s ##ing run play . , ! ? hello "
         "world red blue and - '").split()
TEXTS = ["the cat sat on the mat.", "dog runs, hello world!", "a", "hello - cat and dog sat . ! on a mat run play red blue "
         "the the the the blue cat", "playing cats ?", "the naïve dog"]
WIDTH, DIM, QUERY, DOCUMENT, MOST = goldens.WIDTH, 16, 12, 20, 40
BERT = {"vocab_size": len(WORDS), "hidden_size": WIDTH, "num_hidden_layers": 2, "num_attention_heads": 4,
        "intermediate_size": WIDTH, "max_position_embeddings": MOST, "layer_norm_eps": 1e-6}


def save(folder, class_name, settings, generator):
    model_class = getattr(hf, class_name)
    model = model_class(model_class.config_class(**settings))
    goldens.fill(model, generator)
    model.half().save_pretrained(folder)
    (folder / "vocab.txt").write_text("\n".join(WORDS) + "\n")
    hf.BertTokenizer(str(folder / "vocab.txt")).save_pretrained(folder)
    (folder / "vocab.txt").unlink()
    return model_class.from_pretrained(folder, dtype=torch.float32).eval()


def half(generator, *shape):
    return (0.3 * torch.randn(shape, generator=generator)).half()


def modules(folder, *list_):
    (folder / "modules.json").write_text(json.dumps(
        [{"idx": i, "name": str(i), "path": path, "type": kind} for i, (path, kind) in enumerate(list_)], indent=2) + "\n")


def padded(rows):
    most = max(len(row) for row in rows)
    return np.stack([np.pad(np.asarray(row, np.float32), ((0, most - len(row)), (0, 0))) for row in rows])


def best_sums(queries, texts, mean=False):
    """Late interaction: the best product of each vector of a query."""
    scores = [[(torch.tensor(q) @ torch.tensor(t).T).max(1).values.sum().item() / (len(q) if mean else 1) for t in texts]
              for q in queries]
    return np.array(scores, np.float32)


def write_weights(folder, weights):
    lines = [json.dumps(sorted(each, key=lambda pair: -pair[1]), ensure_ascii=False) + "\n" for each in weights]
    (folder / "weights.jsonl").write_text("".join(lines), encoding="utf-8")


def splade(folder, generator, activation="relu"):
    from sentence_transformers import SparseEncoder
    from sentence_transformers.base.modules import Transformer
    from sentence_transformers.sparse_encoder.modules import SpladePooling
    save(folder, "BertForMaskedLM", BERT, generator)
    parts = [Transformer(str(folder), transformer_task="fill-mask", model_kwargs={"dtype": torch.float32}),
             SpladePooling("max", activation_function=activation)]
    model = SparseEncoder(modules=parts, device="cpu", similarity_fn_name="dot" if activation == "relu" else None).eval()
    model.save_pretrained(str(folder), create_model_card=False)
    found = model.encode(TEXTS, batch_size=1, convert_to_tensor=True).to_dense()
    np.save(folder / "out_lexical_weights.npy", found.numpy())
    write_weights(folder, [[[token, weight] for token, weight in each] for each in model.decode(found.to_sparse())])
    np.save(folder / "scores.npy", model.similarity(found, found).to_dense().numpy())


def splade_twice(folder, generator):
    splade(folder, generator, "log1p_relu")


def splade_free(folder, generator):
    """Documents through a model, and queries through a table of weights, of which some are negative."""
    from sentence_transformers import SparseEncoder
    from sentence_transformers.base.modules import Router, Transformer
    from sentence_transformers.sparse_encoder.modules import SparseStaticEmbedding, SpladePooling
    save(folder, "BertForMaskedLM", BERT, generator)
    model = Transformer(str(folder), transformer_task="fill-mask", model_kwargs={"dtype": torch.float32})
    for path in folder.iterdir():
        path.unlink()
    table = SparseStaticEmbedding(model.tokenizer, weight=0.5 + half(generator, len(WORDS)).float())
    router = Router.for_query_document([table], [model, SpladePooling("max", activation_function="log1p_relu")])
    made = SparseEncoder(modules=[router], device="cpu", similarity_fn_name="dot", prompts={"query": "the - "}).eval()
    made.save_pretrained(str(folder), create_model_card=False)
    queries, texts = (encode(TEXTS, batch_size=1, convert_to_tensor=True).to_dense()
                      for encode in (made.encode_query, made.encode_document))
    np.save(folder / "out_lexical_weights.npy", texts.numpy())
    np.save(folder / "query_weights.npy", queries.numpy())
    write_weights(folder, [[[token, weight] for token, weight in each] for each in made.decode(texts.to_sparse())])
    np.save(folder / "scores.npy", (queries @ texts.T).numpy())


def bge_m3(folder, generator):
    """Three results of one call, by the rules of FlagEmbedding's BGEM3FlagModel."""
    model = save(folder, "XLMRobertaModel", {**BERT, "max_position_embeddings": MOST + 1, "type_vocab_size": 1,
                                             "pad_token_id": 0}, generator)
    kind = "sentence_transformers.models."
    modules(folder, ("", kind + "Transformer"), ("1_Pooling", kind + "Pooling"), ("2_Normalize", kind + "Normalize"))
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling/config.json").write_text(json.dumps(
        {"word_embedding_dimension": WIDTH, "pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}))
    (folder / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": MOST, "do_lower_case": False}))
    layers = {name: {"weight": half(generator, out, WIDTH), "bias": half(generator, out)}
              for name, out in (("sparse_linear", 1), ("colbert_linear", DIM))}
    layers["sparse_linear"]["bias"] += 0.5
    for name, layer in layers.items():
        torch.save(layer, folder / f"{name}.pt")
    torch.save(load_file(folder / "model.safetensors"), folder / "pytorch_model.bin")    # as it is published
    (folder / "model.safetensors").unlink()
    tokenizer = hf.AutoTokenizer.from_pretrained(folder)
    special = {tokenizer.cls_token_id, tokenizer.sep_token_id, tokenizer.pad_token_id, tokenizer.unk_token_id}
    dense, weights, vectors = [], [], []

    def of(name, states):
        return states @ layers[name]["weight"].float().T + layers[name]["bias"].float()

    for text in TEXTS:
        call = tokenizer(text, return_tensors="pt")
        with torch.no_grad():
            states = model(input_ids=call.input_ids, attention_mask=call.attention_mask).last_hidden_state[0]
        dense.append(torch.nn.functional.normalize(states[0], dim=0).numpy())
        found = {}
        for token, weight in zip(call.input_ids[0].tolist(), of("sparse_linear", states).relu()[:, 0].tolist()):
            if weight > 0 and token not in special:
                found[token] = max(found.get(token, 0), weight)
        weights.append(found)
        vectors.append(torch.nn.functional.normalize(of("colbert_linear", states[1:]), dim=1).numpy())
    np.save(folder / "out_sentence_embedding.npy", np.stack(dense))
    np.save(folder / "out_token_embeddings.npy", padded(vectors))
    np.save(folder / "vectors.npy", np.array([len(each) for each in vectors], np.int32))
    write_weights(folder, [[[tokenizer.convert_ids_to_tokens(i), weight] for i, weight in each.items()]
                           for each in weights])
    np.save(folder / "scores.npy", best_sums(vectors, vectors, True))
    np.save(folder / "lexical_scores.npy", np.array(
        [[sum(weight * text.get(i, 0) for i, weight in query.items()) for text in weights] for query in weights],
        np.float32))


def write_vectors(folder):
    """What PyLate makes of the texts."""
    from pylate.models import ColBERT
    model = ColBERT(str(folder), device="cpu", model_kwargs={"dtype": torch.float32}).float()
    queries = [np.array(each) for each in model.encode(TEXTS, is_query=True, batch_size=1)]
    texts = [np.array(each) for each in model.encode(TEXTS, is_query=False, batch_size=1)]
    np.save(folder / "queries.npy", padded(queries))
    np.save(folder / "out_token_embeddings.npy", padded(texts))
    np.save(folder / "vectors.npy", np.array([len(each) for each in texts], np.int32))
    np.save(folder / "scores.npy", best_sums(queries, texts))


def colbert(folder, generator, **settings):
    """A folder of PyLate."""
    save(folder, "BertModel", BERT, generator)
    modules(folder, ("", "sentence_transformers.models.Transformer"), ("1_Dense", "pylate.models.Dense.Dense"))
    (folder / "1_Dense").mkdir()
    (folder / "1_Dense/config.json").write_text(json.dumps({
        "in_features": WIDTH, "out_features": DIM, "bias": False, "use_residual": False,
        "activation_function": "torch.nn.modules.linear.Identity"}))
    save_file({"linear.weight": half(generator, DIM, WIDTH)}, folder / "1_Dense/model.safetensors")
    (folder / "sentence_bert_config.json").write_text(json.dumps(
        {"max_seq_length": QUERY - 1, "do_lower_case": False}))    # PyLate leaves that of its last call here
    (folder / "config_sentence_transformers.json").write_text(json.dumps({
        "prompts": {}, "default_prompt_name": None, "similarity_fn_name": "MaxSim", "query_prefix": "[unused0]",
        "document_prefix": "[unused1]", "query_length": QUERY, "document_length": DOCUMENT,
        "attend_to_expansion_tokens": False, "skiplist_words": list(",.!?-'"), **settings}))
    write_vectors(folder)


def colbert_attends(folder, generator):
    colbert(folder, generator, attend_to_expansion_tokens=True)


def colbert_plain(folder, generator):
    """Without markers, words to skip and expansion."""
    colbert(folder, generator, do_query_expansion=False, query_prefix="", document_prefix="", skiplist_words=[])


def stanford(folder, generator):
    """A folder in the format of Stanford's ColBERT."""
    save(folder, "BertModel", BERT, generator)
    tensors = load_file(folder / "model.safetensors")
    save_file({**{"bert." + name: value for name, value in tensors.items()}, "linear.weight": half(generator, DIM, WIDTH)},
              folder / "model.safetensors")
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "architectures": ["HF_ColBERT"]}, indent=2) + "\n")
    (folder / "artifact.metadata").write_text(json.dumps({
        "query_token_id": "[unused0]", "doc_token_id": "[unused1]", "query_token": "[Q]", "doc_token": "[D]",
        "query_maxlen": QUERY, "doc_maxlen": DOCUMENT, "attend_to_mask_tokens": False, "mask_punctuation": True, "dim": DIM,
        "similarity": "cosine", "checkpoint": "x", "rank": 0}))
    write_vectors(folder)


def multi_vector(folder, generator):
    """A folder of sentence-transformers' own models: prompts are texts, and the mean of a query's products is taken."""
    from sentence_transformers import MultiVectorEncoder
    from sentence_transformers.base.modules import Dense, Transformer
    from sentence_transformers.multi_vector_encoder.modules import MultiVectorMask
    save(folder, "BertModel", BERT, generator)
    model = Transformer(str(folder), model_kwargs={"dtype": torch.float32}, document_length=DOCUMENT, query_expansion={
        "strategy": "fixed", "attend": False, "length": QUERY})
    dense = Dense(WIDTH, DIM, bias=False, activation_function=torch.nn.Identity(), module_input_name="token_embeddings")
    dense.linear.weight.data = half(generator, DIM, WIDTH).float()
    made = MultiVectorEncoder(modules=[model, dense, MultiVectorMask([",", "none"])], device="cpu",
                              similarity_fn_name="meanmaxsim", prompts={"query": "a b - ", "document": "hello, "})
    made.save_pretrained(str(folder), create_model_card=False)
    queries, texts = ([each.numpy() for each in encode(TEXTS, batch_size=1, convert_to_numpy=False)]
                      for encode in (made.encode_query, made.encode_document))
    np.save(folder / "queries.npy", padded(queries))
    np.save(folder / "out_token_embeddings.npy", padded(texts))
    np.save(folder / "vectors.npy", np.array([len(each) for each in texts], np.int32))
    np.save(folder / "scores.npy", best_sums(queries, texts, True))


CASES = [splade, splade_twice, bge_m3, colbert, colbert_attends, colbert_plain, stanford, multi_vector, splade_free]


def main():
    for number, case in enumerate(CASES):
        if len(sys.argv) > 1 and case.__name__ not in sys.argv[1:]:
            continue
        folder = HERE / "search" / case.__name__
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        case(folder, torch.Generator().manual_seed(number))
        (folder / "texts.txt").write_text("\n".join(TEXTS) + "\n", encoding="utf-8")
        for name in ("README.md", "generation_config.json", "special_tokens_map.json"):
            (folder / name).unlink(missing_ok=True)
        print(case.__name__)


if __name__ == "__main__":
    main()
