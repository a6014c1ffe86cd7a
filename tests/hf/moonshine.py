#!/usr/bin/env python3
"""Makes tests/hf/speech/moonshine: a small model that writes down samples, and what transformers' `generate` writes with it.

    config.json, model.safetensors, ..   as `save_pretrained` writes them; weights as float16
    short.wav, long.wav                  sounds of less than a second, and of three
    speech.jsonl                         a line for each call: the sound, the options of `generate`, the tokens of the answer
                                         and its text

Weights are drawn until small changes of the samples change no token, and answers are many. Run as captions.py.
"""

import json
import shutil
import sys
import wave
import zlib

import numpy as np
import torch
import transformers as hf
from tokenizers import Tokenizer, decoders, models, normalizers

from goldens import fill, opened
from sounds import sound
from speech import HERE, LETTERS, RATE, write_sound

FOLDER = HERE / "moonshine"
SEED = 0  # where the search for a clear model begins
MOST = 14
SOUNDS = {"short.wav": 0.71, "long.wav": 3.3}
CALLS = [("short.wav", {}), ("short.wav", {"num_beams": 3}), ("long.wav", {}), ("long.wav", {"num_beams": 3})]


def tokenizer():
    """Llama's kind: a space is a letter, and other letters are bytes."""
    space = "\u2581"
    tokens = ["<unk>", "<s>", "</s>", *[f"<0x{byte:02X}>" for byte in range(256)], space, *LETTERS, ".", "th", "the",
              space + "the", "on", space + "a", "in"]
    merges = [("t", "h"), ("th", "e"), (space, "the"), ("o", "n"), (space, "a"), ("i", "n")]
    made = Tokenizer(models.BPE({token: i for i, token in enumerate(tokens)}, merges, unk_token="<unk>",
                                fuse_unk=True, byte_fallback=True))
    made.normalizer = normalizers.Sequence([normalizers.Prepend(space), normalizers.Replace(" ", space)])
    made.decoder = decoders.Sequence([decoders.Replace(space, " "), decoders.ByteFallback(), decoders.Fuse(),
                                      decoders.Strip(" ", 1, 0)])
    return hf.PreTrainedTokenizerFast(tokenizer_object=made, unk_token="<unk>", bos_token="<s>", eos_token="</s>")


def model_of(seed, vocabulary):
    config = hf.MoonshineConfig(
        vocab_size=vocabulary, hidden_size=24, intermediate_size=32, encoder_num_hidden_layers=1,
        decoder_num_hidden_layers=2, encoder_num_attention_heads=4, decoder_num_attention_heads=4,
        max_position_embeddings=32, pad_head_dim_to_multiple_of=8, partial_rotary_factor=0.7, rope_theta=100.0)
    model = hf.MoonshineForConditionalGeneration(config)
    fill(model, torch.Generator().manual_seed(zlib.crc32(b"moonshine") + seed))
    with torch.no_grad():  # texts follow the sound; bytes are rare
        model.model.encoder.conv1.weight *= 4
        model.model.decoder.embed_tokens.weight *= 0.2
        model.model.decoder.embed_tokens.weight[3:259] *= 0.8
        for layer in model.model.decoder.layers:
            layer.encoder_attn.o_proj.weight *= 6
            layer.self_attn.o_proj.weight *= 3
    model.generation_config.max_length = MOST
    return model.half()


def answers(model, made, sounds, noise):
    lines = []
    for file, options in CALLS:
        samples = sounds[file] + noise * np.random.default_rng(1).standard_normal(sounds[file].shape)
        ids = model.generate(torch.tensor(samples.astype(np.float32))[None], do_sample=False, **options)[0].tolist()[1:]
        ids = ids[:ids.index(2)] if 2 in ids else ids
        lines.append({"file": file, "options": options, "ids": ids, "text": made.decode(ids, skip_special_tokens=True)})
    return lines


def main():
    prepare = hf.Wav2Vec2FeatureExtractor(do_normalize=False, return_attention_mask=True)
    for seed in range(SEED, 3000):
        made = tokenizer()
        model = model_of(seed, len(made))
        shutil.rmtree(FOLDER, ignore_errors=True)
        FOLDER.mkdir(parents=True)
        for part in (model, made, prepare):
            part.save_pretrained(FOLDER)
        model, sounds = opened(hf.MoonshineForConditionalGeneration, FOLDER), {}
        for number, (file, seconds) in enumerate(SOUNDS.items()):
            samples = (sound(int(RATE * seconds), number) * 20000).astype(np.int16).astype(np.float32) / 32768
            write_sound(FOLDER / file, samples)
            sounds[file] = samples
        found = answers(model, made, sounds, 0)
        ids = [tuple(line["ids"]) for line in found]
        if len(set(ids)) < len(ids) or len({i for each in ids for i in each}) < 10 or min(map(len, ids)) < 4:
            continue
        if any(i in (0, 1) for each in ids for i in each) or not any(3 <= i < 259 for each in ids for i in each):
            continue
        if not any(len(each) < MOST - 1 for each in ids):
            continue
        if found == answers(model, made, sounds, 1e-4) == answers(model, made, sounds, -1e-4):
            break
    else:
        sys.exit("no model is clear and has all kinds of answers")
    (FOLDER / "speech.jsonl").write_text("".join(json.dumps(line) + "\n" for line in found))
    print("seed", seed)
    for line in found:
        print(line)


if __name__ == "__main__":
    torch.set_num_threads(1)
    hf.logging.set_verbosity_error()
    main()
