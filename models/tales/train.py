#!/usr/bin/env python3
"""Trains the teller of tales of models/tales on tales that a grammar makes (plots.py).

Every tale of the training has a number; the held-out ones are from another series. The tokenizer, BPE on bytes, is
trained on the same tales as the model, a small Llama.

    train.py [--steps N] [--seed K] [--threads T] [--from DIR] [--out DIR]

With --from, training continues with the weights and the tokenizer of a folder. Writes into DIR, by default the folder
of this file, the files of Hugging Face's libraries

    config.json, model.safetensors, generation_config.json, tokenizer.json, tokenizer_config.json

and prints the perplexity on held-out tales. It then lets the model tell some, and counts what is right in them.

Run with Python 3.11, torch 2.15.0, transformers 5.23.0, tokenizers 0.23.3, numpy 2.4.6.
"""

import argparse
import math
import re
import time
from pathlib import Path

import numpy as np
import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
from transformers import GenerationConfig, LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from plots import tell
from words import NAMES

VOCABULARY = 1536
WIDTH, LAYERS, HEADS, KEY_HEADS, INNER = 192, 4, 6, 2, 448
POSITIONS = 512
BATCH = 16              # tales
RATE, TABLE_RATE = 0.01, 0.006      # the highest learning rates: of matrices, of the table of tokens and of norms
DECAY = 0.05
NAME_WEIGHT = 8         # of a name's loss at the highest rate; with 1 the model does not learn to repeat names
BEGIN, END = "<s>", "</s>"
TALES = 14_500          # tales of the training
HELD = 200              # tales that the perplexity is measured on
TOLD = 100              # tales that the model tells to be judged
TEMPERATURE = 0.8


# ---------------------------------------------------------------- texts and tokens

def train_tokenizer(texts):
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.train_from_iterator(texts, trainers.BpeTrainer(
        vocab_size=VOCABULARY, special_tokens=[BEGIN, END], initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False))
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{BEGIN} $A", pair=f"{BEGIN} $A {BEGIN}:1 $B:1", special_tokens=[(BEGIN, tokenizer.token_to_id(BEGIN))])
    return tokenizer


def ids_of(tokenizer, texts):
    """Returns the ids of each text, between those of <s> and </s>."""
    end = tokenizer.token_to_id(END)
    return [encoding.ids + [end] for encoding in tokenizer.encode_batch(texts)]


def batches_of(tales, count, rng):
    """Yields `count` batches of tales of similar lengths, as ids and as labels, which are -100 after a tale's end.
    A row has one tale, so that the only names in it are those of its own people."""
    batches = []
    while len(batches) < count:
        order = rng.permutation(len(tales))
        for start in range(0, len(order) - BATCH + 1, 50 * BATCH):
            chunk = sorted(order[start:start + 50 * BATCH], key=lambda index: len(tales[index]))
            groups = [chunk[at:at + BATCH] for at in range(0, len(chunk) - BATCH + 1, BATCH)]
            batches += [[tales[index] for index in groups[group]] for group in rng.permutation(len(groups))]
    for batch in batches[:count]:
        ids = torch.zeros(BATCH, max(map(len, batch)), dtype=torch.long)
        labels = torch.full_like(ids, -100)
        for row, tale in enumerate(batch):
            ids[row, :len(tale)] = labels[row, :len(tale)] = torch.tensor(tale)
        yield ids[:, :-1], labels[:, 1:]


# ---------------------------------------------------------------- the model

def new_model(tokenizer):
    begin, end = (tokenizer.token_to_id(name) for name in (BEGIN, END))
    return LlamaForCausalLM(LlamaConfig(
        vocab_size=tokenizer.get_vocab_size(), hidden_size=WIDTH, intermediate_size=INNER, num_hidden_layers=LAYERS,
        num_attention_heads=HEADS, num_key_value_heads=KEY_HEADS, max_position_embeddings=POSITIONS, rms_norm_eps=1e-5,
        tie_word_embeddings=True, bos_token_id=begin, eos_token_id=end))


