#!/usr/bin/env python3
"""Makes the folders of tests/hf/translations: small random encoders with decoders and tokenizers, and the texts that
transformers writes for sources.

    config.json, model.safetensors, ...   the checkpoint, weights as float16, and the tokenizer's files
    answers.jsonl                         a line for each call: options (in transformers' words), languages, prefix,
                                          sources, and for each source the answers, the best first: ids, text, score
    adapters/NAME, adapters.jsonl         LoRA adapters, and such lines with one: adapter

    translations.py            writes all cases
    translations.py CASE ...   only these
    translations.py --check    compares, and writes nothing

Each source is answered by itself, since padding would be computed, too. A case's seed is the first whose answers stay the
same with weights that differ by NOISE, which is far more than the errors of float32, and of which some end by themselves.
Tokenizers are those of tests/text. Run with Python 3.11, torch 2.15.0, transformers 5.24.0, tokenizers 0.23.3,
sentencepiece 0.2.3, protobuf, safetensors 0.8.0, peft 0.21.2.
"""

import json
import shutil
import sys
import tempfile
import warnings
from pathlib import Path

import tokenizers
import torch
import transformers as hf

import goldens

warnings.filterwarnings("ignore")
hf.logging.set_verbosity_error()
hf.utils.logging.disable_progress_bar()
torch.set_num_threads(1)

HERE = Path(__file__).resolve().parent / "translations"
TEXT = HERE.parent.parent / "text"
NOISE = 1e-5
WIDTH = 16
SOURCES = ["the cat sat on the mat", "a dog and a cat, twice!", "where is the station?", "x",
           "one two three four five six seven one two three", "Zürich — naïve café"]
SIZES = {"d_model": WIDTH, "encoder_layers": 1, "decoder_layers": 2, "encoder_ffn_dim": 24, "decoder_ffn_dim": 16,
         "encoder_attention_heads": 4, "decoder_attention_heads": 2, "max_position_embeddings": 64}
T5 = {"d_model": WIDTH, "d_kv": 6, "d_ff": 24, "num_layers": 2, "num_heads": 2, "relative_attention_num_buckets": 8,
      "decoder_start_token_id": 0, "pad_token_id": 0, "eos_token_id": 1}
GATED = {**T5, "feed_forward_proj": "gated-gelu", "tie_word_embeddings": False}
GREEDY, BEAMS = {"num_beams": 1}, {"num_beams": 3, "num_return_sequences": 2}
NLLB = ["eng_Latn", "fra_Latn", "rus_Cyrl", "zul_Latn"]
ALIKE = {"max_length": 24}


def pieces(name, **config):
    """The files of tests/text/pieces."""
    return lambda folder: save(folder, {"tokenizer_class": name, **config}, {
        "spiece.model": TEXT / f"pieces/{name}.model"})


def languages(name):
    """The files of tests/text/languages."""
    def make(folder):
        for file in (TEXT / "languages" / name).iterdir():
            if file.name != "cases.json":
                shutil.copyfile(file, folder / file.name)
    return make


def bytes_of(folder):
    """BART's pairs of bytes, as older folders have them."""
    made = tokenizers.ByteLevelBPETokenizer()
    made.train_from_iterator(SOURCES * 3, vocab_size=300, min_frequency=2, show_progress=False,
                             special_tokens=["<s>", "<pad>", "</s>", "<unk>", "<mask>"])
    made.save_model(str(folder))
    save(folder, {"tokenizer_class": "BartTokenizer"}, {})


def save(folder, config, files):
    for name, path in files.items():
        shutil.copyfile(path, folder / name)
    (folder / "tokenizer_config.json").write_text(json.dumps(config) + "\n")


