#!/usr/bin/env python3
"""Draws how folders prepare pictures, and pictures of odd sizes and kinds, and compares the images that built programs
make of them with those of transformers' processors with Pillow.

    drawn_pictures.py COUNT SEED [CLASS ...]     COUNT folders of each processor, or of these; exit 1 if one differs

The pixels must be equal to the last bit. Where a program takes no pictures, its build must say the key. A picture that
does not get the size of the model's image must be refused. Run as pictures.py. With a torchvision beside
it, folders of DINOv3 are drawn, too: their pixels are within FRACTIONS.
"""

import collections
import json
import random
import re
import shutil
import subprocess
import sys

import numpy as np
import torch
import transformers as hf
from PIL import Image
from transformers.image_utils import load_image
from transformers.utils import is_torchvision_available

import drawn_encoders
from drawn_encoders import BROKEN, ROOT
from goldens import fill

OUT = ROOT / "out/drawn_pictures"
FRACTIONS = 1e-5
SIZES = [(1, 1), (1, 9), (13, 1), (17, 31), (40, 23), (7, 5), (64, 48), (90, 11), (3, 100)]

# the class of a processor: the model's class, whether it reads patches.
MODELS = {"ViT": "ViTModel", "DeiT": "DeiTModel", "CLIP": "CLIPVisionModel", "Bit": "Dinov2Model", "Blip": "BlipVisionModel",
          "Siglip": "SiglipVisionModel", "Siglip2": "Siglip2VisionModel"}
if is_torchvision_available():
    MODELS = {"DINOv3ViT": "DINOv3ViTModel"}


def pictures(folder, r, generator):
    """Writes files of pictures; returns their paths."""
    folder.mkdir(parents=True)
    paths = []
    for number, (width, height) in enumerate(SIZES):
        numbers = generator.integers(0, 256, (height, width, 4), dtype=np.uint8)
        for mode in ("L", "LA", "RGB", "RGBA", "P", "1", "I;16"):
            if r.random() < 0.35:
                if mode == "I;16":
                    made = Image.fromarray(numbers[..., 0].astype(np.uint16) * r.choice([1, 3, 257]))
                elif mode in ("P", "1"):
                    made = Image.fromarray(numbers[..., :3]).convert(mode)
                else:
                    made = Image.fromarray({"L": numbers[..., 0], "LA": numbers[..., :2], "RGB": numbers[..., :3],
                                            "RGBA": numbers}[mode])
                paths.append(folder / f"{number}_{mode.replace(';', '')}.png")
                made.save(paths[-1])
        for mode in ("L", "RGB", "CMYK"):
            if r.random() < 0.35:
                exif = Image.Exif()
                exif[274] = r.randint(1, 8)
                paths.append(folder / f"{number}_{mode}.jpg")
                Image.fromarray(numbers[..., :3]).convert(mode).save(
                    paths[-1], quality=r.choice([50, 90]), subsampling=r.choice([0, 1, 2]), progressive=r.random() < 0.3,
                    **({"exif": exif} if r.random() < 0.6 else {}))
    return paths


def size(r, side, edge):
    """A size in one of its forms."""
    exact = {"height": side, "width": r.choice([side, side, side + 4])}
    return r.choice([exact, exact, {"shortest_edge": side}, side, [side, side + 4], {"longest_edge": side},
                     {"shortest_edge": side, "longest_edge": side + 9}, {"max_height": side, "max_width": side}, None]
                    if r.random() < 0.3 else [{"shortest_edge": side} if edge else exact])


def processor(r, name):
    """What preprocessor_config.json says."""
    edge, side = name in ("CLIP", "Bit"), r.choice([8, 12, 16, 20])
    made = {"image_processor_type": name + r.choice(["ImageProcessor", "ImageProcessorFast", "ImageProcessor"])}

    def may(key, probability, value):
        if r.random() < probability:
            made[key] = value()

    may("do_resize", 0.5, lambda: r.choice([True, True, True, False, None]))
    if name == "Siglip2":
        may("patch_size", 0.7, lambda: r.choice([4, 5]))
        may("max_num_patches", 0.8, lambda: r.choice([1, 7, 20, 33]))
    else:
        made["size"] = size(r, side, edge)
        may("do_center_crop", 0.4, lambda: r.choice([True, True, False, None]))
        if edge or name == "DeiT" or made.get("do_center_crop"):
            made["crop_size"] = size(r, r.choice([side, side - 4, side + 8]), False)
        may("default_to_square", 0.1, lambda: r.choice([True, False]))
    may("resample", 0.7, lambda: r.choice([0, 1, 2, 3, 4, 5, None]))
    may("do_rescale", 0.3, lambda: r.choice([True, True, False, None]))
    may("rescale_factor", 0.3, lambda: r.choice([1 / 255, 0.00784313725490196, 1, 0.5, None]))
    may("do_normalize", 0.3, lambda: r.choice([True, False, None]))
    may("image_mean", 0.5, lambda: r.choice([[0.1, 0.5, 0.9], [0.5], 0.5, [0, 0, 1], None]))
    may("image_std", 0.5, lambda: r.choice([[0.1, 0.5, 0.9], 0.25, [1, 2, 3], None]))
    may("do_pad", 0.3, lambda: r.choice([True, True, False]))
    if made.get("do_pad"):
        may("pad_size", 0.8, lambda: {"height": r.choice([side, 24]), "width": 24})
    may("do_convert_rgb", 0.3, lambda: r.choice([True, False, None]))
    may("crop_pct", 0.05, lambda: 0.9)
    may("do_flip_channel_order", 0.05, lambda: True)
    may("offset", 0.03, lambda: True)
    return made


