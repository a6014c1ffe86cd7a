#!/usr/bin/env python3
"""Draws whole configurations of encoders and of towers for pictures, many keys at once, and compares what built
programs compute with what transformers makes of the same folders.

    drawn_encoders.py COUNT SEED [FAMILY ...]     COUNT folders of each family, or of these; exit 1 if one differs

A folder is config.json of random values and random weights, of which keys are then left out or made null. What
transformers opens it as is right, or published.py for folders with code of their own. A program must give the same numbers, or its build must refuse a key by name in one
line; the refusals are counted by what they say. NOISE in the weights changes numbers by about as much as rounding
does: SPREAD times that is allowed, and nothing is compared where it hides the result. Run as goldens.py.
"""

import collections
import importlib
import inspect
import json
import os
import random
import re
import shutil
import subprocess
import sys
import types
from pathlib import Path

import numpy as np
import torch
import transformers as hf
from transformers.models.auto.configuration_auto import CONFIG_MAPPING

from drawn_configs import FAMILIES, INPUTS, PUBLISHED
from goldens import fill

ROOT = Path(__file__).resolve().parent.parent.parent
OUT = ROOT / "out/drawn_encoders"
NOISE, SPREAD, ROUNDING, HIDDEN = 1e-6, 10, 1e-5, 0.02
CHANGED = 0.5          # of configurations that lose keys, or have null
TYPES = [torch.float32, torch.float32, torch.bfloat16, torch.float16]
NUMBERS = ["text_embeds", "image_embeds", "last_hidden_state", "pooler_output", "logits", "start_logits", "end_logits"]
BROKEN = re.compile(r"traceback|warning:|error:|undefined|internal|\.lua:", re.I)


def classes_of(config_class, begin):
    """The classes of a family's models whose names begin with a word."""
    module = importlib.import_module(config_class.__module__.replace("configuration", "modeling"))
    return sorted(name for name, each in vars(module).items() if inspect.isclass(each) and name.startswith(begin)
                  and issubclass(each, hf.PreTrainedModel) and each.__module__ == module.__name__
                  and not re.search("PreTrainedModel|PreTraining$|Stack|Encoder$|Backbone|MultipleChoice|NextSentence|CausalLM|LMHead|ImageModeling", name))


def opened(model_class, folder, attention="eager"):
    """The model of a folder whose weights are all in the file, or None."""
    try:
        model, found = model_class.from_pretrained(folder, dtype=torch.float32, attn_implementation=attention,
                                                   output_loading_info=True)
    except Exception:  # of many kinds, and no model all the same
        return None
    return None if found["missing_keys"] or found["mismatched_keys"] else model.eval()


def results(model, call):
    call = dict(call)
    tower = call.pop("tower", None)
    with torch.no_grad():
        if tower and hasattr(model, "get_image_features"):
            return {f"{tower}_embeds": getattr(model, f"get_{tower}_features")(**call).pooler_output.clone()}
        made = model(**call)
    return {key: made[key].clone() for key in NUMBERS if made.get(key) is not None}


def changed(r, folder, model_class, call):
    """Leaves keys of config.json out, or makes them null. Returns the model that transformers then opens."""
    path = folder / "config.json"
    model = opened(model_class, folder)
    if model is None or r.random() > CHANGED:
        return model
    for _ in range(r.randint(1, 4)):
        before = path.read_text()
        config = json.loads(before)
        part = config[r.choice([k for k in config if k.endswith("_config")])] if "text_config" in config else config
        key = r.choice([each for each in part if each not in ("architectures", "model_type", "auto_map")])
        if r.random() < 0.7:
            del part[key]
        else:
            part[key] = None
        path.write_text(json.dumps(config, indent=1))
        other = opened(model_class, folder)
        try:
            results(other, call)
            model = other
        except Exception:
            path.write_text(before)
    return opened(model_class, folder)


