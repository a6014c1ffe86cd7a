#!/usr/bin/env python3
"""Makes the folders of tests/hf/pictures: small models with an image processor, and what transformers makes of
pictures with them.

    config.json, model.safetensors, preprocessor_config.json   as `save_pretrained` writes them; weights as float16
    out_NAME.npy      for the pictures of PICTURES in their order: pixel_values, and outputs of the model
    words.txt         KEY=VALUE that the build gets, if it gets any

    pictures.py            writes all cases
    pictures.py CASE ...   only these

Run as goldens.py, with Pillow 13.0.0.
"""

import importlib
import json
import shutil
import sys
import zlib
from pathlib import Path

import numpy as np
import torch
import transformers as hf
from transformers.image_utils import load_image

from goldens import CLIP_VISION, DINO, LABELS, VIT, fill

HERE = Path(__file__).resolve().parent / "pictures"
FILES = Path(__file__).resolve().parent.parent / "pictures/files"
PICTURES = ["cmyk.jpg", "exif6.jpg", "grey16.png", "one_pixel.png", "palette4.png", "progressive.jpg", "rgb420.jpg",
            "rgba8.png"]
SMALL = {**VIT, "image_size": 16}
NAMED = {**LABELS, "id2label": {0: "cat", 1: "a \"dog\"", 2: "bïrd\n"}}


def processor(family, **settings):
    module = importlib.import_module(f"transformers.models.{family}.image_processing_pil_{family}")
    return next(value for name, value in vars(module).items() if name.endswith("ImageProcessorPil"))(**settings)


# case: class, configuration, the processor, and changes of preprocessor_config.json. Images of another size than the
# configuration's: also height and width, and the processor's settings for them.
CASES = {
    "vit_labels": ("ViTForImageClassification", {**SMALL, **NAMED},
                   ("vit", {"size": {"height": 16, "width": 16}}), {}),
    "vit_old": ("ViTModel", SMALL, ("vit", {"size": 16}),
                {"size": 16, "image_processor_type": None, "feature_extractor_type": "ViTFeatureExtractor"}),
    "vit_plain": ("ViTForImageClassification", {**SMALL, **NAMED, "problem_type": "multi_label_classification"},
                  ("vit", {"size": {"height": 16, "width": 16}, "resample": 3, "do_rescale": False,
                           "do_normalize": False}), {}),
    "clip_image": ("CLIPVisionModelWithProjection", {**CLIP_VISION, "image_size": 16},
                   ("clip", {"size": {"shortest_edge": 16}, "crop_size": {"height": 16, "width": 16}}), {}),
    "siglip_image": ("SiglipVisionModel", SMALL, ("siglip", {"size": {"height": 16, "width": 16}}), {}),
    "dinov2_resized": ("Dinov2Model", {**DINO, "mlp_ratio": 1, "image_size": 24},
                       ("bit", {"size": {"shortest_edge": 18}, "crop_size": {"height": 16, "width": 16}}), {}),
    "dinov2_wider": ("Dinov2ForImageClassification", {**DINO, **LABELS, "mlp_ratio": 1, "image_size": 8},
                     ("bit", {"size": {"shortest_edge": 18}, "crop_size": {"height": 16, "width": 20}}), {}),
    "registers_smaller": ("Dinov2WithRegistersModel", {**DINO, "mlp_ratio": 1, "image_size": 36, "num_register_tokens": 2},
                          ("bit", {"size": {"shortest_edge": 18}, "crop_size": {"height": 16, "width": 12}}), {}),
    "registers_larger": ("Dinov2WithRegistersModel", {**DINO, "mlp_ratio": 1, "image_size": 8, "num_register_tokens": 2},
                         ("bit", {"size": {"shortest_edge": 18}, "crop_size": {"height": 16, "width": 16}}), {}),
    "deit_crop": ("DeiTForImageClassificationWithTeacher", {**SMALL, **LABELS},
                  ("deit", {"size": {"height": 20, "width": 25}, "crop_size": {"height": 16, "width": 16}}), {}),
    "vit_wider": ("ViTForImageClassification", {**SMALL, **NAMED}, ("vit", {"size": {"height": 16, "width": 16}}), {},
                  (20, 28), {"size": {"height": 20, "width": 28}}),
    "deit_smaller": ("DeiTModel", {**SMALL, "image_size": 24},
                     ("deit", {"size": {"height": 27, "width": 30}, "crop_size": {"height": 24, "width": 24}}), {},
                     (16, 16), {"size": {"height": 18, "width": 20}, "crop_size": {"height": 16, "width": 16}}),
    "clip_larger": ("CLIPVisionModelWithProjection", {**CLIP_VISION, "image_size": 16},
                    ("clip", {"size": {"shortest_edge": 20}, "crop_size": {"height": 16, "width": 16}}), {},
                    (24, 24), {"size": {"shortest_edge": 30}, "crop_size": {"height": 24, "width": 24}}),
    "siglip_wider": ("SiglipVisionModel", SMALL, ("siglip", {"size": {"height": 16, "width": 16}}), {},
                     (12, 24), {"size": {"height": 12, "width": 24}}),
}


def write(name):
    class_name, settings, (family, of_processor), changes, *other = CASES[name]
    folder = HERE / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    model_class = getattr(hf, class_name)
    model = model_class(model_class.config_class(**settings))
    fill(model, torch.Generator().manual_seed(zlib.crc32(name.encode())))
    model.half().save_pretrained(folder)
    model = model_class.from_pretrained(folder, dtype=torch.float32).eval()
    prepare = processor(family, **of_processor)
    prepare.save_pretrained(folder)
    path = folder / "preprocessor_config.json"
    config = {key: value for key, value in {**json.loads(path.read_text()), **changes}.items() if value is not None}
    path.write_text(json.dumps(config, indent=2) + "\n")
    if other:
        (height, width), of_other = other
        (folder / "words.txt").write_text(f"input.height={height}\ninput.width={width}\n")
        prepare = processor(family, **{**of_processor, **of_other})
    images = [np.asarray(prepare(load_image(str(FILES / each)))["pixel_values"][0], np.float32) for each in PICTURES]
    pixels = torch.tensor(np.stack(images))
    with torch.no_grad():
        result = model(pixels, interpolate_pos_encoding=True) if other else model(pixels)
    found = {"pixel_values": pixels}
    for key in ["image_embeds"] if "image_embeds" in result else ("last_hidden_state", "pooler_output", "logits"):
        if result.get(key) is not None:
            found[key] = result[key].float()
    for key, value in found.items():
        np.save(folder / f"out_{key}.npy", value.numpy())
    (folder / "generation_config.json").unlink(missing_ok=True)


def main():
    torch.manual_seed(0)
    for name in sys.argv[1:] or CASES:
        write(name)
        print(name)


if __name__ == "__main__":
    main()