# case: class, configuration, tokenizer, generation_config.json, calls: options, languages and prefix
CASES = {
    "t5": ("T5ForConditionalGeneration", T5, pieces("T5Tokenizer"), ALIKE,
           [(GREEDY, {"prefix": "translate the cat: "}), ({"num_beams": 4}, {}), ({**BEAMS, "length_penalty": 0.6}, {})]),
    "mt5": ("MT5ForConditionalGeneration", GATED, pieces("T5Tokenizer", extra_ids=3), {**ALIKE, "num_beams": 2},
            [({}, {}), (GREEDY, {}), ({**BEAMS, "no_repeat_ngram_size": 2}, {"prefix": "x "})]),
    "bart": ("BartForConditionalGeneration", {**SIZES, "forced_eos_token_id": None}, bytes_of,
             {"num_beams": 4, "early_stopping": True, "length_penalty": 2.0, "min_length": 6, "max_length": 20,
              "no_repeat_ngram_size": 3, "forced_bos_token_id": 0, "forced_eos_token_id": 2}, [({}, {}), (GREEDY, {})]),
    "mbart": ("MBartForConditionalGeneration", {**SIZES, "scale_embedding": True}, languages("mbart"),
              {"num_beams": 5, "max_length": 20, "forced_eos_token_id": 2},
              [({}, {"target": "ro_RO"}), (GREEDY, {"source": "de_DE", "target": "en_XX"})]),
    "mbart_50": ("MBartForConditionalGeneration", {**SIZES, "scale_embedding": True, "activation_function": "relu"},
                 languages("mbart_50"),
                 {"num_beams": 5, "max_length": 20, "early_stopping": True, "forced_eos_token_id": 2,
                  "decoder_start_token_id": 2},
                 [({}, {"source": "de_DE", "target": "fr_XX"}), (GREEDY, {"target": "sl_SI"})]),
    "pegasus": ("PegasusForConditionalGeneration",
                {**SIZES, "scale_embedding": True, "activation_function": "relu", "pad_token_id": 0, "eos_token_id": 1,
                 "decoder_start_token_id": 0}, pieces("PegasusTokenizer"),
                {"num_beams": 8, "length_penalty": 0.8, "max_length": 16, "forced_eos_token_id": 1},
                [({}, {}), (GREEDY, {"prefix": "the "})]),
    "marian": ("MarianMTModel", {**SIZES, "scale_embedding": True, "activation_function": "swish"}, languages("marian"),
               {"num_beams": 6, "max_length": 24, "renormalize_logits": True, "no_repeat_ngram_size": 2},
               [({}, {"target": "fra"}), (GREEDY, {}), (BEAMS, {"target": "deu"})]),
    "marian_separate": ("MarianMTModel", {**SIZES, "scale_embedding": True, "activation_function": "swish",
                                          "share_encoder_decoder_embeddings": False, "tie_word_embeddings": False},
                        languages("marian_separate"), {"num_beams": 2, "max_length": 24, "no_repeat_ngram_size": 2,
                                                       "bad_words_ids": [[58], [81]]},
                        [({}, {}), (GREEDY, {})]),
    "umt5": ("UMT5ForConditionalGeneration", T5, pieces("T5Tokenizer", extra_ids=3), {**ALIKE, "no_repeat_ngram_size": 2},
             [(GREEDY, {}), (BEAMS, {})]),
    "m2m_100": ("M2M100ForConditionalGeneration",
                {**SIZES, "scale_embedding": True, "decoder_start_token_id": 2, "forced_eos_token_id": None},
                languages("m2m_100"), {"num_beams": 5, "max_length": 20, "early_stopping": True, "no_repeat_ngram_size": 2},
                [({}, {"source": "en", "target": "fr"}), (GREEDY, {"target": "zu"})]),
    "nllb": ("M2M100ForConditionalGeneration",
             {**SIZES, "scale_embedding": True, "decoder_start_token_id": 2, "forced_eos_token_id": None},
             languages("nllb"), {"max_length": 20, "no_repeat_ngram_size": 2},
             [({}, {"target": "fra_Latn"}), ({"num_beams": 4}, {"source": "zul_Latn", "target": "rus_Cyrl"})]),
}