def tokens_of_names(tokenizer):
    """Returns a vector of the vocabulary that is 1 at names, which are one token each, and 0 elsewhere."""
    names = torch.zeros(tokenizer.get_vocab_size())
    for name in sum(NAMES.values(), []):
        _, token = tokenizer.encode(f" {name}").ids     # after <s>
        names[token] = 1
    return names


def train_model(model, batches, steps, names):
    """Trains on each batch once: Muon for matrices, AdamW for the rest. Rates rise, and fall in the last two thirds.
    The loss is a weighted mean: the weight of the tokens in `names` rises and falls with the rate, from 1."""
    model.train()
    matrices = [p for name, p in model.named_parameters() if p.ndim == 2 and "embed" not in name]
    others = [p for name, p in model.named_parameters() if p.ndim != 2 or "embed" in name]
    optimisers = [
        torch.optim.Muon(matrices, lr=RATE, momentum=0.95, weight_decay=DECAY, adjust_lr_fn="match_rms_adamw"),
        torch.optim.AdamW(others, lr=TABLE_RATE, betas=(0.9, 0.98), weight_decay=0.0, fused=True)]
    rate = lambda step: min(1.0, 20 * (step + 1) / steps) * min(1.0, 1.5 * (1 - step / steps))
    schedules = [torch.optim.lr_scheduler.LambdaLR(optimiser, rate) for optimiser in optimisers]
    started, running = time.time(), 0.0
    for step, (ids, labels) in enumerate(batches):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            logits = model(input_ids=ids).logits
        loss = torch.nn.functional.cross_entropy(logits.float().flatten(0, 1), labels.flatten(),
                                                 1 + (NAME_WEIGHT - 1) * rate(step) * names)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        for optimiser, schedule in zip(optimisers, schedules):
            optimiser.step()
            schedule.step()
            optimiser.zero_grad()
        running += loss.item()
        if (step + 1) % 25 == 0:
            print(f"  step {step + 1:5} of {steps}   loss {running / 25:.3f}   {time.time() - started:.0f} s",
                  flush=True)
            running = 0.0
    return model.half().float().eval()      # rounds the weights as the file does


def save(model, tokenizer, folder):
    """Writes the files of the folder. The weights are written in float16."""
    folder.mkdir(parents=True, exist_ok=True)
    model.generation_config = GenerationConfig(
        bos_token_id=tokenizer.token_to_id(BEGIN), eos_token_id=tokenizer.token_to_id(END), do_sample=True,
        temperature=TEMPERATURE, top_k=0)
    model.half().save_pretrained(folder)
    model.float()
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=POSITIONS, bos_token=BEGIN, eos_token=END,
                            clean_up_tokenization_spaces=False).save_pretrained(folder)
    # This name of the class is from transformers 4; version 5 knows it, too.
    path = folder / "tokenizer_config.json"
    path.write_text(path.read_text().replace('"TokenizersBackend"', '"PreTrainedTokenizerFast"'))
    (folder / "model.safetensors").chmod(0o644)


# ---------------------------------------------------------------- judging

def perplexity(model, tales):
    """Returns the perplexity of a token, and the bits of a tale."""
    loss, count = 0.0, 0
    with torch.no_grad():
        for ids in tales:
            ids = torch.tensor(ids[:POSITIONS])
            logits = model(input_ids=ids[None, :-1]).logits[0]
            loss += torch.nn.functional.cross_entropy(logits, ids[1:], reduction="sum").item()
            count += len(ids) - 1
    return math.exp(loss / count), loss / math.log(2) / len(tales)


def measure(model, tokenizer, held):
    """Prints the perplexity on held-out tales, given as pairs of text and bits."""
    of_token, of_tale = perplexity(model, ids_of(tokenizer, [text for text, _ in held]))
    print(f"held-out tales       perplexity {of_token:.3f} a token; {of_tale:.1f} bits a tale, "
          f"of which the grammar's choices are {np.mean([bits for _, bits in held]):.1f}")


