#!/usr/bin/env python3
"""Makes the folders of tests/hf/speech: small models of Whisper's two layouts of tokens, and what transformers' `generate`
writes down of features with them.

    config.json, model.safetensors, generation_config.json, tokenizer.json, ..   as `save_pretrained` writes them; weights as
                             float16
    preprocessor_config.json as `save_pretrained` writes it: a window of a second has 40 rows
    short.npy, long.npy      features of a window and of several, [rows][mels]
    short.wav, long.wav      sounds of less than a window, and of several
    limits.json              of multilingual: keys that old folders have in generation_config.json, and the segments of
                             long.npy with these
    words.jsonl              the same for calls with times of words: each segment's tokens with their times, and its words with theirs
    speech.jsonl             a line for each call: the file or sound, the options of `generate`, its `--prompt`, and the segments:
                             their tokens and times; without timestamps: the tokens

Weights are drawn until small changes of the features change no token, and answers have what a test needs: several
segments, a window that ends with one timestamp, text after the last pair.

    speech.py            writes all cases
    speech.py CASE ...   only these
    speech.py limits     only limits.json, with the model that is there
    speech.py words      only words.jsonl, with the models that are there
    speech.py splits     prints the table of words in tests/c/test_speech.c

Run as captions.py.
"""

import gzip
import json
import shutil
import sys
import wave
import zlib
from pathlib import Path

import numpy as np
import torch
import transformers as hf
from tokenizers import Tokenizer

from transformers.models.whisper.tokenization_whisper import _combine_tokens_into_words

from goldens import fill, opened

HERE = Path(__file__).resolve().parent / "speech"
MELS, ROWS, TOKENS = 8, 40, 16
LETTERS = [chr(c) for c in range(ord("a"), ord("z") + 1)]
MERGES = [("\u0120", "a"), ("\u0120", "b"), ("t", "h"), ("th", "e"), ("\u0120", "the"), ("o", "n"), ("i", "n")]
SEEDS = {"multilingual": 24, "english": 67}  # where the search for clear models begins
RATE = 16000
LANGUAGES = ["en", "de", "haw", "yue"]


def words():
    """The vocabulary of texts, and the merges."""
    tokens = ["\u0120", *LETTERS, ".", *["".join(pair) for pair in MERGES]]
    return {token: i for i, token in enumerate(tokens)}