# case: adapters by name, with options of PEFT's LoraConfig
ADAPTERS = {"t5": {"sql": {"r": 4, "lora_alpha": 8, "target_modules": ["q", "v"]},
                   "tone": {"r": 9, "lora_alpha": 9, "target_modules": "all-linear", "rank_pattern": {"EncDecAttention.k": 3}}}}


def settings_of(name, tokenizer, settings):
    """The configuration with the numbers of the tokenizer's tokens."""
    size = max(tokenizer.get_vocab().values()) + 1
    if name.startswith("marian"):
        written = len(tokenizer.target_encoder if tokenizer.separate_vocabs else tokenizer.encoder)
        return {**settings, "vocab_size": len(tokenizer.encoder), "decoder_vocab_size": written, "eos_token_id": 0,
                "pad_token_id": tokenizer.pad_token_id, "decoder_start_token_id": written - 1, "forced_eos_token_id": 0}
    if name == "mbart":
        settings = {**settings, "decoder_start_token_id": tokenizer.convert_tokens_to_ids("ro_RO")}
    return {**settings, "vocab_size": size + 4}


def fill(model, generator):
    """Weights with which a token does not repeat itself: small embeddings, large layers, logits far apart. The end's
    logits are larger, so that some answers end."""
    goldens.fill(model, generator)
    stack = model.decoder if hasattr(model, "decoder") else model.model.decoder
    last = getattr(stack, "final_layer_norm", None) or getattr(stack, "layer_norm", None) or stack.layers[-1].final_layer_norm
    head = model.get_output_embeddings().weight
    with torch.no_grad():
        for name, values in model.named_parameters():
            if values.dim() > 1:
                values.mul_(0.6 if "shared" in name or "lm_head" in name else 2)
        head[model.config.eos_token_id] *= 2
        last.weight.mul_(4 if "MT5" in type(model).__name__ else 12)
        if "Marian" in type(model).__name__:
            for table in (model.model.encoder.embed_tokens, model.model.decoder.embed_tokens):
                table.weight[model.config.pad_token_id] = 0
        if "M2M" in type(model).__name__:
            model.model.shared.weight[1] = 0


def first_of(name, tokenizer, target):
    """The options that say the language to write."""
    token = tokenizer.convert_tokens_to_ids(f"__{target}__" if name == "m2m_100" else target)
    return {"decoder_start_token_id" if name == "mbart" else "forced_bos_token_id": token}


def answer(model, tokenizer, name, options, words):
    options = dict(options)
    prefix, target = words.get("prefix", ""), words.get("target")
    if words.get("source"):
        tokenizer.src_lang = words["source"]
    elif hasattr(tokenizer, "src_lang"):
        tokenizer.src_lang = hf.AutoTokenizer.from_pretrained(tokenizer.name_or_path).src_lang
    if target and name.startswith("marian"):
        prefix = f">>{target}<< " + prefix
    elif target:
        options |= first_of(name, tokenizer, target)
    rows = []
    for source in SOURCES:
        with torch.no_grad():
            made = model.generate(**tokenizer(prefix + source, return_tensors="pt"), output_scores=True,
                                  return_dict_in_generate=True, **options)
        row = []
        for i, ids in enumerate(made.sequences[:, 1:].tolist()):
            end = model.config.eos_token_id
            ids = ids[:ids.index(end) + 1] if end in ids else ids
            each = {"ids": ids, "text": tokenizer.decode(ids, skip_special_tokens=True)}
            if made.get("sequences_scores") is not None:
                each["score"] = round(made.sequences_scores[i].item(), 6)
            row.append(each)
        rows.append(row)
    return rows


def ids_of(calls):
    return [[each["ids"] for each in row] for rows in calls for row in rows]


