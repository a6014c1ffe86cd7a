#!/usr/bin/env python3
"""Makes openai.jsonl in the folders of tests/hf/speech: what OpenAI's own package writes down with their models.

    openai.jsonl   a line for each call: the features, the options, `--prompt`, and the segments: their tokens and times, the
                   mean log-probability, the ratio of zlib, and the probability of silence of their window

The package's windows have 3000 rows. Here a window is the models' 40 rows, a row still 10 ms. The package's classes of model,
tokenizer and rules are used as they are, with these sizes, the models' tokens and their few languages.

Run with openai-whisper 20250625 beside what speech.py needs.
"""

import importlib
import json

import numpy as np
import tiktoken
import torch
import whisper
from safetensors.torch import load_file
from whisper import audio, decoding, model, tokenizer

import speech

transcribe = importlib.import_module("whisper.transcribe")
NAMES = [("model.", ""), ("layers", "blocks"), ("fc1", "mlp.0"), ("fc2", "mlp.2"), ("final_layer_norm", "mlp_ln"),
         ("self_attn_layer_norm", "attn_ln"), ("encoder_attn_layer_norm", "cross_attn_ln"), ("self_attn", "attn"),
         ("encoder_attn", "cross_attn"), ("q_proj", "query"), ("k_proj", "key"), ("v_proj", "value"), ("out_proj", "out"),
         ("encoder.layer_norm", "encoder.ln_post"), ("decoder.layer_norm", "decoder.ln"),
         ("embed_tokens", "token_embedding"), ("embed_positions.weight", "positional_embedding")]
CALLS = [  # features, the most tokens of a window, options of the program, and the text of the prompt
    ("long", 16, {"timestamps": True}, None),
    ("long", 7, {"timestamps": True}, None),
    ("long", 16, {"timestamps": True}, "\t on the in \n"),
    ("short", 16, {}, None),
    ("short", 16, {"timestamps": True}, None),
    ("long", 16, {"timestamps": True, "condition-on-previous-text": "no"}, " the in on"),
    ("long", 16, {"timestamps": True, "carry-initial-prompt": True}, " on the in"),
    ("long", 16, {"timestamps": True, "carry-initial-prompt": True, "condition-on-previous-text": "no"}, " in the in"),
    ("long", 16, {"timestamps": True, "no-speech-threshold": 0.002, "logprob-threshold": "none"}, None),
    ("long", 16, {"timestamps": True, "no-speech-threshold": 0.002, "logprob-threshold": -1.5}, None),
    ("long", 16, {"timestamps": True, "no-speech-threshold": "none", "logprob-threshold": "none",
                  "compression-ratio-threshold": "none"}, None),
]
THRESHOLDS = {"compression-ratio-threshold": 2.4, "logprob-threshold": -1.0, "no-speech-threshold": 0.6}


def opened(folder):
    """OpenAI's class with the weights of a folder."""
    config = json.loads((folder / "config.json").read_text())
    made = model.Whisper(model.ModelDimensions(
        n_mels=speech.MELS, n_audio_ctx=speech.ROWS // 2, n_audio_state=config["d_model"],
        n_audio_head=config["encoder_attention_heads"], n_audio_layer=config["encoder_layers"],
        n_vocab=config["vocab_size"], n_text_ctx=config["max_target_positions"], n_text_state=config["d_model"],
        n_text_head=config["decoder_attention_heads"], n_text_layer=config["decoder_layers"]))
    for part, width in (made.encoder, config["encoder_ffn_dim"]), (made.decoder, config["decoder_ffn_dim"]):
        for block in part.blocks:
            block.mlp[0], block.mlp[2] = model.Linear(config["d_model"], width), model.Linear(width, config["d_model"])
    weights = {}
    for name, value in load_file(folder / "model.safetensors").items():
        for theirs, ours in NAMES:
            name = name.replace(theirs, ours)
        weights[name] = value.float()
    made.load_state_dict(weights)
    return made.eval()


def adapt(is_english):
    """Gives the package the sizes, tokens and languages of the models."""
    special, times = speech.layout(is_english)
    ranks = {name.replace("\u0120", " ").encode(): i for name, i in speech.words().items()}
    encoding = tiktoken.Encoding("small", pat_str=r" ?[a-z]+|\s+|[^a-z\s]+", mergeable_ranks=ranks, special_tokens={
        name: len(ranks) + i for i, name in enumerate(special + times)})
    tokenizer.get_encoding = lambda name, num_languages: encoding
    tokenizer.LANGUAGES = {code: code for code in (["en"] if is_english else speech.LANGUAGES)}
    tokenizer.get_tokenizer.cache_clear()
    model.Whisper.is_multilingual = not is_english
    model.Whisper.num_languages = len(tokenizer.LANGUAGES)
    audio.N_FRAMES = transcribe.N_FRAMES = speech.ROWS
    decoding.CHUNK_LENGTH = speech.ROWS * audio.HOP_LENGTH / audio.SAMPLE_RATE
    transcribe.log_mel_spectrogram = lambda features, mels, padding: torch.nn.functional.pad(
        torch.tensor(features.T), (0, speech.ROWS))


def write(name):
    folder, is_english = speech.HERE / name, name == "english"
    adapt(is_english)
    heard = opened(folder)
    stated = json.loads((folder / "generation_config.json").read_text())
    suppressed = [i for i in stated["suppress_tokens"] if i < stated["eos_token_id"]]

    def answer(features, tokens, options, prompt):
        limits = {name: options.get(name, usual) for name, usual in THRESHOLDS.items()}
        found = whisper.transcribe(
            heard, features, temperature=0, fp16=False, sample_len=tokens, suppress_tokens=suppressed,
            max_initial_timestamp=0.1, initial_prompt=prompt, without_timestamps="timestamps" not in options,
            condition_on_previous_text=options.get("condition-on-previous-text") != "no",
            carry_initial_prompt="carry-initial-prompt" in options,
            **{name.replace("-", "_"): None if limit == "none" else limit for name, limit in limits.items()})
        return [{"ids": each["tokens"], "begin": round(each["start"], 2), "end": round(each["end"], 2),
                 "score": round(each["avg_logprob"], 5), "compression": round(each["compression_ratio"], 5),
                 "silence": round(each["no_speech_prob"], 6)} for each in found["segments"] if each["tokens"]]

    lines = []
    for file, tokens, options, prompt in CALLS:
        features = np.load(folder / f"{file}.npy")
        noise = 1e-4 * np.random.default_rng(1).standard_normal(features.shape).astype(np.float32)
        segments, *others = (answer(features + by * noise, tokens, options, prompt) for by in (0, 1, -1))
        for other in others:
            assert [each["ids"] for each in other] == [each["ids"] for each in segments], "a choice is in doubt"
        lines.append({"file": file, "tokens": tokens, "options": options, "prompt": prompt, "segments": segments})
        print(name, file, tokens, options, len(segments), "segments")
    (folder / "openai.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))


if __name__ == "__main__":
    torch.set_num_threads(1)
    for each in "multilingual", "english":
        write(each)