def case_of(name, number, seed, paths):
    r = random.Random(f"{name} {number} {seed}")
    folder, made = OUT / "folders" / f"{name.lower()}_{number}", processor(r, name)
    folder.mkdir(parents=True)
    text = json.dumps(made)
    if r.random() < 0.2:
        (folder / "processor_config.json").write_text(json.dumps({"image_processor": made, "processor_class": "X"}))
    else:
        (folder / "preprocessor_config.json").write_text(text)
    model_class = getattr(hf, MODELS[name])
    sides, want = None, []
    try:
        prepare = hf.AutoImageProcessor.from_pretrained(folder)
        for path in paths:
            try:
                want.append({key: np.asarray(value[0]) for key, value in prepare(load_image(str(path))).items()})
            except ValueError:
                want.append(None)
        shapes = {each["pixel_values"].shape for each in want if each}
        sides = next(iter(shapes))[1:] if len(shapes) == 1 else None
    except Exception as problem:
        want = f"{type(problem).__name__}: {problem}".split("\n")[0][:150]
    settings = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 8}
    if name == "Siglip2":
        settings |= {"num_patches": 9, "patch_size": made.get("patch_size", 16) if r.random() < 0.9 else 4}
    else:
        if not sides or sides[0] != sides[1] and name in ("CLIP", "Siglip", "Blip"):  # whose models are square
            sides = (16, 16)
            want = want if isinstance(want, str) else [
                each if each and each["pixel_values"].shape[1:] == sides else None for each in want]
        settings |= {"image_size": sides[0] if sides[0] == sides[1] else list(sides), "patch_size": 4}
    model = model_class(model_class.config_class(**settings))
    fill(model, torch.Generator().manual_seed(number))
    model.save_pretrained(folder)
    return {"name": folder.name, "words": ["--notes"], "want": want, "said": made, "is_rows": name == "Siglip2"}


def differs(case, paths):
    name, want = case["name"], case["want"]
    log = (OUT / f"{name}.log").read_text()
    if not (OUT / name / name).exists():
        return ("BROKEN " if BROKEN.search(log) or not log else "refused ") + log
    if "takes arrays, and no pictures" in log:
        return "refused " + log
    if isinstance(want, str):
        return f"BROKEN takes pictures, but transformers: {want}"
    for number, (path, each) in enumerate(zip(paths, want)):
        ran = subprocess.run([f"{name}/{name}", "run", "--weights", f"folders/{name}", "--image", str(path), "--output",
                              f"pixel_values={name}/x.npy"], cwd=OUT, capture_output=True, text=True, check=False)
        if ran.returncode not in (0, 3) or BROKEN.search(ran.stderr):
            return f"BROKEN {path.name}: status {ran.returncode}: {ran.stderr}"
        if (ran.returncode == 0) != (each is not None):
            return (f"DIFFERS {path.name}: status {ran.returncode}, {ran.stderr.strip()}; transformers "
                    f"{'has' if each else 'has no'} image")
        if each is None:
            continue
        got, expected = np.load(OUT / name / "x.npy")[0], each["pixel_values"].astype(np.float32)
        if case["is_rows"]:
            count = int(each["pixel_attention_mask"].sum())
            got, expected = got.reshape(-1, expected.shape[1])[:count], expected[:count]
        if got.shape != expected.shape:
            return f"DIFFERS {path.name}: shape {got.shape}, expected {expected.shape}"
        apart = np.abs(got - expected).max()
        if not apart <= (FRACTIONS if name.startswith("dinov3") else 0):
            return f"DIFFERS {path.name}: by {apart:.3g} in {(got != expected).sum()} of {got.size}"
    return None


def main():
    count, seed = int(sys.argv[1]), sys.argv[2]
    shutil.rmtree(OUT, ignore_errors=True)
    drawn_encoders.OUT = OUT
    hf.logging.set_verbosity_error()
    hf.logging.disable_progress_bar()
    paths = pictures(OUT / "files", random.Random(seed), np.random.default_rng(abs(hash(int(seed)))))
    said, failed, agree = collections.Counter(), 0, 0
    for name in sys.argv[3:] or MODELS:
        cases = [case_of(name, number, seed, paths) for number in range(count)]
        drawn_encoders.build(cases)
        for case in cases:
            problem = differs(case, paths)
            if problem is None:
                agree += 1
                shutil.rmtree(OUT / case["name"], ignore_errors=True)
            elif problem.startswith("refused"):
                can = "" if not isinstance(case["want"], str) and any(case["want"]) else " (transformers: none)"
                said[name + can + ": " + re.sub("[0-9]+", "N", problem.replace(f"folders/{case['name']}/", ""))] += 1
            else:
                failed += 1
                print(case["name"], problem, json.dumps(case["said"]), flush=True)
    for line, times in sorted(said.items()):
        print(f"{times}x {line.strip()}")
    print(f"{agree} folders agree on {len(paths)} pictures, {sum(said.values())} are refused, {failed} fail")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
