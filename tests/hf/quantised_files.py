#!/usr/bin/env python3
"""Makes quantised files of tests/hf in the formats of GPTQ, AWQ, compressed-tensors and MXFP4, with their values.

    quantised/NAME.safetensors    one layer, "layer", as a format stores it
    quantised/meant.safetensors   the values of each layer, by its name
    goldens/gptq_llama/ ...       small random models, as goldens.py describes a case

Codes, zero points, scales and the order of inputs are drawn; packing puts each code's bits where the format's
description has them, and `read` takes them out again by another path: bit by bit, from the file's bytes.
transformers gets the values in f32.

    quantised_files.py            writes all
    quantised_files.py CASE ...   writes some of the models
    quantised_files.py --peers    compares the files with compressed-tensors, gptqmodel and autoawq

Run with Python 3.11, torch 2.15.0, transformers 5.23.0, safetensors 0.8.0. --peers: compressed-tensors 0.20.0,
autoawq 0.2.9; the formulas of gptqmodel 7.7.0, which only installs with a compiler of CUDA, are written out.
"""

import importlib.util
import json
import shutil
import sys
import zlib
from pathlib import Path

import numpy as np
import torch
import transformers as hf
from safetensors.torch import load_file, save_file

HERE = Path(__file__).resolve().parent
AWQ_ORDER = [0, 2, 4, 6, 1, 3, 5, 7]  # the output that a word's codes belong to, from the lowest bits on


class Layer:
    """A layer's codes [out][in], zero points and scales [out][groups], and the group of each input."""

    def __init__(self, random, out, inputs, group, bits, asymmetric=False, order=False, scale=torch.float16, spread=0.1):
        self.bits, self.out, self.inputs = bits, out, inputs
        groups = inputs // group if group > 0 else 1
        self.codes = random.integers(0, 1 << bits, (out, inputs))
        self.zeros = np.full((out, groups), 1 << (bits - 1))
        if asymmetric:
            self.zeros = random.integers(0, 1 << bits, (out, groups))
        self.scales = torch.tensor(random.uniform(0.5, 1.5, (out, groups)) * spread / (1 << bits)).to(scale)
        self.group_of = np.arange(inputs) // (inputs // groups)
        if order is True:
            self.group_of = random.permutation(self.group_of)
        elif order:  # layers that read the same numbers have one order
            self.group_of = np.random.default_rng(zlib.crc32(order.encode())).permutation(self.group_of)

    def values(self):
        scales = self.scales.float().numpy()
        centred = (self.codes - self.zeros[:, self.group_of]).astype(np.float32)
        return torch.tensor(scales[:, self.group_of] * centred)


