#!/usr/bin/env python3
"""Draws whole configurations of decoders, and compares the numbers of built libraries with transformers'.

    drawn_decoders.py COUNT SEED [FAMILY ...]   COUNT folders of each family, or of these; exit 1 if one is wrong

Each folder must give equal numbers in every row, or be refused in lines that name a key. It is built with a context,
whose calls divide, mix, copy and rewind sequences, or for sequences of a fixed or any length. Allowed are 8 times the
differences that weights that differ by NOISE make, and 1e-5 of the largest number; rows in which these differ by CLEAR,
as such weights change the chosen experts, are not compared. out/drawn_decoders has the folders, the builds, a line for each
folder (cases.txt), and why transformers itself refuses what was drawn before (not_drawn.txt).
"""

import ctypes
import json
import math
import multiprocessing
import random
import re
import shutil
import subprocess
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import torch
import transformers as hf
from safetensors.torch import load_file, save_file
from transformers.models.falcon import modeling_falcon

from decoder_configs import FAMILIES, draw, older, yes

ROOT = Path(__file__).resolve().parent.parent.parent
OUT = ROOT / "out/drawn_decoders"
ABI = re.search(r"abi = (\d+)", (ROOT / "gen/common/version.lua").read_text()).group(1)
NOISE, CLEAR = 1e-6, 1e-3
SEQUENCES = 3
WRITERS = ["LMHeadModel", "ForCausalLM"]
HEADS = [*WRITERS, "Model", "TextModel", "ForSequenceClassification", "TextForSequenceClassification",
         "ForTokenClassification", "ForQuestionAnswering"]
WHOLE = {"gemma3_text": "gemma3", "gemma3n_text": "gemma3n", "gemma4_text": "gemma4", "mistral": "mistral3",
         "ministral3": "mistral3"}  # of models whose text part the family may be


def fill(model, generator):
    """Random values of all parameters, so large that each part matters."""
    for name, values in [*model.named_parameters(), *model.named_buffers()]:
        if isinstance(values, torch.nn.Parameter) or name.endswith(("expert_bias", "layer_scalar")):
            drawn = torch.randn(values.shape, generator=generator)
            is_gain = values.dim() == 1 and name.endswith(("weight", "scale", "layer_scalar"))
            wide = 1.2 * values.shape[-1] ** -0.5 if values.dim() > 1 and "embed" not in name else 0.6
            values.data.copy_(1 + 0.4 * drawn if is_gain else wide * drawn)


def write(model, family, r):
    """Writes a model's folder. Returns its config.json for transformers, and for attn2c: that of a whole model."""
    folder = Path(model.name_or_path)
    model.to(r.choice([torch.float32, torch.bfloat16, torch.float16]))
    model.save_pretrained(folder, max_shard_size=r.choice(["5KB", "1GB"]))
    if r.random() < 0.2:
        torch.save(model.state_dict(), folder / "pytorch_model.bin")
        for path in folder.glob("*.safetensors*"):
            path.unlink()
    written, usual = json.loads((folder / "config.json").read_text()), type(model.config)().to_dict()
    tied = written["tie_word_embeddings"]
    if yes(r):
        written = {key: value for key, value in written.items() if key in ("model_type", "architectures")
                   or usual.get(key, "") != value}
    if yes(r):
        older(written, r)
    has_cap = family == "gemma3_text" and model.config.final_logit_softcapping  # which the whole model leaves out
    is_part = type(model).__name__.endswith("ForCausalLM") and family in WHOLE and not has_cap and yes(r)
    if not is_part or not (folder / "model.safetensors").exists():
        return written, written
    return written, {"model_type": WHOLE[family], "text_config": written, "vision_config": {},
                     "tie_word_embeddings": tied,
                     "architectures": [WHOLE[family].capitalize() + "ForConditionalGeneration"]}


def outputs(model, row):
    """What a model computes of one sequence: name -> [rows][..] or [..]."""
    with torch.no_grad():
        got = model(input_ids=row, use_cache=False)
    names = ("logits", "last_hidden_state", "start_logits", "end_logits")
    return {key: got[key][0].float() for key in names if got.get(key) is not None}


