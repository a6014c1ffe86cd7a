#!/usr/bin/env python3
"""Makes the folders of tests/hf/towers: small models of CLIP and SigLIP with both towers, tokenizer and image
processor, and what transformers makes of pictures and texts with them.

    config.json, model.safetensors, preprocessor_config.json, tokenizer files   weights as float16
    spiece.model                               SigLIP's tokenizer as sentencepiece has it; tokenizer.json is the same
    texts.txt                                  the texts, one a line
    out_logits_per_image.npy                   for the pictures of pictures.py and these texts
    out_probabilities.npy                      softmax (CLIP) or sigmoid (SigLIP) of these
    out_input_ids.npy                          the tokens of the texts; -1 after the last of a text

    towers.py            writes all cases
    towers.py CASE ...   only these

Run as goldens.py, with Pillow 13.0.0, sentencepiece 0.2.3 and protobuf.
"""

import io
import json
import shutil
import string
import sys
import zlib
from pathlib import Path

import numpy as np
import sentencepiece
import torch
import transformers as hf
from tokenizers import AddedToken, Regex, Tokenizer, models, normalizers, pre_tokenizers, processors, trainers
from transformers.image_utils import load_image

from cases import CLIP_TEXT, CLIP_VISION, SIGLIP_2, VIT
from goldens import fill
from pictures import FILES, PICTURES, processor

HERE = Path(__file__).resolve().parent / "towers"
TEXTS = ["a cat", "A photo of a Dog, and 2 cats!", "naïve   \tcafé? ", "猫", "",
         "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen"]
CORPUS = ["a photo of a cat", "a picture of two dogs", "the cat and the dog", "one two three four five", "a red house",
          "naïve café", "猫 犬", "six seven eight nine ten eleven twelve"] * 4


def clip_tokenizer(folder):
    """A tokenizer with CLIP's steps and few merges."""
    ends = ["<|startoftext|>", "<|endoftext|>"]
    tool = Tokenizer(models.BPE(end_of_word_suffix="</w>", unk_token=ends[1]))
    tool.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    trainer = trainers.BpeTrainer(vocab_size=560, initial_alphabet=alphabet, end_of_word_suffix="</w>",
                                  show_progress=False)
    tool.train_from_iterator(CORPUS, trainer)
    trained = json.loads(tool.to_str())["model"]
    merges = [tuple(pair) if isinstance(pair, list) else tuple(pair.split(" ")) for pair in trained["merges"]]
    words = alphabet + [letter + "</w>" for letter in alphabet] + ["".join(pair) for pair in merges] + ends
    vocab = {word: number for number, word in enumerate(dict.fromkeys(words))}
    made = hf.CLIPTokenizer(vocab=vocab, merges=merges, model_max_length=12)
    made.save_pretrained(folder)
    return made, len(vocab)


def siglip_tokenizer(folder):
    """SentencePiece's unigram model as SigLIP has it, and the steps of SiglipTokenizer as a tokenizer.json."""
    file = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(CORPUS), model_writer=file, vocab_size=64, model_type="unigram", pad_id=0, eos_id=1,
        unk_id=2, bos_id=-1, normalization_rule_name="identity", hard_vocab_limit=False, minloglevel=2)
    (folder / "spiece.model").write_bytes(file.getvalue())
    plain = hf.SiglipTokenizer(str(folder / "spiece.model"), model_max_length=12)
    from sentencepiece import sentencepiece_model_pb2 as pb
    proto = pb.ModelProto.FromString(file.getvalue())
    tool = Tokenizer(models.Unigram([(piece.piece, piece.score) for piece in proto.pieces], unk_id=2))
    tool.normalizer = normalizers.Sequence([
        normalizers.Lowercase(), normalizers.Replace(Regex("[" + "".join("\\" + c for c in string.punctuation) + "]"), ""),
        normalizers.Replace(Regex(r"\s+"), " "), normalizers.Strip()])
    tool.pre_tokenizer = pre_tokenizers.Metaspace()
    tool.post_processor = processors.TemplateProcessing(single="$A </s>", pair="$A </s> $B </s>",
                                                        special_tokens=[("</s>", 1)])
    tool.add_special_tokens([AddedToken(word, special=True, normalized=False, lstrip=word != "<pad>",
                                        rstrip=word != "<pad>") for word in ("<pad>", "</s>", "<unk>")])
    tool.save(str(folder / "tokenizer.json"))
    config = {"tokenizer_class": "SiglipTokenizer", "eos_token": "</s>", "pad_token": "</s>", "unk_token": "<unk>",
              "do_lower_case": True, "model_max_length": 12, "model_input_names": ["input_ids"]}
    (folder / "tokenizer_config.json").write_text(json.dumps(config, indent=2) + "\n")
    for text in TEXTS:
        assert plain(text, truncation=True)["input_ids"] == tool.encode(text).ids[:11] + [1] * (
            len(tool.encode(text).ids) > 11), (text, plain(text)["input_ids"], tool.encode(text).ids)
    return plain, proto.pieces.__len__()