def packed(codes, bits):
    """[a][b] codes as int32 [a][b bits / 32], the first in the lowest bits."""
    count = -(-codes.shape[1] * bits // 32)
    words = np.zeros((codes.shape[0], count), np.uint64)
    for i in range(codes.shape[1]):
        words[:, i * bits // 32] |= codes[:, i].astype(np.uint64) << np.uint64(i * bits % 32)
    return torch.tensor(words.astype(np.uint32).view(np.int32))


def gptq(layer, version):
    """GPTQ's tensors. Its first version stores each word of zero points less one in each place."""
    zeros = packed(layer.zeros.T, layer.bits)
    if version == 1:
        one = sum(1 << at for at in range(0, 32, layer.bits))
        zeros = torch.tensor((zeros.numpy().view(np.uint32) - np.uint32(one)).view(np.int32))
    return {"qweight": packed(layer.codes, layer.bits).T.contiguous(), "qzeros": zeros,
            "scales": layer.scales.T.contiguous(), "g_idx": torch.tensor(layer.group_of.astype(np.int32))}


def awq(layer):
    def of(codes):
        turned = codes.T.reshape(codes.shape[1], -1, 8)[:, :, AWQ_ORDER].reshape(codes.shape[1], -1)
        return packed(turned, 4)
    return {"qweight": of(layer.codes), "qzeros": of(layer.zeros), "scales": layer.scales.T.contiguous()}


def compressed(layer, asymmetric=False, order=False, as_bytes=False, per_tensor=False):
    half = 1 << (layer.bits - 1)
    scales = layer.scales[:1, :1].reshape(1) if per_tensor else layer.scales
    if as_bytes:
        tensors = {"weight": torch.tensor((layer.codes - half).astype(np.int8)), "weight_scale": scales}
        if asymmetric:
            tensors["weight_zero_point"] = torch.tensor((layer.zeros - half).astype(np.int8))
        return tensors
    tensors = {"weight_packed": packed(layer.codes, layer.bits), "weight_scale": scales,
               "weight_shape": torch.tensor([layer.out, layer.inputs])}
    if asymmetric:
        tensors["weight_zero_point"] = packed(layer.zeros.T, layer.bits).T.contiguous()
    if order:
        tensors["weight_g_idx"] = torch.tensor(layer.group_of.astype(np.int32))
    return tensors


def bits_at(tensor, start, bits):
    """An integer of some bits from a tensor's bytes, bit by bit."""
    data = tensor.contiguous().view(torch.uint8).reshape(-1)
    return sum(((int(data[(start + b) // 8]) >> ((start + b) % 8)) & 1) << b for b in range(bits))


def read(kind, tensors, out, inputs, bits):
    """The values of a layer from its tensors, element by element. Zero points of version 1 must have no borrow."""
    n, values = 32 // bits, torch.zeros(out, inputs)
    order = tensors.get("g_idx", tensors.get("weight_g_idx"))
    scales = tensors.get("scales", tensors.get("weight_scale")).float()
    by_groups = scales.T if "scales" in tensors else scales
    groups = 1 if scales.numel() == 1 else by_groups.shape[1]
    for o in range(out):
        for i in range(inputs):
            g = int(order[i]) if order is not None else i * groups // inputs
            if kind.startswith("gptq"):
                code = bits_at(tensors["qweight"], 32 * (i // n * out + o) + bits * (i % n), bits)
                zero = bits_at(tensors["qzeros"], 32 * (g * (out // n)) + bits * o, bits)
                zero = zero if kind == "gptq_v2" else zero + 1
            elif kind == "awq":
                place = 32 * (o // 8) + 4 * AWQ_ORDER.index(o % 8)
                code = bits_at(tensors["qweight"], i * 32 * (out // 8) + place, 4)
                zero = bits_at(tensors["qzeros"], g * 32 * (out // 8) + place, 4)
            elif "weight" in tensors:
                code = int(tensors["weight"][o, i])
                zero = int(tensors["weight_zero_point"][o, g]) if "weight_zero_point" in tensors else 0
            else:
                code = bits_at(tensors["weight_packed"][o], bits * i, bits)
                zero = 1 << (bits - 1)
                if "weight_zero_point" in tensors:
                    zero = bits_at(tensors["weight_zero_point"][o // n, g:g + 1], bits * (o % n), bits)
            scale = scales.reshape(-1)[0] if scales.numel() == 1 else by_groups[o, g]
            values[o, i] = scale * np.float32(code - zero)
    return values


# name: kind, the layer's settings, the format's. Odd sizes are those that a format allows.
LAYERS = {
    "gptq": ("gptq", dict(group=32, bits=4), {}),
    "gptq_asymmetric": ("gptq", dict(group=32, bits=4, asymmetric=True), {}),
    "gptq_order": ("gptq", dict(group=16, bits=4, asymmetric=True, order=True), {}),
    "gptq_order_32": ("gptq", dict(group=32, bits=4, asymmetric=True, order=True), {}),
    "gptq_one_group": ("gptq", dict(group=-1, bits=4, asymmetric=True), {}),
    "gptq_8": ("gptq", dict(group=64, bits=8, asymmetric=True), {}),
    "gptq_2": ("gptq", dict(group=32, bits=2, scale=torch.bfloat16), {}),
    "gptq_v2": ("gptq_v2", dict(group=32, bits=4, asymmetric=True), {}),
    "awq": ("awq", dict(group=32, bits=4, asymmetric=True), {}),
    "awq_one_group": ("awq", dict(group=-1, bits=4, asymmetric=True, scale=torch.bfloat16), {}),
    "compressed": ("compressed-tensors", dict(group=32, bits=4, scale=torch.bfloat16), {}),
    "compressed_asymmetric": ("compressed-tensors", dict(group=32, bits=4, asymmetric=True), dict(asymmetric=True)),
    "compressed_order": ("compressed-tensors", dict(group=16, bits=4, order=True), dict(order=True)),
    "compressed_8": ("compressed-tensors", dict(group=-1, bits=8, scale=torch.bfloat16), {}),
    "compressed_bytes": ("compressed-tensors", dict(group=-1, bits=8, asymmetric=True),
                         dict(asymmetric=True, as_bytes=True)),
    "compressed_tensor": ("compressed-tensors", dict(group=-1, bits=8), dict(as_bytes=True, per_tensor=True)),
}


def stored(kind, layer, options):
    if kind == "awq":
        return awq(layer)
    if kind == "compressed-tensors":
        return compressed(layer, **options)
    return gptq(layer, 2 if kind == "gptq_v2" else 1)


def has_borrow(layer, kind):
    return kind == "gptq" and (layer.zeros == 0).any()


def write_layers():
    folder, meant = HERE / "quantised", {}
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for name, (kind, settings, options) in LAYERS.items():
        random = np.random.default_rng(zlib.crc32(name.encode()))
        layer = Layer(random, 32, 128, **settings)
        if options.get("per_tensor"):
            layer.scales[:] = layer.scales[0, 0]
        tensors = stored(kind, layer, options)
        if not has_borrow(layer, kind):
            assert torch.equal(read(kind, tensors, layer.out, layer.inputs, layer.bits), layer.values()), name
        meant[name] = layer.values()
        save_file({f"layer.{key}": value for key, value in tensors.items()}, folder / f"{name}.safetensors")
    save_file(meant, folder / "meant.safetensors")
    for path in folder.iterdir():
        path.chmod(0o644)


SMALL = {"vocab_size": 37, "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4,
         "num_key_value_heads": 2, "intermediate_size": 96, "max_position_embeddings": 64, "pad_token_id": 0,
         "bos_token_id": 1, "eos_token_id": 2}
GPTQ = {"quant_method": "gptq", "bits": 4, "group_size": 16, "desc_act": True, "sym": False, "lm_head": False,
        "checkpoint_format": "gptq", "damp_percent": 0.01, "true_sequential": True, "dynamic": None}
AWQ = {"quant_method": "awq", "bits": 4, "group_size": 32, "version": "gemm", "zero_point": True,
       "modules_to_not_convert": ["lm_head"]}


def compressed_config(bits, strategy, group, symmetric, form):
    return {"quant_method": "compressed-tensors", "format": form, "ignore": ["lm_head"], "kv_cache_scheme": None,
            "quantization_status": "compressed", "global_compression_ratio": None, "config_groups": {
                "group_0": {"targets": ["Linear"], "input_activations": None, "output_activations": None,
                            "weights": {"num_bits": bits, "type": "int", "symmetric": symmetric,
                                        "strategy": strategy, "group_size": group, "actorder": None,
                                        "block_structure": None, "dynamic": False, "observer": "minmax"}}}}


# case: class, configuration, kind, layers' settings, the format's, quantization_config; modules that stay floats.
CASES = {
    "gptq_llama": ("LlamaForCausalLM", SMALL, "gptq", dict(group=16, bits=4, asymmetric=True, order=True, spread=1.5), {},
             GPTQ, ["lm_head", "layers.1.mlp.down_proj"]),
    "gptq_order_llama": ("LlamaForCausalLM", {**SMALL, "intermediate_size": 128}, "gptq",
                         dict(group=32, bits=4, order="readers", spread=1.5), {},
                         {**GPTQ, "group_size": 32, "sym": True}, ["lm_head"]),
    "awq_qwen2": ("Qwen2ForCausalLM", SMALL, "awq", dict(group=32, bits=4, asymmetric=True, spread=1.5), {}, AWQ,
            ["lm_head"]),
    "compressed_phi3": ("Phi3ForCausalLM", SMALL, "compressed-tensors",
                   dict(group=32, bits=4, asymmetric=True, spread=1.5), dict(asymmetric=True),
                   compressed_config(4, "group", 32, False, "pack-quantized"), ["lm_head"]),
    "mxfp4_gpt_oss": ("GptOssForCausalLM", {
        **SMALL, "head_dim": 16, "intermediate_size": 128, "num_local_experts": 5, "num_experts_per_tok": 2,
        "sliding_window": 3, "swiglu_limit": 1.5}, "mxfp4", None, {},
        {"quant_method": "mxfp4", "modules_to_not_convert": ["model.layers.*.self_attn", "model.layers.*.mlp.router",
                                                             "model.embed_tokens", "lm_head"]}, []),
}


def mxfp4(random, experts, inputs, outputs):
    """The codes and scales of experts' weights, and their values [expert][in][out] as transformers has them."""
    from transformers.integrations.mxfp4 import convert_moe_packed_tensors
    blocks = torch.tensor(random.integers(0, 256, (experts, outputs, inputs // 32, 16)).astype(np.uint8))
    scales = torch.tensor(random.integers(120, 124, (experts, outputs, inputs // 32)).astype(np.uint8))
    return blocks, scales, convert_moe_packed_tensors(blocks, scales, dtype=torch.float32)


def reader(module):
    """A name that the modules which read the same numbers have in common."""
    layer, name = module.rsplit(".", 2)[0], module.rsplit(".", 1)[1]
    return layer + {"q_proj": "attn", "k_proj": "attn", "v_proj": "attn", "gate_proj": "mlp", "up_proj": "mlp"}.get(name, name)


def write_case(name):
    class_name, settings, kind, of_layers, options, quantised, floats = CASES[name]
    seed = zlib.crc32(name.encode())
    torch.manual_seed(seed)
    random = np.random.default_rng(seed)
    config = getattr(hf, class_name.split("For")[0] + "Config")(**settings)
    model = getattr(hf, class_name)(config).eval()
    tensors, state = {}, {}
    for key, parameter in model.named_parameters():
        value = torch.randn(parameter.shape) * 0.2 + (1 if parameter.ndim == 1 else 0)
        module = key.rsplit(".", 1)[0]
        if kind == "mxfp4" and parameter.ndim == 3:
            tensors[f"{key}_blocks"], tensors[f"{key}_scales"], value = mxfp4(random, *parameter.shape)
        elif kind != "mxfp4" and parameter.ndim == 2 and "embed" not in key and not any(module.endswith(end) for end in floats):
            settings = dict(of_layers)
            if settings.get("order") == "readers":
                settings["order"] = reader(module)
            layer = Layer(random, *parameter.shape, **settings)
            value = layer.values()
            for end, part in stored(kind, layer, options).items():
                tensors[f"{module}.{end}"] = part
        else:
            value = value.to(torch.float16)
            tensors[key] = value.clone()
        state[key] = value.float()
    model.load_state_dict(state, strict=False)
    folder = HERE / "goldens" / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    save_file(tensors, folder / "model.safetensors")
    (folder / "model.safetensors").chmod(0o644)
    written = {**json.loads(config.to_json_string(use_diff=True)), "architectures": [class_name],
               "quantization_config": quantised}
    (folder / "config.json").write_text(json.dumps(written, indent=2) + "\n")
    lengths, ids = [7, 4], random.integers(3, 37, (2, 7)).astype(np.int32)
    np.save(folder / "in_input_ids.npy", ids)
    np.save(folder / "in_lengths.npy", np.array(lengths, np.int32))
    rows = []
    for row, length in zip(ids, lengths):
        with torch.no_grad():
            rows.append(model(torch.tensor(row[None, :length].astype(np.int64))).logits[0, -1].numpy())
    np.save(folder / "out_logits.npy", np.stack(rows).astype(np.float32))
    (folder / "words.txt").write_text("batch=2\nseq=7\n")


def compare_with_peers():
    """Each file's values by the libraries that write such files, in f32."""
    place = Path(importlib.util.find_spec("awq").origin).parent / "utils" / "packing_utils.py"
    spec = importlib.util.spec_from_file_location("packing_utils", place)  # autoawq itself wants a GPU's packages
    awq_packing = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(awq_packing)
    from compressed_tensors.compressors.pack_quantized import PackedQuantizationCompressor
    from compressed_tensors.quantization import QuantizationArgs, QuantizationScheme
    from compressed_tensors.quantization.lifecycle.forward import dequantize
    meant = load_file(HERE / "quantised" / "meant.safetensors")
    for name, (kind, settings, options) in LAYERS.items():
        tensors = {key.split(".")[1]: value for key, value in
                   load_file(HERE / "quantised" / f"{name}.safetensors").items()}
        group = settings["group"] if settings["group"] > 0 else 128
        if kind == "awq":
            got = awq_packing.dequantize_gemm(tensors["qweight"], tensors["qzeros"], tensors["scales"].float(), 4, group).T
        elif kind == "compressed-tensors":
            one = settings["group"] < 0
            strategy = "tensor" if options.get("per_tensor") else "channel" if one else "group"
            args = QuantizationArgs(num_bits=settings["bits"], type="int", strategy=strategy,
                                    symmetric=not options.get("asymmetric"), group_size=None if one else group)
            tensors["weight_scale"] = tensors["weight_scale"].float()
            if options.get("as_bytes"):
                got = dequantize(tensors["weight"], tensors["weight_scale"], tensors.get("weight_zero_point"), args)
            elif "weight_g_idx" in tensors:
                from compressed_tensors.compressors.pack_quantized import unpack_from_int32
                codes = unpack_from_int32(tensors["weight_packed"], 4, torch.Size([32, 128]))
                turn = torch.argsort(tensors["weight_g_idx"], stable=True)  # as releases up to 0.14 did it
                got = dequantize(codes[:, turn], tensors["weight_scale"], None, args)[:, torch.argsort(turn)]
            else:
                scheme = QuantizationScheme(targets=["Linear"], weights=args)
                got = PackedQuantizationCompressor.decompress(tensors, scheme)["weight"]
        else:
            got = of_gptqmodel(kind, tensors, settings["bits"])
        apart = (got.float() - meant[name]).abs().max().item()
        print(f"{name}: {apart:g} apart")
        assert apart == 0, name


def of_gptqmodel(kind, tensors, bits):
    """The values by the functions of gptqmodel's nn_modules/qlinear, written out: that package needs a compiler."""
    zeros = tensors["qzeros"].clone()
    if kind == "gptq":
        zeros += {2: 0b01010101010101010101010101010101, 4: 0b00010001000100010001000100010001,
                  8: 0b00000001000000010000000100000001}[bits]
    shifts = torch.arange(0, 32, bits, dtype=torch.int32)
    zeros = torch.bitwise_and(zeros[:, :, None] >> shifts, (1 << bits) - 1).reshape(zeros.shape[0], -1)
    codes = torch.bitwise_and(tensors["qweight"][:, None, :] >> shifts[:, None], (1 << bits) - 1)
    codes = codes.reshape(-1, tensors["qweight"].shape[1])
    order = tensors["g_idx"].long()
    return (tensors["scales"].float()[order] * (codes - zeros[order])).T


def main():
    if sys.argv[1:] == ["--peers"]:
        compare_with_peers()
        return
    if not sys.argv[1:]:
        write_layers()
    for name in sys.argv[1:] or CASES:
        write_case(name)
        print(name)


if __name__ == "__main__":
    main()
