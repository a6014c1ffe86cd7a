"""The race of models that translate or write down speech: attn2c against CTranslate2 or whisper.cpp on the same random
weights, each in a process of its own on the same cores, measured in turn. Prints a table: output tokens/s of
both, and the median of the rounds' ratios with their quartiles. Run by run.sh --translate.

    translate.py [--models opus,t5,bart,nllb,whisper-tiny,whisper-base,whisper-small] [--precision f32,int8]
                 [--threads 1,2] [--rounds N] [--rows one,one4,many,many4,one5] [--make | --made]
                 [--against CTranslate2|whisper.cpp]

--make only builds the models and converts their weights; --made races what was made before.
A source has 24 tokens, and an answer exactly as many: without length of its own, it has no end token. Whisper's
source is the features of 30 seconds, and its answer has 64 tokens; its rows are one and one5. whisper.cpp has the row
one, in f16 (against f32) and q8_0 (against int8); its decoder reads given tokens.
Both engines have the options of search of the shape's folder, with 1 or 4 beams. The ids of both are compared
in f32, where rounding rarely changes one: two thirds of the tokens must be equal. For Whisper transformers' tokens take
the place of CTranslate2's, which begins some answers with token 0.
"""
import argparse
import json
import os
import statistics
import sys
import time

from contest import take_cores
from engine_attn2c import build_words
from models import OUT
from process import Process
import whisper_cpp

ROWS = {"1 source, greedy": (1, 1), "1 source, 4 beams": (1, 4), "32 sources, greedy": (32, 1),
        "32 sources, 4 beams": (32, 4), "1 source, 5 beams": (1, 5)}
ROW_WORDS = dict(zip(("one", "one4", "many", "many4", "one5"), ROWS))
WHISPER = {"whisper-tiny": (384, 4, 6), "whisper-base": (512, 6, 8), "whisper-small": (768, 12, 12)}
USUAL_ROWS = {True: "one,one5", False: "one,one4,many,many4"}      # of Whisper; of the others
QUIET_SECONDS = 0.03     # threads of OpenMP wait by spinning for some 10 ms after a call
LEAST_EQUAL = 2 / 3


def folder_of(model):
    """The configuration of a shape, as transformers' class takes it."""
    import transformers as hf
    bart = dict(d_model=1024, encoder_layers=12, decoder_layers=12, encoder_attention_heads=16, decoder_attention_heads=16,
                encoder_ffn_dim=4096, decoder_ffn_dim=4096)
    if model == "opus":
        return hf.MarianMTModel, hf.MarianConfig(
            vocab_size=58101, d_model=512, encoder_layers=6, decoder_layers=6, encoder_attention_heads=8,
            decoder_attention_heads=8, encoder_ffn_dim=2048, decoder_ffn_dim=2048, max_position_embeddings=512,
            activation_function="swish", scale_embedding=True, pad_token_id=58100, eos_token_id=0, forced_eos_token_id=None,
            decoder_start_token_id=58100)
    if model in WHISPER:
        width, layers, heads = WHISPER[model]
        return hf.WhisperForConditionalGeneration, hf.WhisperConfig(
            d_model=width, encoder_layers=layers, decoder_layers=layers, encoder_attention_heads=heads,
            decoder_attention_heads=heads, encoder_ffn_dim=4 * width, decoder_ffn_dim=4 * width, begin_suppress_tokens=None,
            decoder_start_token_id=50258)
    if model == "t5":
        return hf.T5ForConditionalGeneration, hf.T5Config(
            vocab_size=32128, d_model=768, d_kv=64, d_ff=3072, num_layers=12, num_heads=12, decoder_start_token_id=0)
    if model == "bart":
        return hf.BartForConditionalGeneration, hf.BartConfig(
            vocab_size=50264, forced_eos_token_id=None, normalize_before=False, **bart)      # the converter reads this key
    return hf.M2M100ForConditionalGeneration, hf.M2M100Config(
        vocab_size=256206, **dict(bart, encoder_ffn_dim=4096), activation_function="relu", scale_embedding=True,
        max_position_embeddings=1024, decoder_start_token_id=2)