def layout(is_english):
    """The names of the special tokens in their order, and of timestamps."""
    languages = ["<|en|>"] if is_english else [f"<|{code}|>" for code in LANGUAGES]
    special = ["<|endoftext|>", "<|startoftranscript|>", *languages, "<|translate|>", "<|transcribe|>", "<|startoflm|>",
               "<|startofprev|>", "<|nospeech|>", "<|notimestamps|>"]
    return special, [f"<|{i * 0.02:.2f}|>" for i in range(ROWS // 2 + 1)]


def tokenizer(is_english):
    special, times = layout(is_english)
    made = hf.WhisperTokenizer(vocab=words(), merges=[tuple(pair) for pair in MERGES])
    made.add_tokens([hf.AddedToken(word, special=True, normalized=False) for word in special])
    made.add_tokens([hf.AddedToken(word, special=False, normalized=False) for word in times])
    return made


def model_of(name, is_english, seed):
    made = tokenizer(is_english)
    ids = made.convert_tokens_to_ids
    special, _ = layout(is_english)
    end, start, without = ids(special[0]), ids(special[1]), ids("<|notimestamps|>")
    config = hf.WhisperConfig(
        vocab_size=len(made), num_mel_bins=MELS, d_model=24, encoder_layers=1, decoder_layers=2,
        encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=32, decoder_ffn_dim=40,
        max_source_positions=ROWS // 2, max_target_positions=48, pad_token_id=end, bos_token_id=end, eos_token_id=end,
        decoder_start_token_id=start, begin_suppress_tokens=None)
    model = hf.WhisperForConditionalGeneration(config)
    fill(model, torch.Generator().manual_seed(zlib.crc32(name.encode()) + seed))
    with torch.no_grad():  # texts differ from window to window, and timestamps are rare without the rules
        model.model.decoder.embed_tokens.weight[without:] *= 0.7
        model.model.decoder.embed_positions.weight *= 2
        for layer in model.model.decoder.layers:
            layer.encoder_attn.out_proj.weight *= 6
            layer.self_attn.out_proj.weight *= 3
            layer.fc2.weight *= 4
    g = model.generation_config
    g.decoder_start_token_id, g.eos_token_id, g.pad_token_id, g.bos_token_id = start, end, end, end
    g.no_timestamps_token_id, g.prev_sot_token_id, g.max_initial_timestamp_index = without, ids("<|startofprev|>"), 5
    g.suppress_tokens = [3, 5, start, ids("<|translate|>"), ids("<|transcribe|>"), ids("<|startoflm|>"),
                         ids("<|startofprev|>"), ids("<|nospeech|>")]
    g.begin_suppress_tokens, g.is_multilingual, g.max_length = [0, end], not is_english, 48
    g.alignment_heads, g._from_model_config = [[0, 1], [1, 2]], False
    if not is_english:
        g.lang_to_id = {f"<|{code}|>": ids(f"<|{code}|>") for code in LANGUAGES}
        g.task_to_id = {task: ids(f"<|{task}|>") for task in ("transcribe", "translate")}
    return model.half(), made


# file, options of the program, of `generate`, and the text of the prompt
CALLS = [
    ("short", {}, {}, None),
    ("short", {"timestamps": True}, {}, None),
    ("short", {"beams": 3}, {"num_beams": 3}, None),
    ("short", {"beams": 3, "timestamps": True}, {"num_beams": 3}, None),
    ("short", {"timestamps": True}, {}, "on the in"),
    ("long", {}, {}, None),
    ("long", {"timestamps": True}, {}, "on the in"),
    ("short.wav", {}, {}, None),
    ("long.wav", {}, {}, None),
]
SPOKEN = [("short", {"language": "yue", "task": "translate"}), ("short", {"language": "de", "timestamps": True})]


def call(model, made, features, file, options, settings, prompt, is_english):
    """What `generate` writes down."""
    is_timed = options.get("timestamps", False) or file.startswith("long")
    more = dict(settings)
    if prompt:
        more["prompt_ids"] = torch.tensor(made.get_prompt_ids(prompt))
    if not is_english:
        more["task"] = options.get("task", "transcribe")
        if "language" in options:
            more["language"] = options["language"]
    found = model.generate(torch.tensor(features.T[None]), return_timestamps=is_timed, return_segments=True, do_sample=False,
                           temperature=0.0, condition_on_prev_tokens=True, max_new_tokens=TOKENS, **more)
    return [{"ids": [int(i) for i in each["tokens"]], "begin": round(float(each["start"]), 2),
             "end": round(float(each["end"]), 2)} for each in found["segments"][0]]


def features_of(prepare, samples):
    """The features of a sound: of a window with zeros behind it, of a longer one as a whole, before zeros."""
    if len(samples) <= RATE:
        return prepare(samples, sampling_rate=RATE, return_tensors="np").input_features[0].T
    padded = np.concatenate([samples, np.zeros(400, np.float32)])
    found = prepare(padded, sampling_rate=RATE, return_tensors="np", truncation=False, padding="longest").input_features[0]
    return found.T[:len(samples) // prepare.hop_length]


def write_sound(path, samples):
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1), file.setsampwidth(2), file.setframerate(RATE)
        file.writeframes((samples * 32768).astype(np.int16).tobytes())


def is_useful(lines, first, end):
    """True if the answers have what a test needs."""
    for line in lines:
        timed = line["options"].get("timestamps") or line["file"].startswith("long")
        if not line["segments"]:
            return False
        for each in line["segments"]:
            if not any(i < end for i in each["ids"]) or each["begin"] >= each["end"]:
                return False
            if not timed and any(i >= first for i in each["ids"]):
                return False
    long = [line for line in lines if line["file"] == "long"]
    kinds = {tuple(each["ids"]) for line in lines for each in line["segments"]}
    texts = {i for line in long for each in line["segments"] for i in each["ids"]}
    if not (all(len(line["segments"]) > 4 for line in long) and len(kinds) > 10 and len(texts) > 12):
        return False
    begins = [each["begin"] for each in long[0]["segments"]]
    return any(round(b / 0.4, 6) != round(b / 0.4) for b in begins)


def write(name):
    is_english, folder = name == "english", HERE / name
    prepare = hf.WhisperFeatureExtractor(feature_size=MELS, hop_length=400, chunk_length=1, n_fft=400)
    for seed in range(SEEDS[name], 400):
        model, made = model_of(name, is_english, seed)
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        model.save_pretrained(folder)
        made.save_pretrained(folder)
        prepare.save_pretrained(folder)
        model = opened(hf.WhisperForConditionalGeneration, folder)
        generator = torch.Generator().manual_seed(seed)
        sounds = {"short": torch.randn(ROWS, MELS, generator=generator).numpy(),
                  "long": torch.randn(3 * ROWS + 13, MELS, generator=generator).numpy()}
        for file, seconds in (("short.wav", 0.7), ("long.wav", 3.3)):
            samples = torch.randn(int(RATE * seconds), generator=generator).numpy()
            samples = np.cumsum(samples) % 7 - 3 if file == "long.wav" else samples  # not only noise
            samples = (samples * 3000).astype(np.int16).astype(np.float32) / 32768
            write_sound(folder / file, samples)
            sounds[file] = features_of(prepare, samples)
        calls = CALLS + ([] if is_english else [(file, options, {}, None) for file, options in SPOKEN])

        def lines(noise):
            list_ = []
            for file, options, settings, prompt in calls:
                features = sounds[file] + noise * np.random.default_rng(1).standard_normal(sounds[file].shape)
                list_.append({"file": file, "options": options, "prompt": prompt, "segments": call(
                    model, made, features.astype(np.float32), file, options, settings, prompt, is_english)})
            return list_

        probe = call(model, made, sounds["long"], "long", {}, {}, None, is_english)
        if len(probe) < 5 or len({i for each in probe for i in each["ids"]}) < 14:
            continue
        found = lines(0)
        first = model.generation_config.no_timestamps_token_id + 1
        if is_useful(found, first, model.generation_config.eos_token_id) and found == lines(1e-3) == lines(-1e-3):
            break
    else:
        sys.exit(f"{name}: no model is clear and has all kinds of answers")
    for file in ("short", "long"):
        np.save(folder / f"{file}.npy", sounds[file])
    (folder / "speech.jsonl").write_text("".join(json.dumps(line) + "\n" for line in found))
    print(name, "seed", seed, flush=True)


def write_limits():
    """What is left of a sound if windows that are improbable, and perhaps silence, are skipped, and tokens that
    have occurred are less probable."""
    folder = HERE / "multilingual"
    model, made = opened(hf.WhisperForConditionalGeneration, folder), hf.WhisperTokenizer.from_pretrained(folder)
    ids = made.convert_tokens_to_ids
    limits = {"compression_ratio_threshold": 1.5, "logprob_threshold": -1.8, "no_speech_threshold": 0.002,
              "repetition_penalty": 1.3}
    features, answers = np.load(folder / "long.npy"), []
    for settings in ({}, limits):
        for key, value in settings.items():
            setattr(model.generation_config, key, value)
        answers.append(call(model, made, features, "long", {"language": "de"},
                            {"return_dict_in_generate": True, "output_scores": True}, None, False))
    assert answers[0] != answers[1] and answers[1], "no window is skipped, or all are"
    limits["forced_decoder_ids"] = [[1, ids("<|de|>")], [2, ids("<|transcribe|>")]]
    (folder / "limits.json").write_text(json.dumps({"keys": limits, "segments": answers[1]}) + "\n")


WORDS = [("short", {}, None), ("short", {"beams": 3}, None), ("short", {}, "on the in"), ("long", {}, None),
         ("long.wav", {}, None)]


def words_of(made, segment, language):
    """The words of a segment as the pipeline finds them: a token's time is when it ends."""
    tokens, times = [int(i) for i in segment["tokens"]], [round(float(t), 2) for t in segment["token_timestamps"]]
    places = [i for i, token in enumerate(tokens) if token < made.eos_token_id]
    found, _, indices = _combine_tokens_into_words(made, [tokens[i] for i in places], language)
    list_ = [{"word": word, "begin": times[places[each[0]] - 1], "end": times[places[each[-1]]]}
             for word, each in zip(found, indices)]
    return {"ids": tokens, "begin": round(float(segment["start"]), 2), "end": round(float(segment["end"]), 2),
            "times": times, "words": list_}


def write_words(name):
    """Answers with the times of their tokens and words, which small changes of the features do not change."""
    folder, is_english = HERE / name, name == "english"
    model, made = opened(hf.WhisperForConditionalGeneration, folder), hf.WhisperTokenizer.from_pretrained(folder)
    prepare = hf.WhisperFeatureExtractor.from_pretrained(folder)
    sounds = {file: np.load(folder / f"{file}.npy") for file in ("short", "long")}
    with wave.open(str(folder / "long.wav")) as file:
        samples = np.frombuffer(file.readframes(file.getnframes()), np.int16).astype(np.float32) / 32768
    sounds["long.wav"] = features_of(prepare, samples)
    calls = WORDS + ([] if is_english else [("short", {"language": "yue"}, "on the in")])
    lines = []
    for file, options, prompt in calls:
        more = {"num_beams": options["beams"]} if "beams" in options else {}
        if prompt:
            more["prompt_ids"] = torch.tensor(made.get_prompt_ids(prompt))
        if not is_english:
            more |= {"task": "transcribe", "language": options.get("language", "de")}

        def answer(noise):
            features = sounds[file] + noise * np.random.default_rng(1).standard_normal(sounds[file].shape)
            found = model.generate(torch.tensor(features.T[None].astype(np.float32)), return_timestamps=True,
                                   return_segments=True, return_token_timestamps=True, do_sample=False, temperature=0.0,
                                   attention_mask=torch.ones(1, len(features), dtype=torch.long),
                                   condition_on_prev_tokens=True, max_new_tokens=TOKENS, **more)
            language = {"yue": "cantonese"}.get(options.get("language"), "english")
            return [words_of(made, each, language) for each in found["segments"][0]]

        segments = answer(0)
        print(name, file, options, "same times" if segments == answer(1e-4) == answer(-1e-4) else "times that noise changes")
        lines.append({"file": file, "options": options, "prompt": prompt, "segments": segments})
    (folder / "words.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))


SPLITS = [(False, " Hello, world (and \"you\")!"), (False, " well-known... it's 5 o'clock"), (False, "a - b -c"),
          (False, " \u00bfQu\u00e9? \u00a1S\u00ed!"), (True, "\u4f60\u597d\u3002\u201c\u4e16\u754c\u201d"),
          (False, "\u4f60\u597d"), (True, " a b"), (False, ""), (False, " 'x' [y] {z}"), (True, "\U0001f600\u0e01\u0e33!")]


def print_splits():
    """The words of texts, for the tokenizer of tests/text/goldens/gpt2.json."""
    class Decoder:
        file = HERE.parents[1] / "text/goldens/gpt2.json.gz"
        read = hf.PreTrainedTokenizerFast(tokenizer_object=Tokenizer.from_str(gzip.open(file, "rt").read()))
        eos_token_id = len(read)

        def decode(self, ids, decode_with_timestamps):
            return self.read.decode(ids, clean_up_tokenization_spaces=False)

    def literal(text):
        parts = ["\\%03o" % byte if byte > 126 or byte in b'"\\' else chr(byte) for byte in text.encode()]
        return '"%s"' % "".join(parts)

    for is_dense, text in SPLITS:
        ids = Decoder.read.encode(text, add_special_tokens=False)
        words, _, _ = _combine_tokens_into_words(Decoder(), ids, "chinese" if is_dense else "english")
        print("    {%d, %s, %s}," % (is_dense, literal(text), literal("|".join(words))))


if __name__ == "__main__":
    torch.set_num_threads(1)
    hf.logging.set_verbosity_error()
    if sys.argv[1:] == ["splits"]:
        sys.exit(print_splits())
    for each in sys.argv[1:] or ["multilingual", "english"]:
        if each not in ("limits", "words"):
            write(each)
            write_words(each)
        if each in ("multilingual", "limits"):
            write_limits()
        if each == "words":
            write_words("english"), write_words("multilingual")