def expected(model, rows, generator):
    """The outputs of each sequence, and the largest differences that noise in the weights makes."""
    want = [outputs(model, row) for row in rows]
    apart = [{key: torch.zeros_like(value) for key, value in each.items()} for each in want]
    own = {key: value.clone() for key, value in model.named_parameters()}
    for _ in range(3):
        for key, values in model.named_parameters():
            values.data.copy_(own[key] * (1 + NOISE * torch.randn(values.shape, generator=generator)))
        for row, each, most in zip(rows, want, apart):
            for key, value in outputs(model, row).items():
                most[key] = torch.maximum(most[key], (value - each[key]).abs())
    return want, apart


def make(name, family, r):
    """Draws a folder and writes it. Returns its case. Raises what transformers raises if it refuses what was drawn."""
    config = type(hf.CONFIG_MAPPING[family]())(**draw(r, family))
    heads = [each for each in HEADS if hasattr(hf, FAMILIES[family] + each)]
    head = r.choice([each for each in heads if each in WRITERS] if r.random() < 0.7 else heads)
    cls = getattr(hf, FAMILIES[family] + head)
    folder, generator = OUT / "folders" / name, torch.Generator().manual_seed(r.randrange(1 << 30))
    model = cls(config)
    model.name_or_path = str(folder)
    fill(model, generator)
    written, given = write(model, family, r)
    (folder / "config.json").write_text(json.dumps(written, indent=2))
    attention = "sdpa" if family == "falcon" else "eager"  # eager adds Falcon's distances twice
    model = cls.from_pretrained(folder, dtype=torch.float32, attn_implementation=attention,
                                experts_implementation="eager").eval()
    if given is not written:
        (folder / "config.json").write_text(json.dumps(given, indent=2))
        tensors = load_file(folder / "model.safetensors")
        save_file({key.replace("model.", "model.language_model.", 1): value for key, value in tensors.items()},
                  folder / "model.safetensors", {"format": "pt"})
    is_causal = getattr(config, "is_causal", True) and not getattr(config, "use_bidirectional_attention", None)
    form = r.choice(["context", "context", "fixed"] if head in WRITERS and is_causal else ["any", "fixed"])
    longest = r.choice([5, 13, 21])
    # These angles depend on the longest sequence of a batch.
    least = longest if form == "fixed" and re.search("longrope|dynamic", json.dumps(written)) else 1
    rows = [torch.randint(0, config.vocab_size, (1, n), generator=generator)
            for n in (longest, r.randint(least, longest), r.randint(least, longest))]
    same = r.randint(0, rows[1].shape[1] - 1)
    rows[1][0, :same] = rows[0][0, :same]  # for copies of a sequence
    want, apart = expected(model, rows, generator)
    words = {"context": [f"context={longest}", f"sequences={SEQUENCES}"], "any": [f"seq=any({longest})"],
             "fixed": [f"seq={longest}", f"batch={SEQUENCES}"]}[form]
    words += ["output.1.over=all"] if form != "context" and head in WRITERS else []
    return {"name": name, "head": head, "form": form, "words": words, "rows": [row[0].tolist() for row in rows],
            "want": want, "apart": apart, "pad": config.pad_token_id, "by_row": "Sequence" not in head}


def structure(library, name, part):
    """A class of the structure of a library's inputs or outputs."""
    header = (OUT / name / f"{name}.h").read_text()
    body = re.search(r"typedef struct \{([^}]*)\} " + name + "_forward_" + part, header).group(1)
    fields = re.findall(r"^  (?:const )?(int64_t|int32_t|float) (\*?)(\w+);", body, re.M)
    kinds = [(field, ctypes.c_void_p if star else ctypes.c_int64) for _, star, field in fields]
    return type(part, (ctypes.Structure,), {"_fields_": kinds})()