class Words:
    """A tokenizer of made-up tokens, for CTranslate2's converter: the token of id 7 is "t7". The converter expects
    that Marian's last token is "<pad>", and leaves it out."""

    special_tokens_map = {}

    def __init__(self, config):
        self.words = [f"t{i}" for i in range(config.vocab_size)]
        if config.model_type == "marian":
            self.words[-1] = "<pad>"
        self.pad_token, self.eos_token = self.words[config.pad_token_id], self.words[config.eos_token_id]
        if config.model_type == "whisper":      # the converter looks for tokens of languages between two of these
            self.words[50258], self.words[50358] = "<|startoftranscript|>", "<|translate|>"
        self.bos_token, self.unk_token, self.unk_token_id = self.eos_token, self.words[3], 3

    def get_vocab(self):
        return {word: i for i, word in enumerate(self.words)}

    def convert_ids_to_tokens(self, token):
        return self.words[token]


def write_weights(model):
    """The folder of transformers, and CTranslate2's of the same weights in f32 and int8."""
    import torch
    from ctranslate2.converters import TransformersConverter
    folder = OUT / f"translate-{model}"
    made_by, config = folder_of(model)
    if not (folder / "model.safetensors").exists():
        torch.manual_seed(0)
        network = made_by(config)
        if hasattr(network, "final_logits_bias"):
            network.final_logits_bias.normal_(0, 1)
        for name, value in network.named_parameters():     # scores far apart, so that rounding changes few answers
            if value.ndim > 1 and "shared" not in name and "embed" not in name:
                torch.nn.init.normal_(value, 0, value[0].numel() ** -0.5)
        network.save_pretrained(folder)
    for precision in ("float32", "int8"):
        if not (OUT / f"translate-{model}-{precision}" / "model.bin").exists():
            converter = TransformersConverter(str(folder))
            converter.load_tokenizer = lambda *_, **__: Words(config)
            converter.convert(str(OUT / f"translate-{model}-{precision}"), quantization=precision, force=True)


def make(model, precision, threads, cores):
    os.sched_setaffinity(0, cores)     # the last race may have left one
    OUT.mkdir(parents=True, exist_ok=True)
    write_weights(model)
    name = f"translate_{model}_{precision}_{threads}".replace("-", "_")
    build_words([str(OUT / f"translate-{model}"), f"name={name}", "context=128",
                 f"sequences={8 if model in WHISPER else 128}", f"precision={precision}", f"threads={threads}"])


def open_peer(peer, model, precision, threads, kind_of_source):
    if peer == "CTranslate2":
        kind = {"f32": "float32", "int8": "int8"}[precision]
        return Process("translate_worker.py", peer, OUT / f"translate-{model}-{kind}", kind, threads, kind_of_source)
    kind = {"f32": "f16", "int8": "q8_0"}[precision]
    path = OUT / f"translate-{model}-{kind}.bin"
    if not path.exists():
        whisper_cpp.write(OUT / f"translate-{model}", path, kind)
    return Process("translate_worker.py", peer, path, kind, threads, kind_of_source)


def open_engines(peer, model, precision, threads, cores):
    os.sched_setaffinity(0, cores)
    take_cores(threads)
    kind_of_source = "features" if model in WHISPER else "ids"
    return {"attn2c": Process("translate_worker.py", "attn2c", f"translate_{model}_{precision}_{threads}".replace("-", "_"),
                              OUT / f"translate-{model}", threads, kind_of_source),
            peer: open_peer(peer, model, precision, threads, kind_of_source)}


