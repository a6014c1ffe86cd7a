#!/usr/bin/env python3
"""Changes each key of config.json by itself to other plausible values, and compares what becomes of it here with what
becomes of it in transformers.

    swept.py [--imports] [CASE ...]   decoders and encoders of cases.py, or these; exit 1 if one is wrong without a word

A folder with a changed key must give transformers' numbers, or be refused, or a line must name the key. The description
that `import` makes of it is compared first: where it stays as it was, transformers' numbers must, too. A program is
built of each other one, and runs on the same inputs; with --imports none is built. out/swept has the folders. Run as
goldens.py.
"""

import copy
import itertools
import json
import re
import shutil
import subprocess
import sys

import torch
import transformers as hf
from transformers.activations import ACT2CLS
from transformers.models.falcon import modeling_falcon

import drawn_encoders as drawn
from cases import BATCH, CASES, SEQ
from drawn_decoders import falcon_distances
from goldens import fill, text_inputs

IMPORTS = "--imports" in sys.argv
OUT = drawn.ROOT / ("out/swept_imports" if IMPORTS else "out/swept")
SKIPPED = {"model_type", "architectures", "dtype", "transformers_version", "id2label", "label2id", "torch_dtype"}
HEADS = re.compile("(Model|ForCausalLM|LMHeadModel|ForMaskedLM|ForSequenceClassification)$")
WORDS = {"position_embedding_type": ["relative_key", "relative_key_query", "rotary"], "classifier_pooling": ["mean", "cls"],
         "pos_att_type": ["c2p", ["p2c"]], "norm_rel_ebd": ["none"], "problem_type": ["regression"],
         "summary_type": ["first"], "topk_method": ["greedy"], "scoring_func": ["softmax"], "conv_act": ["gelu"]}
ROPES = [{"rope_type": "linear", "factor": 2.0}, {"rope_type": "dynamic", "factor": 2.0},
         {"rope_type": "yarn", "factor": 2.0, "original_max_position_embeddings": 4},
         {"rope_type": "llama3", "factor": 2.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
          "original_max_position_embeddings": 4}]


ATTENTION = {"falcon": "sdpa"}  # eager adds Falcon's distances twice


def of_missing(key):
    """Values of a key that is null."""
    if "act" in key.split("_"):
        return ["relu"]
    if re.search("id$|ids$", key):
        return [3]
    if re.search("size|window|dim|num|layers|length|rank|inner|heads", key):
        return [4, 12]
    return [0.5, 3, True]


def others(key, value):
    """Other plausible values of a key."""
    if key in WORDS:
        return [each for each in WORDS[key] if each != value]
    if value is None:
        return of_missing(key)
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int):
        return [value + 1, 2 * value] if value > 0 else [value + 1]
    if isinstance(value, float):
        return [0.5 * value + 0.125]
    if isinstance(value, str):
        return [each for each in ("relu", "gelu_new") if each != value] if value in ACT2CLS else []
    if isinstance(value, list) and value:
        made = [value[::-1]] + [[other, *value[1:]] for other in others("", value[0])]
        return [each for each in made if each != value]
    if isinstance(value, dict):
        made = [{**value, inner: other} for inner in value for other in others(inner, value[inner])]
        return made + [{**value, **each} for each in ROPES if "rope_theta" in value]
    return []


def written(name, class_name, settings):
    """Writes a folder with random weights, the same ones where a model has the same tensors. Returns the model that
    transformers opens, or None."""
    folder, model_class = OUT / "folders" / name, getattr(hf, class_name)
    try:
        model = model_class(model_class.config_class(**copy.deepcopy(settings)))
        fill(model, torch.Generator().manual_seed(1))
        model.save_pretrained(folder)
        (folder / "generation_config.json").unlink(missing_ok=True)
        return drawn.opened(model_class, folder, ATTENTION.get(model.config.model_type, "eager"))
    except Exception:  # of many kinds, and no model all the same
        return None


def calls_of(model, words):
    """The inputs of a program, the model's call, its mask, and words of the build."""
    inputs = text_inputs("", model.config, torch.Generator().manual_seed(2), SEQ)
    call, mask = dict(inputs), inputs.pop("attention_mask")
    types = torch.zeros_like(mask)  # which a program may ask for, also if there is one
    return {"token_type_ids": types, **inputs, "lengths": mask.sum(1)}, call, mask, [f"batch={BATCH}", f"seq={SEQ}", *words]


def described(name):
    """The description of a folder without its remarks and its name, its remarks, and whether it was refused."""
    ran = subprocess.run([str(drawn.ROOT / "gen/attn2c"), "import", f"folders/{name}"], cwd=OUT, capture_output=True,
                         text=True, check=False)
    text = re.sub(r" *--.*|^  name = .*", "", ran.stdout, flags=re.M)
    return text, ran.stderr, ran.returncode != 0