def is_clear(model, tokenizer, name, case, found):
    """True if the answers stay the same with other weights."""
    own = {key: value.clone() for key, value in model.state_dict().items()}
    for seed in range(2):
        generator = torch.Generator().manual_seed(seed)
        with torch.no_grad():
            for values in model.parameters():
                values.mul_(1 + NOISE * torch.randn(values.shape, generator=generator))
        others = [answer(model, tokenizer, name, *call) for call in case[4]]
        model.load_state_dict(own)
        if ids_of(others) != ids_of(found):
            return False
    return True


def is_good(model, found):
    """True if some answers end by themselves and others do not, and they differ."""
    lists = ids_of(found)
    firsts = [row[0] for row in lists]
    longest = max(map(len, firsts))
    return len({tuple(ids) for ids in firsts}) > len(firsts) // 2 and 0 < sum(len(ids) < longest for ids in firsts) and \
        max(len(set(ids)) for ids in firsts) > 5


def write_adapters(name, folder, model_class, tokenizer, calls):
    """Adapters of a folder's model, and what it writes with each."""
    for seed in range(40):
        model = model_class.from_pretrained(folder, dtype=torch.float32).eval()
        adapted = goldens.beside(folder, model, ADAPTERS[name], torch.Generator().manual_seed(seed))
        lines = []
        for adapter in ADAPTERS[name]:
            adapted.set_adapter(adapter)
            found = [answer(model, tokenizer, name, *call) for call in calls]
            if not is_clear(model, tokenizer, name, CASES[name], found):
                break
            lines += [{"adapter": adapter, "options": options, **words, "sources": SOURCES, "answers": rows}
                      for (options, words), rows in zip(calls, found)]
        else:
            return write_lines(folder / "adapters.jsonl", lines)
    sys.exit(f"{name}: no adapters give clear answers")


def write_lines(path, lines):
    path.write_text("".join(json.dumps(each, ensure_ascii=False) + "\n" for each in lines))


def write(name, root):
    class_name, settings, make_tokenizer, stated, calls = CASES[name]
    folder = root / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    make_tokenizer(folder)
    model_class = getattr(hf, class_name)
    (folder / "config.json").write_text(json.dumps({"model_type": model_class.config_class.model_type}))
    tokenizer = (hf.T5Tokenizer if name == "umt5" else hf.AutoTokenizer).from_pretrained(folder)
    config = model_class.config_class(**settings_of(name, tokenizer, settings))
    for seed in range(40):
        model = model_class(config)
        fill(model, torch.Generator().manual_seed(seed))
        model.half().save_pretrained(folder)
        start = getattr(config, "decoder_start_token_id", None)
        hf.GenerationConfig(**{"decoder_start_token_id": start, "eos_token_id": config.eos_token_id,
                               "pad_token_id": config.pad_token_id, **stated}).save_pretrained(folder)
        model = model_class.from_pretrained(folder, dtype=torch.float32).eval()
        found = [answer(model, tokenizer, name, *call) for call in calls]
        if is_good(model, found) and is_clear(model, tokenizer, name, CASES[name], found):
            break
    else:
        sys.exit(name + ": no seed gives clear answers")
    lines = [{"options": options, **words, "sources": SOURCES, "answers": rows}
             for (options, words), rows in zip(calls, found)]
    write_lines(folder / "answers.jsonl", lines)
    if name in ADAPTERS:
        write_adapters(name, folder, model_class, tokenizer, calls)
    print(name, seed)


def main():
    is_check = sys.argv[1:2] == ["--check"]
    names = [each for each in sys.argv[1:] if each != "--check"] or CASES
    with tempfile.TemporaryDirectory() as other:
        for name in names:
            write(name, Path(other) if is_check else HERE)
            for file in ("answers.jsonl", "adapters.jsonl"):
                if is_check and (HERE / name / file).exists() and (
                        (Path(other) / name / file).read_text() != (HERE / name / file).read_text()):
                    sys.exit(f"{name}/{file} differs")


if __name__ == "__main__":
    main()