def right_tokens(model, tokens):
    """transformers' greedy answers to the first 4 sources of Whisper."""
    import torch
    from translate_worker import END, START, sources
    torch.set_num_threads(1)    # more would wait for each other on the race's cores
    made_by, _ = folder_of(model)
    network = made_by.from_pretrained(OUT / f"translate-{model}").eval()
    last, past, ids = torch.full((4, 1), START), None, []
    with torch.no_grad():
        states = network.model.encoder(torch.tensor(sources(4, "features")).transpose(1, 2))
        for _ in range(tokens):
            found = network(encoder_outputs=states, decoder_input_ids=last, past_key_values=past)
            found.logits[:, -1, END] = -torch.inf
            last, past = found.logits[:, -1].argmax(-1)[:, None], found.past_key_values
            ids.append(last)
    return torch.cat(ids, 1).tolist()


def equal_part(workers, model, tokens):
    """How many of the tokens of 4 greedy answers are the same in both, as a part."""
    answers = [worker.ask(json.dumps({"ids": 4, "beams": 1, "tokens": tokens}))["ids"] for worker in workers.values()]
    if model in WHISPER:
        answers[1] = right_tokens(model, tokens)
    pairs = [(a, b) for own, other in zip(*answers) for a, b in zip(own, other)]
    return sum(a == b for a, b in pairs) / len(pairs)


def race(workers, rows, rounds, tokens):
    """Yields a row: its title, tokens/s of each engine, quartiles of the ratio."""
    for title in rows:
        sources, beams = ROWS[title]
        question = json.dumps({"sources": sources, "beams": beams, "tokens": tokens})
        samples = {name: [] for name in workers}
        for number in range(rounds + 1):
            for name in list(workers)[::1 if number % 2 else -1]:
                time.sleep(QUIET_SECONDS)
                ms = workers[name].ask(question)["ms"]
                if number > 0:      # the first round warms up
                    samples[name].append(ms)
        own, other = samples.values()
        ratios = [b / a for a, b in zip(own, other)]
        yield title, [1e3 * sources * tokens / statistics.median(each) for each in (own, other)], statistics.quantiles(ratios)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", default="opus,t5,bart,nllb")
    parser.add_argument("--precision", default="f32,int8")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--rows")
    parser.add_argument("--make", action="store_true")
    parser.add_argument("--made", action="store_true")
    parser.add_argument("--against", choices=["CTranslate2", "whisper.cpp"], default="CTranslate2")
    arguments = parser.parse_args()
    cores = os.sched_getaffinity(0)
    product, count = 1.0, 0
    usual = USUAL_ROWS if arguments.against == "CTranslate2" else {True: "one", False: "one"}
    if not arguments.make:
        print(f"| model | type | threads | | attn2c, tokens/s | {arguments.against} | attn2c against it | quartiles |")
        print("|---|---|---|---|---|---|---|---|", flush=True)
    for model in arguments.models.split(","):
        tokens = 64 if model in WHISPER else 24
        rows = [ROW_WORDS[word] for word in (arguments.rows or usual[model in WHISPER]).split(",")]
        for precision in arguments.precision.split(","):
            for threads in map(int, arguments.threads.split(",")):
                if not arguments.made:
                    make(model, precision, threads, cores)
                if arguments.make:
                    continue
                workers = open_engines(arguments.against, model, precision, threads, cores)
                same = equal_part(workers, model, tokens) if precision == "f32" and arguments.against == "CTranslate2" else None
                if same is not None and same < LEAST_EQUAL:
                    sys.exit(f"{model}, {precision}: {same:.0%} of the engines' tokens are equal; not timed")
                for title, (own, other), (low, middle, high) in race(workers, rows, arguments.rounds, tokens):
                    print(f"| {model} | {precision} | {threads} | {title} | {own:.0f} | {other:.0f} | {middle:.2f} | "
                          f"{low:.2f} to {high:.2f} |", flush=True)
                    product, count = product * middle, count + 1
                for worker in workers.values():
                    worker.close()
    if count:
        print(f"\nGeometric mean: {product ** (1 / count):.2f}")


if __name__ == "__main__":
    main()