def run(case):
    """The outputs of a built library for each sequence."""
    name, rows = case["name"], case["rows"]
    library = ctypes.CDLL(str(OUT / name / f"lib{name}.so.{ABI}"))
    text, model, context = ctypes.create_string_buffer(1 << 16), ctypes.c_void_p(), ctypes.c_void_p()

    def call(what, *given):
        status = getattr(library, f"{name}_{what}")(*given)
        if status != 0:
            raise RuntimeError(f"{what}: status {status}: {text.value.decode()}")

    call("open", str(OUT / "folders" / name).encode(), ctypes.byref(model), text, ctypes.c_size_t(1 << 16))
    call("create", model, ctypes.byref(context))
    if case["form"] == "context":
        return continued(context, call, rows, case["want"][0]["logits"].shape[1])
    longest, is_fixed = len(rows[0]), case["form"] == "fixed"
    ids = [row + [case["pad"] or 0] * (longest - len(row)) if is_fixed else row for row in rows]
    ids = torch.tensor([token for row in ids for token in row], dtype=torch.int32)
    lengths = torch.tensor([len(row) for row in rows], dtype=torch.int32)
    given, wanted, made = structure(library, name, "in"), structure(library, name, "out"), {}
    of_field = {"sequences": SEQUENCES, "lengths": lengths.data_ptr(), "input_ids": ids.data_ptr()}
    for field, _ in given._fields_:
        setattr(given, field, of_field[field])
    for field, _ in wanted._fields_:
        shape = case["want"][0][field].shape
        made[field] = torch.zeros([ids.numel(), *shape[1:]] if case["by_row"] else [SEQUENCES, *shape])
        setattr(wanted, field, made[field].data_ptr())
    call("forward", context, ctypes.byref(given), ctypes.byref(wanted))
    firsts = [i * longest if is_fixed else sum(map(len, rows[:i])) for i in range(SEQUENCES)]
    return [{field: value[first:first + len(row)] if case["by_row"] else value[i] for field, value in made.items()}
            for i, (first, row) in enumerate(zip(firsts, rows))]


def forget(context, call, rows, done, got, r):
    """Copies a sequence over another, which keeps what their rows have in common, or rewinds one."""
    i, j = r.sample(range(len(rows)), 2)
    same = next((k for k, (a, b) in enumerate(zip(rows[i], rows[j])) if a != b), min(len(rows[i]), len(rows[j])))
    if r.random() < 0.4 and done[i] > 0 and same > 0:
        call("copy", context, ctypes.c_int32(i), ctypes.c_int32(j))
        done[j], got[j] = done[i], list(got[i])
    else:
        same = done[j]
    keep = r.randint(0, min(same, done[j]))
    call("rewind", context, ctypes.c_int32(j), ctypes.c_int32(keep))
    done[j], got[j] = keep, got[j][:keep]


def continued(context, call, rows, width):
    """The logits of all rows of sequences that several calls continue together, with copies and rewinds in between."""
    r, done, got = random.Random(str(rows)), [0] * len(rows), [[] for _ in rows]
    while any(done[i] < len(row) for i, row in enumerate(rows)):
        if r.random() < 0.3:
            forget(context, call, rows, done, got, r)
        some = [i for i, row in enumerate(rows) if done[i] < len(row) and r.random() < 0.8]
        if not some:
            continue
        r.shuffle(some)
        counts = [min(r.choice([1, 1, 2, 7, 99]), len(rows[i]) - done[i]) for i in some]
        ids = [token for i, n in zip(some, counts) for token in rows[i][done[i]:done[i] + n]]
        logits = torch.zeros(len(ids), width)
        call("extend", context, ctypes.c_int32(len(some)), (ctypes.c_int32 * len(some))(*some),
             (ctypes.c_int32 * len(some))(*counts), (ctypes.c_int32 * len(ids))(*ids), 1,
             ctypes.c_void_p(logits.data_ptr()))
        for part, i, n in zip(logits.split(counts), some, counts):
            got[i].extend(part)
            done[i] += n
    return [{"logits": torch.stack(each)} for each in got]


def difference(case):
    """What is wrong, or an empty text, and the numbers of rows that are compared and left out."""
    compared, unclear = 0, 0
    for i, (got, want, apart) in enumerate(zip(run(case), case["want"], case["apart"])):
        for key, value in want.items():
            size, rows = max(1.0, value.abs().max().item()), value.shape[0] if case["by_row"] else 1
            differ, most = (each.reshape(rows, -1).amax(1) for each in ((got[key] - value).abs(), apart[key]))
            clear = most < CLEAR * size
            compared, unclear = compared + int(clear.sum()), unclear + int((~clear).sum())
            bad = clear & ~(differ <= 8 * torch.cummax(most, 0).values + 1e-5 * size)
            if bad.any():
                row = int(bad.nonzero()[0, 0])
                return (f"{key} of sequence {i} (of {len(case['rows'][i])}), row {row}: {differ[row]:.3g} apart, "
                        f"{most[row]:.2g} by noise, of {size:.3g}", compared, unclear)
    return "", compared, unclear