def sentences_of(text):
    return re.findall(r"[^.!?]+[.!?]+\"?", text)


ALL_NAMES = "|".join(sum(NAMES.values(), []))
NAME = re.compile(rf"\b(?:{ALL_NAMES})\b")
# The words before a name where the grammar introduces it. A name may also begin the tale: "Mia was a fox".
BEFORE = re.compile(r"\b(called|named|name was|friend|that|neighbour,) $")


def names_hold(text):
    """True if each name of a tale is introduced where it is first, as in all tales of the grammar."""
    first = {}
    for match in NAME.finditer(text):
        first.setdefault(match[0], match.start())
    return all(BEFORE.search(text[:at]) or at == 0 and re.match(r" was an? ", text[len(name):])
               for name, at in first.items())


def tell_some(model, tokenizer, count, seed):
    """Returns tales that the model tells from nothing, and how many of them it ended by itself."""
    torch.manual_seed(seed)
    begin, end = (tokenizer.token_to_id(name) for name in (BEGIN, END))
    start = torch.full((count, 1), begin)
    with torch.no_grad():
        told = model.generate(input_ids=start, attention_mask=torch.ones_like(start), pad_token_id=end, do_sample=True,
                              top_k=0, temperature=TEMPERATURE, max_new_tokens=POSITIONS - 1)
    told = told.tolist()
    return [tokenizer.decode(row) for row in told], sum(end in row for row in told)


def judge(model, tokenizer, trained, seed):
    told, ended = tell_some(model, tokenizer, TOLD, seed)
    texts = set(trained)
    known = {sentence.strip() for text in trained for sentence in sentences_of(text)}
    said = [sentence.strip() for text in told for sentence in sentences_of(text)]
    new = sum(sentence not in known for sentence in said)
    print(f"told                 {TOLD} tales at temperature {TEMPERATURE}, {ended} ended by themselves")
    print(f"sentences            {new} of {len(said)} are in no tale of the training")
    print(f"whole tales          {sum(text in texts for text in told)} are in the training")
    print(f"names                introduced before they are used in {sum(map(names_hold, told))} of {TOLD} tales")
    for text in told[:4]:
        print(f"\n{text}")


# ---------------------------------------------------------------- the command

def main():
    here = Path(__file__).resolve().parent
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--steps", type=int, default=1300, help=f"batches of {BATCH} tales")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--from", dest="start", type=Path, help="a folder whose weights and tokenizer to begin with")
    parser.add_argument("--out", type=Path, default=here)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    torch.manual_seed(options.seed)

    started = time.time()
    texts = [tell(number)[0] for number in range(TALES)]
    held = [tell(number, "held out") for number in range(HELD)]
    if options.start:
        tokenizer = Tokenizer.from_file(str(options.start / "tokenizer.json"))
    else:
        tokenizer = train_tokenizer(texts)
    tales = ids_of(tokenizer, texts)
    print(f"tales                {len(texts)}, {np.mean([len(ids) for ids in tales]):.0f} tokens each, "
          f"{max(map(len, tales))} at most; {time.time() - started:.0f} s")
    assert not {text for text, _ in held} & set(texts)
    print(f"names of the grammar {sum(map(names_hold, texts[:2000]))} of 2000 introduced")

    if options.start:
        model = LlamaForCausalLM.from_pretrained(options.start, dtype=torch.float32)
    else:
        model = new_model(tokenizer)
    print(f"parameters           {sum(p.numel() for p in model.parameters())}")
    started, used = time.time(), time.process_time()
    batches = batches_of(tales, options.steps, np.random.default_rng(options.seed))
    model = train_model(model, batches, options.steps, tokens_of_names(tokenizer))
    print(f"trained              {time.time() - started:.0f} s, {time.process_time() - used:.0f} s of processor time")

    save(model, tokenizer, options.out)
    measure(model, tokenizer, held)
    judge(model, tokenizer, texts, options.seed)


if __name__ == "__main__":
    main()