def published_case(family, name, r, folder, generator):
    """The same of a family whose folders have code of their own: published.py has the model."""
    model_class, draw, kind = PUBLISHED[family]
    settings = draw(r)
    model = model_class(settings).eval()
    fill(model, generator)
    model.save(folder, r.choice(TYPES))
    sizes = types.SimpleNamespace(vocab_size=settings["vocab_size"], type_vocab_size=model.key("type_vocab_size"),
                                  model_type="", pad_token_id=settings.get("pad_token_id"),
                                  max_position_embeddings=settings[model.longest_key])
    inputs, call, mask, words = INPUTS[kind](r, generator, sizes)
    return finished(name, settings["architectures"][0], folder, generator, model, inputs, call, mask, words)


def case_of(family, number, seed):
    """Writes a drawn folder and its inputs. Returns what is expected of it, or None if transformers has no such model."""
    name = re.sub("[^a-z0-9]", "_", family) + f"_{number}"
    r, folder = random.Random(f"{family} {number} {seed}"), OUT / "folders" / name
    generator = torch.Generator().manual_seed(r.randrange(2**31))
    if family in PUBLISHED:
        return published_case(family, name, r, folder, generator)
    model_type, begin, draw, kind = FAMILIES[family]
    config_class = CONFIG_MAPPING[model_type]
    class_name = r.choice(classes_of(config_class, begin))
    settings, inputs_of = draw(r), INPUTS[kind]
    if r.random() < 0.5:
        settings |= {"num_labels": r.randint(1, 5)}
    try:
        model_class = getattr(hf, class_name, None) or getattr(importlib.import_module(
            config_class.__module__.replace("configuration", "modeling")), class_name)
        model = model_class(model_class.config_class(**settings))
        fill(model, generator)
        model.to(r.choice(TYPES)).save_pretrained(folder)
        (folder / "generation_config.json").unlink(missing_ok=True)
        torch.manual_seed(number)
        inputs, call, mask, words = inputs_of(r, generator, model.config)
        model = changed(r, folder, model_class, call)
        return finished(name, class_name, folder, generator, model, inputs, call, mask, words)
    except Exception as problem:
        shutil.rmtree(folder, ignore_errors=True)
        return {"name": name, "none": f"{type(problem).__name__}: {problem}".split("\n")[0][:150], "class": class_name}


def finished(name, class_name, folder, generator, model, inputs, call, mask, words):
    """Writes the inputs of a folder. Returns what is expected of it, and of weights with noise."""
    want = results(model, call)
    with torch.no_grad():
        for values in model.parameters():
            values.mul_(1 + NOISE * torch.randn(values.shape, generator=generator))
    other = results(model, call)
    for key, value in inputs.items():
        value = value.numpy().astype(np.float32 if value.is_floating_point() else np.int32)
        np.save(folder / f"in_{key}.npy", value)
        if mask is not None and "any" in words[0]:
            np.save(folder / f"in_{key}_rows.npy", value[mask.numpy() > 0] if value.ndim > 1 else value)
    return {"name": name, "class": class_name, "want": want, "other": other, "mask": mask, "inputs": list(inputs),
            "words": words + [f"name={name}"] * ("tower=text" in words)}


def build(cases):
    lines = ["\n".join([f"folders/{case['name']}", case["name"], "--answers", "kernels=c", *case["words"]])
             for case in cases]
    subprocess.run(["xargs", "-0", "-P", "2", "-n", "8", "lua5.4", str(ROOT / "tests/program.lua"), "--each"], cwd=OUT,
                   input="\0".join(lines).encode(), check=True,
                   env={**os.environ, "ATTN2C_CFLAGS": "-O0 -Werror -Wall -Wextra"})


def run(command):
    return subprocess.run(command, cwd=OUT, capture_output=True, text=True, check=False)


