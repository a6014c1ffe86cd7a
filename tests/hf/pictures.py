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
from transformers.image_processing_utils import BaseImageProcessor
from transformers.image_utils import load_image

from cases import CLIP_VISION, DINO, DINO_3, LABELS, SIGLIP_2, VIT
from goldens import fill

HERE = Path(__file__).resolve().parent / "pictures"
FILES = Path(__file__).resolve().parent.parent / "pictures/files"
PICTURES = ["cmyk.jpg", "exif6.jpg", "grey16.png", "one_pixel.png", "palette4.png", "progressive.jpg", "rgb420.jpg",
            "rgba8.png"]
SMALL = {**VIT, "image_size": 16}
NAMED = {**LABELS, "id2label": {0: "cat", 1: "a \"dog\"", 2: "bïrd\n"}}


class Fractions(BaseImageProcessor):
    """As DINOv3ViTImageProcessor, which needs torchvision: pictures become floats before they are resized."""

    def __init__(self, size, crop_size=None, resample=2):
        super().__init__(image_processor_type="DINOv3ViTImageProcessorFast", size=size, crop_size=crop_size, resample=resample,
                         do_center_crop=None if crop_size is None else True, do_resize=True, do_rescale=True,
                         rescale_factor=1 / 255, do_normalize=True, image_mean=[0.485, 0.456, 0.406],
                         image_std=[0.229, 0.224, 0.225])

    def preprocess(self, image):
        values = torch.tensor(np.array(image.convert("RGB"))).permute(2, 0, 1)[None] * self.rescale_factor
        height, width = values.shape[2:]
        if "shortest_edge" in self.size:
            edge, short = self.size["shortest_edge"], min(height, width)
            size = (int(edge * height / short), int(edge * width / short))
        else:
            size = (self.size["height"], self.size["width"])
        values = torch.nn.functional.interpolate(values, size, mode={2: "bilinear", 3: "bicubic"}[self.resample],
                                                 antialias=True)
        if self.do_center_crop:
            up, left = (self.crop_size["height"] - size[0]), (self.crop_size["width"] - size[1])
            values = torch.nn.functional.pad(values, [max(0, left // 2), max(0, (left + 1) // 2), max(0, up // 2),
                                                      max(0, (up + 1) // 2)])
            up, left = (max(0, -up) // 2, max(0, -left) // 2)
            values = values[:, :, up:up + self.crop_size["height"], left:left + self.crop_size["width"]]
        mean, std = (torch.tensor(each)[:, None, None] for each in (self.image_mean, self.image_std))
        return {"pixel_values": (values - mean) / std}

    def to_dict(self):
        return {**super().to_dict(), "image_processor_type": "DINOv3ViTImageProcessorFast"}


def processor(family, **settings):
    if family == "dinov3":
        return Fractions(**settings)
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
    "dinov3_image": ("DINOv3ViTModel", {**DINO_3, "num_register_tokens": 2, "image_size": 16},
                     ("dinov3", {"size": {"height": 16, "width": 16}}), {}),
    "dinov3_crop": ("DINOv3ViTModel", {**DINO_3, "use_gated_mlp": True, "image_size": 224},
                    ("dinov3", {"size": {"shortest_edge": 18}, "crop_size": {"height": 12, "width": 20},
                                "resample": 3}), {}),
    "dinov3_wider": ("DINOv3ViTModel", {**DINO_3, "image_size": 224},
                     ("dinov3", {"size": {"height": 16, "width": 16}}), {}, (12, 28), {"size": {"height": 12, "width": 28}}),
    "siglip2_patches": ("Siglip2VisionModel", SIGLIP_2, ("siglip2", {"patch_size": 4, "max_num_patches": 20}), {}),
    "siglip2_labels": ("Siglip2ForImageClassification", {"vision_config": {**SIGLIP_2, "num_patches": 25, "patch_size": 5},
                                                         "text_config": {"vocab_size": 10, "hidden_size": 24}, **NAMED},
                       ("siglip2", {"patch_size": 5, "max_num_patches": 7, "resample": 3, "image_std": [0.25, 0.5, 1.0]}), {}),
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
    made = [prepare(load_image(str(FILES / each))) for each in PICTURES]
    pixels = torch.tensor(np.stack([np.asarray(each["pixel_values"][0], np.float32) for each in made]))
    grids = {key: torch.tensor(np.stack([np.asarray(each[key][0]) for each in made]))
             for key in ("pixel_attention_mask", "spatial_shapes") if key in made[0]}
    with torch.no_grad():
        result = model(pixels, **grids) if grids else model(pixels, interpolate_pos_encoding=True) if other and family != "dinov3" else model(pixels)
    found = {"pixel_values": pixels}
    for key in ["image_embeds"] if "image_embeds" in result else ("last_hidden_state", "pooler_output", "logits"):
        if result.get(key) is not None:
            found[key] = result[key].float()
    if grids:  # rows after the last patch are of no use
        found.pop("last_hidden_state", None)
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
