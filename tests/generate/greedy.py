#!/usr/bin/env python3
"""Writes what transformers generates from prompts, for tests/spec/whole/generate_spec.lua:

    llama/            a small random Llama with a tokenizer of byte tokens, and a generation_config.json
    greedy.jsonl      a line for each prompt: folder, prompt, options, and the ids and the text that follow it
    chat.jsonl        a line for each chat of llama: its system message, and turns of a user's line and the answer
    perplexity.jsonl  a line for each text: folder, text, context, tokens that windows share, and the perplexity

    greedy.py [--check]     --check compares, and writes nothing

The other folder is tests/hf/texts/next. Prompts are taken where the largest logit leads by LEAD at each token, so that
float32's own errors decide nothing. Run with Python 3.11, torch 2.15.0, transformers 5.23.0, tokenizers 0.23.3,
safetensors 0.8.0.
"""

import gzip
import json
import math
import sys
from pathlib import Path

import torch
import transformers as hf

torch.set_num_threads(1)

HERE = Path(__file__).resolve().parent
TESTS = HERE.parent
FOLDERS = {"next": TESTS / "hf/texts/next", "llama": HERE / "llama"}
CONTEXT = 40
LEAD = 1e-3
WORDS = ("how do I reset my password the quick brown fox jumps over lazy dogs twice naïve café 東京 don't panic one two "
         "three four five six seven cat sat on a mat and then it slept 😀 €").split()
TEXT = " ".join(WORDS * 4)
TEMPLATE = ("{{ bos_token }}{% for message in messages %}[{{ message['role'] }}] {{ message['content'] }}\n{% endfor %}"
            "{% if add_generation_prompt %}[a]{% endif %}")
CHATS = [(None, ["the cat", "a dog"]), ("be brief", ["naïve", "one two"]), (None, ["x", "y z"])]


def make_llama(folder):
    """A folder as transformers saves it, with larger weights than usual, so that texts differ."""
    folder.mkdir(exist_ok=True)
    (folder / "tokenizer.json").write_bytes(gzip.decompress((TESTS / "text/goldens/llama_new.json.gz").read_bytes()))
    tokenizer = hf.PreTrainedTokenizerFast(tokenizer_file=str(folder / "tokenizer.json"), bos_token="<s>",
                                           eos_token="</s>", unk_token="<unk>")
    torch.manual_seed(5)
    config = hf.LlamaConfig(vocab_size=len(tokenizer), hidden_size=24, intermediate_size=40, num_hidden_layers=2,
                            num_attention_heads=4, num_key_value_heads=2, max_position_embeddings=64,
                            initializer_range=0.4, bos_token_id=1, eos_token_id=2, tie_word_embeddings=False)
    model = hf.LlamaForCausalLM(config).eval()
    model.generation_config = hf.GenerationConfig(bos_token_id=1, eos_token_id=[2, 300], max_new_tokens=16)
    model.to(torch.float16).save_pretrained(folder)
    tokenizer.chat_template = TEMPLATE
    tokenizer.save_pretrained(folder)


def load(name):
    tokenizer = hf.AutoTokenizer.from_pretrained(FOLDERS[name])
    model = hf.AutoModelForCausalLM.from_pretrained(FOLDERS[name], dtype=torch.float32).eval()
    model.generation_config.pad_token_id = 0
    return tokenizer, model


def answer(tokenizer, model, prompt, count, options):
    """The line of a prompt, or None if a token does not lead by LEAD."""
    ids = tokenizer(prompt, return_tensors="pt").input_ids
    stop = {"stop_strings": options["stop"], "tokenizer": tokenizer} if "stop" in options else {}
    given = {key: value for key, value in options.items() if key != "stop"}
    with torch.no_grad():
        made = model.generate(ids, do_sample=False, max_new_tokens=count, return_dict_in_generate=True,
                              output_scores=True, **given, **stop)
    for scores in made.scores:
        best = torch.topk(scores[0], 2).values
        if not best[0] - best[1] > LEAD:
            return None
    whole = made.sequences[0].tolist()
    before = tokenizer.decode(ids[0], skip_special_tokens=True, clean_up_tokenization_spaces=False)
    text = tokenizer.decode(whole, skip_special_tokens=True, clean_up_tokenization_spaces=False)
    return {"prompt": prompt, "tokens": count, "options": options, "ids": whole[ids.shape[1]:],
            "text": text[len(before):]}


def greedy():
    for name in FOLDERS:
        tokenizer, model = load(name)
        most = CONTEXT if name == "next" else 64
        for options in ({}, {"repetition_penalty": 1.3}, {"stop": ["e", "\u0bcd"]}):
            found = 0
            for i in range(200):
                prompt = " ".join(WORDS[(3 * i + j) % len(WORDS)] for j in range(1 + i % 5))
                room = most - len(tokenizer(prompt).input_ids)
                line = answer(tokenizer, model, prompt, 16, options) if room > 16 else None
                if line:
                    found += 1
                    yield {"folder": name, **line}
                if found == 6:
                    break


def chats():
    tokenizer, model = load("llama")
    for system, lines in CHATS:
        messages = [{"role": "system", "content": system}] if system else []
        turns = []
        for line in lines:
            messages.append({"role": "user", "content": line})
            prompt = tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
            ids = tokenizer(prompt, add_special_tokens=False, return_tensors="pt").input_ids
            with torch.no_grad():
                whole = model.generate(ids, do_sample=False, max_new_tokens=4)[0].tolist()
            decoded = [tokenizer.decode(each, skip_special_tokens=True, clean_up_tokenization_spaces=False)
                       for each in (whole, whole[:ids.shape[1]])]
            turns.append([line, decoded[0][len(decoded[1]):]])
            messages.append({"role": "assistant", "content": turns[-1][1]})
        yield {"system": system, "turns": turns, "tokens": len(whole)}


def perplexity_of(model, ids, context, shared):
    """Each token but the first once, from the tokens before it in its window."""
    total, first, begin = 0.0, 1, 0
    while first < len(ids):
        end = min(begin + context, len(ids))
        with torch.no_grad():
            scores = model(torch.tensor([ids[begin:end]])).logits[0].double().log_softmax(-1)
        total -= sum(scores[i - begin - 1, ids[i]].item() for i in range(first, end))
        first, begin = end, begin + context - shared
    return math.exp(total / (len(ids) - 1))


def perplexities():
    for name in FOLDERS:
        tokenizer, model = load(name)
        for text, shared in ((TEXT[:30], CONTEXT // 2), (TEXT, CONTEXT // 2), (TEXT, 5)):
            ids = tokenizer(text).input_ids
            yield {"folder": name, "text": text, "context": CONTEXT, "shared": shared, "tokens": len(ids),
                   "perplexity": perplexity_of(model, ids, CONTEXT, shared)}


def main():
    is_check = "--check" in sys.argv[1:]
    if not is_check:
        make_llama(FOLDERS["llama"])
    for name, lines in (("greedy.jsonl", greedy()), ("chat.jsonl", chats()), ("perplexity.jsonl", perplexities())):
        text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
        if not is_check:
            (HERE / name).write_text(text)
        elif (HERE / name).read_text() != text:
            sys.exit(f"{name} differs")


main()