def differs(case):
    """Returns what a program gives, if it is not what is expected; a refusal; or None."""
    name = case["name"]
    if not (OUT / name / name).exists():
        log = (OUT / f"{name}.log").read_text()
        lines = [line for line in log.splitlines() if not re.search(": not known|is left out|note:", line)]
        return ("BROKEN " if BROKEN.search(log) or not lines else "refused ") + "\n".join(lines[-3:])
    info = json.loads(run([f"{name}/{name}", "info", "--json"]).stdout)["entries"][0]
    given = [each["name"] for each in info["inputs"]]
    outputs = [each["name"] for each in info["outputs"] if each["name"] != "similarity"]
    is_any = any(word.startswith("seq=any") for word in case["words"])  # rows follow each other, without padding
    if is_any:
        given.append("lengths")
    if set(given) - set(case["inputs"]):
        return f"BROKEN inputs {given}, expected {case['inputs']}"
    ran = run([f"{name}/{name}", "run", "--weights", f"folders/{name}",
               *[word for each in given for word in ("--input", f"{each}=folders/{name}/in_{each}{'_rows' * is_any}.npy")],
               *[word for each in outputs for word in ("--output", f"{each}={name}/out_{each}.npy")]])
    if ran.returncode != 0:
        return f"BROKEN status {ran.returncode}: {ran.stderr[-300:]}"
    case["unclear"] = False
    want = case["want"]
    for output in outputs:
        if output not in want:
            return f"BROKEN output {output}: transformers has {list(want)}"
        expected, other = want[output].numpy(), case["other"][output].numpy()
        got, mask = np.load(OUT / name / f"out_{output}.npy"), case["mask"]
        if mask is not None and (expected.ndim > 2 or output in ("start_logits", "end_logits")):
            kept = mask.numpy()[:, :expected.shape[1]] > 0
            got, expected, other = got if is_any or got.shape != expected.shape else got[kept], expected[kept], other[kept]
        if got.shape != expected.shape:
            return f"DIFFERS {output}: shape {got.shape}, expected {expected.shape}"
        allowed = ROUNDING * max(1, np.abs(expected).max()) + SPREAD * np.abs(expected - other).max()
        if not np.isfinite(expected).all() or allowed > HIDDEN * max(1e-3, np.abs(expected).max()):
            case["unclear"] = True
        elif not np.abs(got - expected).max() <= allowed:
            return (f"DIFFERS {output}: by {np.abs(got - expected).max():.3g}, allowed {allowed:.2g}, of "
                    f"{np.abs(expected).max():.3g}")
    return None


def main():
    count, seed = int(sys.argv[1]), sys.argv[2]
    shutil.rmtree(OUT, ignore_errors=True)
    (OUT / "folders").mkdir(parents=True)
    hf.logging.set_verbosity_error()
    hf.logging.disable_progress_bar()
    said, failed, compared, unclear, none = collections.Counter(), 0, 0, 0, collections.Counter()
    for family in sys.argv[3:] or [*FAMILIES, *PUBLISHED]:
        drawn = [case_of(family, number, seed) for number in range(count)]
        cases = [case for case in drawn if "none" not in case]
        none.update(f"{family}: {re.sub('[0-9]+', 'N', case['none'])}" for case in drawn if "none" in case)
        build(cases)
        for case in cases:
            problem = differs(case)
            unclear += case.get("unclear", False)
            if problem is None:
                compared += 1
                shutil.rmtree(OUT / case["name"], ignore_errors=True)
            elif problem.startswith("refused"):
                said[f"{family}: " + re.sub("[0-9]+", "N", problem.replace(f"folders/{case['name']}/", ""))] += 1
            else:
                failed += 1
                print(case["name"], case["class"], " ".join(case["words"]), problem, flush=True)
    for line, times in sorted(none.items()):
        print(f"transformers {times}x {line}")
    for line, times in sorted(said.items()):
        print(f"{times}x {line}")
    print(f"{compared} folders agree ({unclear} with unclear numbers), {sum(said.values())} are refused, {failed} fail, "
          f"{sum(none.values())} are no model of transformers'")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
