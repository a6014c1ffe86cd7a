#!/usr/bin/env python3
"""Writes what transformers' beam search gives, for tests/spec/whole/beams_spec.lua:

    beams.jsonl  a line for each case: the folder, what its generation_config.json says, the options of a call, prompts as
                 ids, and for each prompt the answers, the best first: ids and score

    beams.py [--check]     --check compares, and writes nothing

Folders are llama, and tests/hf/texts/next. Stop tokens are ones that these models choose often. Each prompt is searched by
itself, since padding would count as tokens. Prompts are taken where the same answers are found by weights of the logits
that differ by NOISE, which is far more than the errors of float32. Run with Python 3.11, torch 2.15.0, transformers 5.23.0.
"""

import json
import sys
import warnings
from pathlib import Path

import torch
import transformers as hf

warnings.filterwarnings("ignore")
hf.logging.set_verbosity_error()
torch.set_num_threads(1)

HERE = Path(__file__).resolve().parent
FOLDERS = {"next": HERE.parent / "hf/texts/next", "llama": HERE / "llama"}
NOISE = 1e-5
PROMPTS = 5

# Values of the folder, and options of calls, in transformers' words.
STATED = {
    "llama": {"eos_token_id": [71, 432], "max_new_tokens": 12},
    "next": {"eos_token_id": 756, "max_length": 24},
}
CALLS = [
    {"num_beams": 1},
    {"num_beams": 1, "no_repeat_ngram_size": 2, "min_new_tokens": 4, "repetition_penalty": 1.3},
    {"num_beams": 2},
    {"num_beams": 2, "early_stopping": True, "length_penalty": 0.0},
    {"num_beams": 2, "early_stopping": "never", "length_penalty": 2.0, "num_return_sequences": 2},
    {"num_beams": 3, "num_return_sequences": 3, "length_penalty": -1.0},
    {"num_beams": 4, "num_return_sequences": 4},
    {"num_beams": 4, "num_return_sequences": 2, "early_stopping": True},
    {"num_beams": 4, "num_return_sequences": 4, "early_stopping": "never", "length_penalty": 0.6},
    {"num_beams": 4, "num_return_sequences": 4, "early_stopping": "never", "length_penalty": -0.5},
    {"num_beams": 4, "num_return_sequences": 4, "no_repeat_ngram_size": 2, "min_new_tokens": 5},
    {"num_beams": 4, "num_return_sequences": 2, "repetition_penalty": 1.4, "length_penalty": 2.0},
    {"num_beams": 5, "num_return_sequences": 5, "forced_bos_token_id": 9, "max_new_tokens": 7},
    {"num_beams": 5, "num_return_sequences": 5, "no_repeat_ngram_size": 1, "length_penalty": 0.0, "max_new_tokens": 3},
    {"num_beams": 6, "num_return_sequences": 6, "max_new_tokens": 1},
]

# A folder that states all of it.
WHOLE = {
    "eos_token_id": [71, 432, 380], "max_length": 20, "num_beams": 4, "length_penalty": 1.7, "early_stopping": True,
    "no_repeat_ngram_size": 3, "min_length": 8, "forced_bos_token_id": 821, "forced_eos_token_id": [71],
    "bad_words_ids": [[430], [821, 380], [60, 142, 735], [432]], "suppress_tokens": [735, 53],
    "begin_suppress_tokens": [686, 548], "repetition_penalty": 1.1, "renormalize_logits": True,
}


def search(model, stated, options, prompt):
    """The answers to a prompt: ids without padding, and scores."""
    config = hf.GenerationConfig(**{"pad_token_id": 0, **stated, "do_sample": False})
    if "max_new_tokens" in options:
        config.max_length = None
    model.generation_config = config  # in place of what the folder's file says
    with torch.no_grad():
        made = model.generate(torch.tensor([prompt]), return_dict_in_generate=True, output_scores=True, **options)
    beams = options.get("num_beams", config.num_beams)
    stops = config.eos_token_id if isinstance(config.eos_token_id, list) else [config.eos_token_id]
    answers = []
    for i, row in enumerate(made.sequences.tolist()):
        ids = row[len(prompt):]
        end = next((j + 1 for j, token in enumerate(ids) if token in stops), len(ids))
        answer = {"ids": ids[:end]}
        if beams > 1:
            answer["score"] = round(made.sequences_scores[i].item(), 6)
        answers.append(answer)
    return answers


def noisy(model, seed):
    """The model with other weights of the logits."""
    generator = torch.Generator().manual_seed(seed)
    head = torch.nn.Linear(model.lm_head.in_features, model.lm_head.out_features, bias=False)
    weight = model.get_output_embeddings().weight.data
    head.weight.data = weight * (1 + NOISE * torch.randn(weight.shape, generator=generator))
    return head


def cases():
    for name, path in FOLDERS.items():
        model = hf.AutoModelForCausalLM.from_pretrained(path, dtype=torch.float32).eval()
        vocabulary, own = model.config.vocab_size, model.lm_head
        heads = [noisy(model, seed) for seed in range(3)]
        calls = [(STATED[name], options) for options in CALLS] + ([(WHOLE, {"num_return_sequences": 4})] if name == "llama" else [])
        for number, (stated, options) in enumerate(calls):
            prompts, answers = [], []
            generator = torch.Generator().manual_seed(number)
            while len(prompts) < PROMPTS:
                length = (1, 6, 3, 9, 2)[len(prompts)]
                prompt = torch.randint(6, vocabulary, (length,), generator=generator).tolist()
                found = search(model, stated, options, prompt)
                is_sure = True
                for head in heads:
                    model.lm_head = head
                    others = search(model, stated, options, prompt)
                    is_sure = is_sure and [each["ids"] for each in others] == [each["ids"] for each in found]
                model.lm_head = own
                if is_sure:
                    prompts.append(prompt)
                    answers.append(found)
            yield {"folder": name, "stated": stated, "options": options, "prompts": prompts, "answers": answers}


def main():
    text = "".join(json.dumps(each) + "\n" for each in cases())
    if "--check" not in sys.argv[1:]:
        (HERE / "beams.jsonl").write_text(text)
    elif (HERE / "beams.jsonl").read_text() != text:
        sys.exit("beams.jsonl differs")


main()