def compare(case, queue):
    """Puts a case's difference in a queue, from a process of its own: a library may crash."""
    try:
        queue.put(difference(case))
    except Exception as problem:  # pylint: disable=broad-except
        queue.put((f"{type(problem).__name__}: {problem}", 0, 0))


def judge(case):
    """A word for what became of a folder, and the details."""
    log = (OUT / f"{case['name']}.log").read_text().strip()
    if not (OUT / case["name"]).is_dir():
        is_said = all(re.match(r"\S+: [\w.]+: .", line) for line in log.splitlines())
        return "refused" if is_said else "broken", log, 0, 0
    queue = multiprocessing.Queue()
    process = multiprocessing.Process(target=compare, args=(case, queue))
    process.start()
    process.join(60)
    if queue.empty():
        return "crashed", f"exit {process.exitcode}", 0, 0
    worst, compared, unclear = queue.get()
    return "wrong" if worst else "equal", worst, compared, unclear


def build(cases):
    """Builds libraries, one after the other."""
    words = ["\n".join([f"folders/{case['name']}", case["name"], "--answers", f"--only=lib{case['name']}.so.{ABI}",
                        "kernels=c", *case["words"]]) for case in cases]
    subprocess.run(["lua5.4", str(ROOT / "tests/program.lua"), "--each", *words], cwd=OUT, check=True)
    return cases


def drawn(family, number, seed):
    """A list of a case of a family; what transformers itself refuses is drawn anew."""
    r, name = random.Random(f"{family} {number} {seed}"), f"{family}_{number}"
    for _ in range(30):
        try:
            return [make(name, family, r)]
        except Exception as problem:  # pylint: disable=broad-except
            shutil.rmtree(OUT / "folders" / name, ignore_errors=True)
            with open(OUT / "not_drawn.txt", "a", encoding="utf-8") as file:
                print(name, type(problem).__name__, *str(problem).splitlines()[:1], file=file)
    return []


def falcon_distances(mask, heads, dtype):
    """What Falcon adds to scores, in float32: transformers computes it in bfloat16."""
    whole = 2 ** math.floor(math.log2(heads))
    powers = [-8 * (i + 1) / whole for i in range(whole)] + [-4 * (2 * i + 1) / whole for i in range(heads - whole)]
    return (torch.tensor([2 ** each for each in powers])[:, None, None] * torch.arange(mask.shape[1])).to(dtype)


def main():
    modeling_falcon.build_alibi_tensor = falcon_distances
    warnings.simplefilter("ignore")
    hf.logging.set_verbosity_error()
    hf.logging.disable_progress_bar()
    torch.set_num_threads(1)
    shutil.rmtree(OUT, ignore_errors=True)
    (OUT / "folders").mkdir(parents=True)
    counts = {}
    for number in range(int(sys.argv[1])):
        cases = [case for family in sys.argv[3:] or FAMILIES for case in drawn(family, number, sys.argv[2])]
        with ThreadPoolExecutor(4) as pool, open(OUT / "cases.txt", "a", encoding="utf-8") as file:
            built = pool.map(build, [cases[i:i + 4] for i in range(0, len(cases), 4)])
            for case in (case for some in built for case in some):
                word, details, compared, unclear = judge(case)
                counts[word] = counts.get(word, 0) + 1
                line = f"{case['name']} {case['head']} {' '.join(case['words'])}: {word} {details}"
                print(line, compared, unclear, file=file)
                if word != "equal":
                    print(line, flush=True)
    print(f"{sum(counts.values())} folders:", ", ".join(f"{n} {word}" for word, n in sorted(counts.items())))
    sys.exit(any(counts.get(word) for word in ("wrong", "broken", "crashed")))


if __name__ == "__main__":
    main()