def noisy(model, call):
    """The results with weights that differ by about what rounding makes."""
    generator, own = torch.Generator().manual_seed(3), copy.deepcopy(model)
    with torch.no_grad():
        for values in own.parameters():
            values.mul_(1 + drawn.NOISE * torch.randn(values.shape, generator=generator))
    return drawn.results(own, call)


def same(made, usual, other):
    """True if two results are as near as those with noise in the weights."""
    return made.keys() == usual.keys() and all(
        made[key].shape == usual[key].shape and (made[key] - usual[key]).abs().max() <= drawn.ROUNDING * max(
            1, usual[key].abs().max()) + drawn.SPREAD * (other[key] - usual[key]).abs().max() for key in usual)


def swept(case):
    """Writes the folders of a case. Returns what is wrong already, counts, and those that are left to be built."""
    class_name, settings, special = CASES[case]
    words = [word for word in special.get("words", []) if "adapter" not in word]
    if re.search("ForCausalLM|LMHead", class_name):
        words = ["output.1.over=all"]
    base = written(case, class_name, settings)
    if base is None:
        return [f"{case}: no model"], {}, []
    inputs, call, mask, build_words = calls_of(base, words)
    usual, other, before = drawn.results(base, call), noisy(base, call), described(case)
    wrong, counts, left = [], {"as before": 0, "refused": 0, "named": 0, "no model": 0}, []
    keys = json.loads((OUT / "folders" / case / "config.json").read_text())
    numbers = itertools.count()
    for key in keys:
        for value in others(key, keys[key]) if key not in SKIPPED else []:
            name = f"{case}_{next(numbers)}"
            model, label = written(name, class_name, {**settings, key: value}), f"{case}: {key}: {json.dumps(value)}"
            try:
                torch.manual_seed(0)
                made = model and drawn.results(model, call)
            except Exception:
                made = None
            if not made or not all(each.isfinite().all() for each in made.values()):
                counts["no model"] += 1
                continue
            text, said, is_refused = described(name)
            inner = [each for each in value if value[each] != (keys[key] or {}).get(each)] if isinstance(value, dict) else []
            is_named = any(each in said for each in [key, *inner])
            if is_refused:
                counts["refused"] += 1
                if "config.json" not in said:
                    wrong.append(f"{label}: refused as {said.strip()}")
            elif text == before[0] and same(made, usual, other):
                counts["as before"] += 1
            elif text == before[0] and is_named:
                counts["named"] += 1
            elif text == before[0]:
                apart = [f"{each} {(made[each] - usual[each]).abs().max():.3g}" for each in made
                         if each in usual and made[each].shape == usual[each].shape]
                wrong.append(f"{label}: WITHOUT A WORD: {', '.join(apart) or 'another shape'}")
            else:
                left.append((label, is_named, name, model))
    done = [(label, is_named, drawn.finished(name, class_name, OUT / "folders" / name, torch.Generator().manual_seed(3),
                                             model, inputs, call, mask, build_words))
            for label, is_named, name, model in left]
    return wrong, counts, done


def main():
    hf.logging.set_verbosity_error()
    hf.logging.disable_progress_bar()
    torch.set_num_threads(1)
    drawn.OUT, modeling_falcon.build_alibi_tensor = OUT, falcon_distances
    shutil.rmtree(OUT, ignore_errors=True)
    (OUT / "folders").mkdir(parents=True)
    names = [name for name in sys.argv[1:] if name != "--imports"] or [name for name, (class_name, _, special) in CASES.items()
                             if HEADS.search(class_name) and not set(special) - {"words"}
                             and hasattr(getattr(hf, class_name, None), "config_class") and "pixel" not in getattr(
                                 hf, class_name).main_input_name and "adapter" not in str(special)]
    failed = 0
    for case in names:
        wrong, counts, left = swept(case)
        counts["equal"], counts["not built"] = 0, len(left) if IMPORTS else 0
        left = [] if IMPORTS else left
        drawn.build([each[2] for each in left])
        for label, is_named, each in left:
            problem = drawn.differs(each)
            if problem is None:
                counts["equal"] += 1
            elif problem.startswith("refused"):
                counts["refused"] += 1
            elif is_named and problem.startswith("DIFFERS"):
                counts["named"] += 1
            else:
                wrong.append(f"{label}: {each['name']}: {problem}")
        failed += len(wrong)
        for line in wrong:
            print(line)
        print(f"{case}:", ", ".join(f"{count} {what}" for what, count in counts.items()), f"and {len(wrong)} wrong", flush=True)
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