SIGLIP_TEXT = {key: value for key, value in CLIP_TEXT.items() if key not in ("projection_dim", "hidden_act")}
# case: class, tokenizer, configurations of text and of images, more keys, the image processor, padding
CASES = {
    "clip": (hf.CLIPModel, clip_tokenizer, CLIP_TEXT, {**CLIP_VISION, "image_size": 16}, {"projection_dim": 12},
             ("clip", {"size": {"shortest_edge": 16}, "crop_size": {"height": 16, "width": 16}}), "longest"),
    "siglip2": (hf.Siglip2Model, siglip_tokenizer, SIGLIP_TEXT, SIGLIP_2, {},
                ("siglip2", {"patch_size": 4, "max_num_patches": 20}), "max_length"),
    "siglip": (hf.SiglipModel, siglip_tokenizer, SIGLIP_TEXT, {**VIT, "image_size": 16}, {},
               ("siglip", {"size": {"height": 16, "width": 16}}), "max_length"),
}


def write(name):
    model_class, make, text, vision, more, (family, of_processor), padding = CASES[name]
    folder = HERE / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    tokenizer, vocab = make(folder)
    text = {**text, "vocab_size": vocab, "max_position_embeddings": 12, "pad_token_id": tokenizer.pad_token_id,
            "bos_token_id": tokenizer.bos_token_id or 0, "eos_token_id": tokenizer.eos_token_id}
    model = model_class(model_class.config_class(text_config=text, vision_config=vision, **more))
    fill(model, torch.Generator().manual_seed(zlib.crc32(name.encode())))
    with torch.no_grad():
        model.logit_scale.fill_(1.75)
        if name != "clip":
            model.logit_bias.fill_(-0.625)
    model.half().save_pretrained(folder)
    model = model_class.from_pretrained(folder, dtype=torch.float32).eval()
    prepare = processor(family, **of_processor)
    prepare.save_pretrained(folder)
    made = [prepare(load_image(str(FILES / each))) for each in PICTURES]
    images = {key: torch.tensor(np.stack([np.asarray(each[key][0]) for each in made])) for key in made[0]}
    images["pixel_values"] = images["pixel_values"].float()
    tokens = tokenizer(TEXTS, padding=padding, truncation=True, return_tensors="pt")
    if padding == "max_length":
        tokens = {"input_ids": tokens["input_ids"]}  # as the published tokenizers: the model sees the padding
    with torch.no_grad():
        logits = model(**images, **tokens).logits_per_image
    ids = tokens["input_ids"].numpy().astype(np.int32)
    if "attention_mask" in tokens:
        ids[tokens["attention_mask"].numpy() == 0] = -1
    probabilities = logits.softmax(1) if name == "clip" else logits.sigmoid()
    for key, value in {"logits_per_image": logits.numpy(), "probabilities": probabilities.numpy(), "input_ids": ids}.items():
        np.save(folder / f"out_{key}.npy", np.ascontiguousarray(value))
    (folder / "texts.txt").write_text("\n".join(TEXTS) + "\n")
    (folder / "generation_config.json").unlink(missing_ok=True)


def main():
    torch.manual_seed(0)
    for name in sys.argv[1:] or CASES:
        write(name)
        print(name)


if __name__ == "__main__":
    main()
