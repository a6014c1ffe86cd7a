#!/usr/bin/env python3
"""Makes the folders of tests/hf/captions: small models that write about pictures, and what transformers' `generate`
writes about the pictures of tests/pictures/files with them.

    config.json, model.safetensors, preprocessor_config.json   as `save_pretrained` writes them; weights as float16
    generation_config.json     of vision-encoder-decoder, as its config.json says
    tokenizer.json             a vocabulary of words t0 t1 ..
    captions.jsonl             a line for each set of options: the options, the prompt, and the ids and scores of each
                               picture's answers, best first

Weights are drawn until no step of a search is in doubt, and answers have different lengths.

    captions.py            writes all cases
    captions.py CASE ...   only these

Run as pictures.py.
"""

import json
import shutil
import sys
import zlib
from pathlib import Path

import numpy as np
import torch
import transformers as hf
from transformers.image_utils import load_image

from cases import BLIP_TEXT, GPT2, TROCR, VISION, VOCAB, WIDTH, vision
from goldens import fill, opened
from pictures import FILES, processor

HERE = Path(__file__).resolve().parent / "captions"
PICTURES = ["exif6.jpg", "grey16.png", "palette4.png", "rgba8.png"]
IMAGE = {**VISION, "image_size": 16}
SIDES = {"height": 16, "width": 16}
CLEAR = 0.002           # between the logits of a greedy step, and the scores of answers: more than computations differ by

# case: class, configuration, the processor
CASES = {
    "blip": ("BlipForConditionalGeneration", {"text_config": BLIP_TEXT, "vision_config": {**IMAGE, "hidden_size": 20}},
             ("blip", {"size": SIDES})),
    "vit_gpt2": ("VisionEncoderDecoderModel", vision("vit", "gpt2", IMAGE, **GPT2), ("vit", {"size": SIDES})),
    "deit_trocr": ("VisionEncoderDecoderModel", {**vision("deit", "trocr", {**IMAGE, "hidden_size": 20}, **{
        **TROCR, "use_learned_position_embeddings": False, "scale_embedding": True}), "decoder_start_token_id": 3},
        ("deit", {"size": {"height": 20, "width": 20}, "crop_size": SIDES})),
}
OPTIONS = [({}, []), ({}, [7, 9]), ({"num_beams": 3, "num_return_sequences": 2}, []),
           ({"num_beams": 2, "length_penalty": 2.0, "no_repeat_ngram_size": 2}, [7, 9])]


def answers(model, pixels, options, prompt):
    """The answers to one picture: ids and scores, and how far the closest choice is from being another."""
    is_blip = model.config.model_type == "blip"
    start = BLIP_TEXT["bos_token_id"] if is_blip else model.generation_config.decoder_start_token_id
    before = torch.tensor([[start, *prompt]])
    key = "input_ids" if is_blip else "decoder_input_ids"
    if is_blip:     # its last token is dropped
        before = torch.cat([before, torch.tensor([[0]])], 1)
    found = model.generate(pixel_values=pixels, **{key: before}, max_new_tokens=7, do_sample=False, output_scores=True,
                           output_logits=True, return_dict_in_generate=True, **options)
    end = BLIP_TEXT["sep_token_id"] if is_blip else 2
    ids = []
    for row in found.sequences[:, 1 + len(prompt):].tolist():
        ids.append(row[:row.index(end) + 1] if end in row else row)
    if "num_beams" in options:
        scores = found.sequences_scores.tolist()
        return ids, scores, min([abs(a - b) for a, b in zip(scores, scores[1:])] + [1.0])
    return ids, None, min(step.topk(2).values.diff().abs().item() for step in found.logits)


def written(model, prepare):
    """The lines of captions.jsonl, or None if some choice is in doubt or all answers are alike."""
    lines, lengths = [], set()
    for options, prompt in OPTIONS:
        given = []
        for name in PICTURES:
            pixels = torch.tensor(np.asarray(prepare(load_image(str(FILES / name)))["pixel_values"][0], np.float32))[None]
            ids, scores, gap = answers(model, pixels, options, prompt)
            if gap < CLEAR or any(1 in each for each in ids):  # TrOCR's token of padding has no position
                return None
            lengths.update(len(each) for each in ids)
            given.append({"image": name, "ids": ids, **({"scores": scores} if scores else {})})
        lines.append({"options": options, "prompt": prompt, "answers": given})
    different = {tuple(each["ids"][0]) for each in lines[0]["answers"]}
    return lines if len(lengths) > 1 and len(different) > 1 else None


def write(name):
    class_name, settings, (family, of_processor) = CASES[name]
    folder = HERE / name
    model_class = getattr(hf, class_name)
    prepare = processor(family, **of_processor)
    for seed in range(60):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        model = model_class(model_class.config_class(**settings))
        fill(model, torch.Generator().manual_seed(zlib.crc32(name.encode()) + seed))
        model.half().save_pretrained(folder)
        model = opened(model_class, folder)
        lines = written(model, prepare)
        if lines:
            break
    else:
        sys.exit(f"{name}: every model leaves a choice in doubt")
    prepare.save_pretrained(folder)
    vocabulary = {f"t{i}": i for i in range(VOCAB)}
    (folder / "tokenizer.json").write_text(json.dumps(
        {"version": "1.0", "pre_tokenizer": {"type": "Whitespace"}, "decoder": {"type": "WordPiece", "prefix": "##",
         "cleanup": False}, "model": {"type": "WordPiece", "vocab": vocabulary, "unk_token": "t0",
                                      "continuing_subword_prefix": "##", "max_input_chars_per_word": 100}}) + "\n")
    (folder / "captions.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    print(name, "seed", seed, flush=True)


if __name__ == "__main__":
    torch.set_num_threads(1)
    for each in sys.argv[1:] or CASES:
        write(each)
