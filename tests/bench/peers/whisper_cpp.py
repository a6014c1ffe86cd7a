"""whisper.cpp as an engine of the race of models that write down speech, by PyPI's pywhispercpp: its file of a model is
written from a folder of transformers, and its encoder and decoder are called for features, as the others'.

The format is that of whisper.cpp's models/convert-h5-to-ggml.py: sizes, mel filters, tokens, then each tensor. In q8_0 the
linear layers and the table of tokens are blocks of 32 integers with a scale in f16, as its quantize program makes them.
"""
import json
import struct

import numpy as np

MAGIC, F32, F16, Q8_0 = 0x67676d6c, 0, 1, 8
FILE_TYPES = {"f16": 1, "q8_0": 2007}      # 7, of version 2 of the blocks
BLOCK = 32
PARTS = {"self_attn.q_proj": "attn.query", "self_attn.k_proj": "attn.key", "self_attn.v_proj": "attn.value",
         "self_attn.out_proj": "attn.out", "self_attn_layer_norm": "attn_ln", "encoder_attn.q_proj": "cross_attn.query",
         "encoder_attn.k_proj": "cross_attn.key", "encoder_attn.v_proj": "cross_attn.value",
         "encoder_attn.out_proj": "cross_attn.out", "encoder_attn_layer_norm": "cross_attn_ln", "fc1": "mlp.0",
         "fc2": "mlp.2", "final_layer_norm": "mlp_ln"}
WHOLE = {"encoder.layer_norm": "encoder.ln_post", "decoder.layer_norm": "decoder.ln",
         "encoder.embed_positions.weight": "encoder.positional_embedding",
         "decoder.embed_positions.weight": "decoder.positional_embedding",
         "decoder.embed_tokens": "decoder.token_embedding"}


def name_of(name):
    """The name of a tensor of transformers in whisper.cpp."""
    words = name.removeprefix("model.").split(".")
    if words[1] == "layers":
        return ".".join([words[0], "blocks", words[2], PARTS[".".join(words[3:-1])], words[-1]])
    whole = ".".join(words)
    for theirs, ours in WHOLE.items():
        if whole.startswith(theirs):
            return ours + whole[len(theirs):]
    return whole


def blocks_of(values):
    """The bytes of rows of numbers as blocks: a scale in f16, and 32 integers."""
    rows = values.astype(np.float32).reshape(-1, BLOCK)
    scales = np.abs(rows).max(1, keepdims=True) / 127
    numbers = np.round(rows / np.where(scales > 0, scales, 1)).astype(np.int8)
    return np.concatenate([scales.astype(np.float16).view(np.uint8), numbers.view(np.uint8)], 1).tobytes()


def put_tensor(out, name, values, kind):
    is_table = values.ndim < 2 or "positional" in name
    values = values.reshape(-1, 1) if name in ("encoder.conv1.bias", "encoder.conv2.bias") else values
    stored = F32 if is_table else Q8_0 if kind == "q8_0" and values.ndim == 2 else F16
    out.write(struct.pack("<iii", values.ndim, len(name), stored))
    out.write(struct.pack(f"<{values.ndim}i", *values.shape[::-1]))
    out.write(name.encode())
    out.write(blocks_of(values) if stored == Q8_0 else values.astype(np.float16 if stored == F16 else np.float32).tobytes())


def write(folder, path, kind):
    """Writes the file of a folder's model. kind: f16 or q8_0."""
    from safetensors.numpy import load_file
    config = json.loads((folder / "config.json").read_text())
    width, heads = config["d_model"], config["encoder_attention_heads"]
    with open(path, "wb") as out:
        out.write(struct.pack("<12i", MAGIC, config["vocab_size"], config["max_source_positions"], width, heads,
                              config["encoder_layers"], config["max_target_positions"], width, heads,
                              config["decoder_layers"], config["num_mel_bins"], FILE_TYPES[kind]))
        out.write(struct.pack("<2i", config["num_mel_bins"], 201) + bytes(4 * 201 * config["num_mel_bins"]))
        words = [f"t{i}".encode() for i in range(50257)]      # it makes the rest itself
        out.write(struct.pack("<i", len(words)) + b"".join(struct.pack("<i", len(word)) + word for word in words))
        for name, values in load_file(folder / "model.safetensors").items():
            if name != "proj_out.weight":
                put_tensor(out, name_of(name), values, kind)
