#!/usr/bin/env python3
"""Draws whole configurations of decoders, and compares the numbers of built libraries with transformers'.

    drawn_decoders.py COUNT SEED [FAMILY ...]   COUNT folders of each family, or of these; exit 1 if one is wrong

Each folder must give equal numbers in every row, or be refused in one line that names a key. A folder is built with a
context, whose calls divide and mix sequences, or for sequences of a fixed or any length. Allowed are 8 times the
differences that weights that differ by 1e-6 make, and 1e-5 of the largest number; rows in which such weights change
the chosen experts are not compared. Folders, builds and a line for each folder (cases.txt) are in out/drawn_decoders.
"""

import ctypes
import json
import math
import multiprocessing
import os
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

ROOT = Path(__file__).resolve().parent.parent.parent
OUT = ROOT / os.environ.get("DRAWN", "out/drawn_decoders")
ABI = re.search(r"abi = (\d+)", (ROOT / "gen/common/version.lua").read_text()).group(1)
NOISE, CLEAR = 1e-6, 1e-3
# model_type -> the beginning of its classes' names; families whose head_dim does not follow from the width, whose rotary
# positions go by the type of a layer, and whose heads may be rotated in part.
FAMILIES = {
    "bloom": "Bloom", "cohere": "Cohere", "cohere2": "Cohere2", "exaone4": "Exaone4", "falcon": "Falcon", "gemma": "Gemma",
    "gemma2": "Gemma2", "gemma3_text": "Gemma3", "gemma3n_text": "Gemma3n", "gemma4_text": "Gemma4", "glm": "Glm",
    "glm4": "Glm4", "gpt2": "GPT2", "gpt_neo": "GPTNeo", "gpt_neox": "GPTNeoX", "gptj": "GPTJ", "granite": "Granite",
    "lfm2": "Lfm2", "llama": "Llama", "ministral": "Ministral", "ministral3": "Ministral3", "mistral": "Mistral",
    "mpt": "Mpt", "olmo2": "Olmo2", "olmo3": "Olmo3", "opt": "OPT", "phi": "Phi", "phi3": "Phi3", "qwen2": "Qwen2",
    "qwen3": "Qwen3", "smollm3": "SmolLM3", "stablelm": "StableLm", "starcoder2": "Starcoder2", "gpt_oss": "GptOss",
    "granitemoe": "GraniteMoe", "lfm2_moe": "Lfm2Moe", "mixtral": "Mixtral", "olmoe": "Olmoe", "qwen2_moe": "Qwen2Moe",
    "qwen3_moe": "Qwen3Moe"}
OWN_WIDTH = {"gemma", "gemma2", "gemma3_text", "gemma3n_text", "gemma4_text", "glm", "glm4", "llama", "ministral",
             "ministral3", "mistral", "qwen3", "gpt_oss", "mixtral", "qwen3_moe", "exaone4", "cohere2"}
BY_TYPE = {"gemma3_text", "gemma3n_text", "gemma4_text", "olmo3"}
WHOLE = {"gemma3_text": "Gemma3ForConditionalGeneration", "gemma3n_text": "Gemma3nForConditionalGeneration",
         "gemma4_text": "Gemma4ForConditionalGeneration", "mistral": "Mistral3ForConditionalGeneration",
         "ministral3": "Mistral3ForConditionalGeneration"}
PARTIAL = {"glm", "glm4", "gpt_neox", "phi", "phi3", "stablelm"}
HEADS = ["LMHeadModel", "ForCausalLM", "Model", "TextModel", "ForSequenceClassification", "TextForSequenceClassification",
         "ForTokenClassification", "ForQuestionAnswering"]
ACTIVATIONS = ["silu", "gelu", "gelu_new", "gelu_pytorch_tanh", "relu", "quick_gelu", "tanh", "sigmoid", "gelu_fast",
               "swish", "gelu_python"]


def yes(r):
    return r.random() < 0.5


def maybe(r, value, probability=0.5):
    return value if r.random() < probability else None


def drawers(r, count):
    """Key -> a function that draws its value. count: of layers."""
    def number(low, high):
        return lambda: round(r.uniform(low, high), 3)

    def flags(*keys):
        return dict.fromkeys(keys, lambda: yes(r))

    def each(keys, draw):
        return dict.fromkeys(keys.split(), draw)

    return {
        **each("hidden_act hidden_activation activation_function activation", lambda: r.choice(ACTIVATIONS)),
        **each("rms_norm_eps layer_norm_eps layer_norm_epsilon norm_eps norm_epsilon",
               lambda: r.choice([1e-12, 1e-6, 1e-5, 1e-3, 0.1])),
        **flags("attention_bias", "mlp_bias", "use_qkv_bias", "qkv_bias", "use_bias", "bias", "qk_layernorm", "use_qk_norm",
                "use_parallel_residual", "parallel_attn", "new_decoder_architecture", "multi_query", "alibi",
                "do_layer_norm_before", "enable_bias", "scale_attn_by_inverse_layer_idx", "conv_bias", "use_expert_bias",
                "norm_topk_prob", "tie_word_embeddings", "attention_k_eq_v", "use_double_wide_mlp", "enable_moe_block",
                "altup_correct_scale", "block_auto_adjust_ff_dim", "use_sliding_window", "reorder_and_upcast_attn"),
        **each("sliding_window window_size", lambda: r.choice([1, 2, 3, 5, 8, 11, 200])),
        **each("intermediate_size moe_intermediate_size shared_expert_intermediate_size ffn_dim ffn_hidden_size n_inner",
               lambda: r.randint(5, 49)),
        **each("logits_scaling residual_multiplier attention_multiplier embedding_multiplier routed_scaling_factor",
               number(0.3, 2.5)),
        "logit_scale": number(0.1, 1.5), "query_pre_attn_scalar": lambda: r.randint(1, 30),
        **each("final_logit_softcapping attn_logit_softcapping", lambda: maybe(r, number(1, 6)(), 0.7)),
        "clip_qkv": lambda: maybe(r, number(0.4, 1.5)()), "swiglu_limit": number(0.5, 3),
        **each("num_experts num_local_experts", lambda: r.randint(2, 7)),
        **each("num_experts_per_tok top_k_experts", lambda: r.randint(1, 2)),
        "num_dense_layers": lambda: r.randint(0, 2), "decoder_sparse_step": lambda: r.randint(1, 2),
        "mlp_only_layers": lambda: [i for i in range(count) if r.random() < 0.25],
        "max_window_layers": lambda: r.randint(0, count), "_sliding_window_pattern": lambda: r.randint(1, 4),
        "sliding_window_pattern": lambda: r.randint(1, 4), "no_rope_layer_interval": lambda: r.randint(1, 4),
        "no_rope_layers": lambda: maybe(r, [r.randint(0, 1) for _ in range(count)]),
        "conv_L_cache": lambda: r.randint(1, 5), "block_multiple_of": lambda: r.randint(1, 9),
        "block_ffn_dim_multiplier": lambda: r.choice([None, 1.0, 1.3, 0.7]),
        "full_attn_idxs": lambda: maybe(r, [i for i in range(count) if yes(r)]),
        "num_ln_in_parallel_attn": lambda: r.choice([None, 1, 2]), "num_kv_shared_layers": lambda: r.randint(0, count - 1),
        "laurel_rank": lambda: r.randint(1, 7), "altup_num_inputs": lambda: r.randint(2, 4),
        "altup_active_idx": lambda: r.randint(0, 1), "hidden_size_per_layer_input": lambda: r.randint(1, 9),
        "global_head_dim": lambda: r.choice([4, 8, 12]), "num_global_key_value_heads": lambda: r.choice([None, 1]),
        "word_embed_proj_dim": lambda: r.randint(5, 30), "rotary_dim": lambda: r.choice([2, 4]),
        "use_bidirectional_attention": lambda: maybe(r, True, 0.3),
    }


def draw_rope(r, family, width, longest, partial):
    """Rotary positions: of one type, or of each type of layer."""
    def one():
        kind = r.choice(["default", "linear", "dynamic", "yarn", "yarn", "longrope", "llama3"])
        part = r.choice([k / width for k in range(2, width + 1, 2)]) if partial else 1
        dims = int(width * part)
        made = {"rope_type": kind, "rope_theta": r.choice([10.0, 50.0, 1e3, 1e4])}
        if partial:
            made["partial_rotary_factor"] = part
        if kind != "default":
            made["factor"] = round(r.uniform(1, 8), 2)
        if kind in ("yarn", "longrope", "llama3") and r.random() < 0.8:
            made["original_max_position_embeddings"] = r.choice([4, 8, 16, longest] if kind != "longrope" else [8, 24, 24])
        if kind == "llama3":
            made.update(low_freq_factor=r.choice([0.5, 1.0, 2.0]), high_freq_factor=r.choice([3.0, 4.0]))
        if kind == "longrope":
            made.update({key: [round(r.uniform(1, 4), 2) for _ in range(dims // 2)] for key in ("short_factor", "long_factor")})
            if yes(r):
                del made["factor"]
        if kind == "yarn":
            for key, value in (("beta_fast", r.choice([2.0, 8, 32])), ("beta_slow", r.choice([0.1, 0.5, 1])),
                               ("mscale", 0.7), ("mscale_all_dim", 0.4), ("truncate", yes(r))):
                made.update({key: value} if yes(r) else {})
        if kind in ("yarn", "longrope") and r.random() < 0.3:
            made["attention_factor"] = round(r.uniform(0.5, 2), 2)
        return made
    if family == "ministral3":
        return {**one(), "rope_type": "yarn", "factor": 3.0, "original_max_position_embeddings": r.choice([4, 8]),
                "llama_4_scaling_beta": 0.3}
    return {"full_attention": one(), "sliding_attention": one()} if family in BY_TYPE else one()


def draw(r, family):
    """A configuration of a family, as arguments of its class."""
    cls = type(hf.CONFIG_MAPPING[family]())
    usual, names = cls().to_dict(), cls.attribute_map
    count, heads = r.randint(1, 4 if "gemma" in family else 3), r.choice([1, 2, 3, 4, 6])
    width = r.choice([4, 8, 12, 16] if "num_experts_per_tok" in usual else [2, 4, 6, 8, 10, 12, 16])
    c = {"num_hidden_layers": count, "num_attention_heads": heads, "vocab_size": r.randint(29, 70),
         "max_position_embeddings": r.choice([8, 24, 32, 64])}
    c["hidden_size"] = r.randint(7, 40) if family in OWN_WIDTH and r.random() < 0.8 else heads * width
    if family in OWN_WIDTH:
        c["head_dim"] = width
    kv = "num_kv_heads" if family == "falcon" else "num_key_value_heads"
    if kv in usual:
        c[kv] = r.choice([k for k in range(1, heads + 1) if heads % k == 0])
    if "num_experts_per_tok" in usual:
        c["hidden_size"] += -c["hidden_size"] % 4  # experts take multiples of 4
    c = {names.get(key, key): value for key, value in c.items() if names.get(key, key) in usual or key == "head_dim"}
    if family == "mpt":
        c.update(d_model=heads * width, n_heads=heads, n_layers=count, max_seq_len=r.choice([24, 64]), attn_config={
            "alibi_bias_max": 8, "clip_qkv": maybe(r, 1.1), "softmax_scale": maybe(r, 0.4)})
    for key, value in drawers(r, count).items():
        if (key in usual or "global" in key and family == "gemma4_text") and r.random() < 0.8:
            c[key] = value()
    if "num_experts_per_tok" in usual:
        for key in ("intermediate_size", "moe_intermediate_size"):
            c.update({key: 4 * r.randint(2, 10)} if key in usual else {})
    if "layer_types" in usual and yes(r):
        other = "conv" if "lfm2" in family else "sliding_attention"
        c["layer_types"] = [r.choice(["full_attention", other]) for _ in range(count)]
    if family == "gpt_neo":
        kinds = [r.choice(["global", "local"]) for _ in range(count)]
        c.update(attention_types=[[kinds, 1]], num_layers=count)
    if family == "gemma3n_text":
        c.update(intermediate_size=[r.randint(9, 40) for _ in range(count)], vocab_size_per_layer_input=r.randint(20, c["vocab_size"]),
                 activation_sparsity_pattern=[r.choice([0.0, 0.3, 0.95]) for _ in range(count)])
    if family == "gemma4_text":
        c.update(vocab_size_per_layer_input=c["vocab_size"], num_experts=5, top_k_experts=r.randint(1, 4), moe_intermediate_size=12, hidden_size=4 * r.randint(2, 10))
    if "rope_parameters" in usual and not (family == "falcon" and c.get("alibi")) and r.random() < 0.85:
        c["rope_parameters"] = draw_rope(r, family, width, c["max_position_embeddings"], family in PARTIAL)
    c.update(pad_token_id=r.choice([None, 0, 3]), bos_token_id=1, eos_token_id=r.choice([2, [2, 5]]), num_labels=r.randint(1, 4))
    if r.random() < 0.06:
        c["is_causal"] = False
    if family == "gemma4_text" and c.get("use_bidirectional_attention"):
        c["use_bidirectional_attention"] = "all"
    return {key: value for key, value in c.items() if value is not None or key in usual}


def fill(model, generator):
    """Random values of all parameters, so large that each part matters."""
    for name, values in [*model.named_parameters(), *model.named_buffers()]:
        if isinstance(values, torch.nn.Parameter) or name.endswith(("expert_bias", "layer_scalar")):
            drawn = torch.randn(values.shape, generator=generator)
            is_gain = values.dim() == 1 and name.endswith(("weight", "scale", "layer_scalar"))
            wide = 1.2 * values.shape[-1] ** -0.5 if values.dim() > 1 and "embed" not in name else 0.6
            values.data.copy_(1 + 0.4 * drawn if is_gain else wide * drawn)


def older(config, r):
    """The configuration as transformers 4 writes its rotary positions."""
    rope = config.pop("rope_parameters", None)
    if rope and "full_attention" in rope and config["model_type"] != "gemma4_text":
        config["rope_local_base_freq"], rope = rope["sliding_attention"]["rope_theta"], rope["full_attention"]
    if not rope or "rope_type" not in rope or config["model_type"] == "ministral3":
        config.update({"rope_parameters": rope} if rope else {})
        return
    is_neox = config["model_type"] == "gpt_neox"
    for key, name in (("rope_theta", "rotary_emb_base"), ("partial_rotary_factor", "rotary_pct")):
        if key in rope:
            config[name if is_neox else key] = rope.pop(key)
    if rope["rope_type"] != "default":
        if yes(r):
            rope["type"] = rope.pop("rope_type")
        config["rope_scaling"] = rope


def wrap(folder, written):
    """Makes of a model of text the text part of a model of more."""
    of_text = written["model_type"]
    whole = {"mistral": "mistral3", "ministral3": "mistral3"}.get(of_text, of_text.removesuffix("_text"))
    tensors = load_file(folder / "model.safetensors")
    save_file({key.replace("model.", "model.language_model.", 1): value for key, value in tensors.items()},
              folder / "model.safetensors", {"format": "pt"})
    tied = written.get("tie_word_embeddings", hf.CONFIG_MAPPING[of_text]().tie_word_embeddings)
    return {"model_type": whole, "architectures": [WHOLE[of_text]], "text_config": written, "vision_config": {},
            "tie_word_embeddings": tied}


def make(name, family, r):
    """Writes a folder. Returns its case, or None if transformers itself refuses the configuration."""
    drawn = draw(r, family)
    config = type(hf.CONFIG_MAPPING[family]())(**drawn)
    heads = [each for each in HEADS if hasattr(hf, FAMILIES[family] + each)]
    writers = [each for each in heads if each in HEADS[:2]]
    head = r.choice(writers if r.random() < 0.7 else heads)
    cls = getattr(hf, FAMILIES[family] + head)
    folder, generator = OUT / "folders" / name, torch.Generator().manual_seed(r.randrange(1 << 30))
    model = cls(config)
    fill(model, generator)
    kind = r.choice([torch.float32, torch.bfloat16, torch.float16])
    model.to(kind).save_pretrained(folder, max_shard_size=r.choice(["5KB", "1GB"]))
    if r.random() < 0.2:
        torch.save(model.state_dict(), folder / "pytorch_model.bin")
        for path in folder.glob("*.safetensors*"):
            path.unlink()
    written, usual = json.loads((folder / "config.json").read_text()), type(config)().to_dict()
    if yes(r):
        written = {key: value for key, value in written.items() if key in ("model_type", "architectures")
                   or usual.get(key, "") != value}
    if yes(r):
        older(written, r)
    (folder / "config.json").write_text(json.dumps(written, indent=2) + "\n")
    is_wrapped = head == "ForCausalLM" and family in WHOLE and yes(r) and (folder / "model.safetensors").exists()
    model = cls.from_pretrained(folder, dtype=torch.float32, attn_implementation="sdpa" if family == "falcon" else "eager", experts_implementation="eager").eval()
    if is_wrapped:
        (folder / "config.json").write_text(json.dumps(wrap(folder, written), indent=2) + "\n")
    vocabulary, longest = config.vocab_size, r.choice([5, 13, 21])
    is_causal = config.is_causal if hasattr(config, "is_causal") else not getattr(config, "use_bidirectional_attention", None)
    form = r.choice(["context", "context", "fixed"]) if is_causal and head in HEADS[:2] else r.choice(["any", "fixed"])
    goes_by_length = form == "fixed" and re.search("longrope|dynamic", json.dumps(written))
    rows = [torch.randint(0, vocabulary, (1, n), generator=generator)
            for n in (longest, *(longest if goes_by_length else r.randint(1, longest) for _ in range(2)))]
    want = [outputs(model, row) for row in rows]
    apart = [{key: torch.zeros_like(value) for key, value in each.items()} for each in want]
    own = {key: value.clone() for key, value in model.named_parameters()}
    for _ in range(3):
        for key, values in model.named_parameters():
            values.data.copy_(own[key] * (1 + NOISE * torch.randn(values.shape, generator=generator)))
        for row, each, most in zip(rows, want, apart):
            for key, value in outputs(model, row).items():
                most[key] = torch.maximum(most[key], (value - each[key]).abs())
    words = {"context": [f"context={longest}", "sequences=3"], "any": [f"seq=any({longest})"],
             "fixed": [f"seq={longest}", "batch=3"]}[form]
    torch.save({"rows": rows, "want": want, "apart": apart}, folder / "expected.pt")
    words += ["output.1.over=all"] if form != "context" and head in HEADS[:2] else []
    return {"name": name, "head": head, "form": form, "words": words, "rows": [row[0].tolist() for row in rows],
            "want": want, "apart": apart, "pad": config.pad_token_id}


def outputs(model, row):
    """What a model computes of one sequence: name -> [rows][..] or [..]."""
    with torch.no_grad():
        got = model(input_ids=row, use_cache=False)
    names = ("logits", "last_hidden_state", "start_logits", "end_logits")
    return {key: got[key][0].float() for key in names if got.get(key) is not None}


def arrays(library, name, header, part):
    """The members of a structure of the header, and a class of it."""
    body = re.search(r"typedef struct \{([^}]*)\} " + name + "_forward_" + part, header).group(1)
    fields = re.findall(r"^  (?:const )?(int64_t|int32_t|float) (\*?)(\w+);", body, re.M)
    kinds = [(field, ctypes.c_void_p if star else ctypes.c_int64) for _, star, field in fields]
    return type(part, (ctypes.Structure,), {"_fields_": kinds})


def run(case):
    """The outputs of a built library for each sequence."""
    name, rows = case["name"], case["rows"]
    library = ctypes.CDLL(str(OUT / name / f"lib{name}.so.{ABI}"))
    header, text = (OUT / name / f"{name}.h").read_text(), ctypes.create_string_buffer(1 << 16)
    model, context = ctypes.c_void_p(), ctypes.c_void_p()

    def call(what, *given):
        status = getattr(library, f"{name}_{what}")(*given)
        if status != 0:
            raise RuntimeError(f"{what}: status {status}: {text.value.decode()}")

    call("open", str(OUT / "folders" / name).encode(), ctypes.byref(model), text, ctypes.c_size_t(1 << 16))
    call("create", model, ctypes.byref(context))
    shapes = {key: value.shape for key, value in case["want"][0].items()}
    if case["form"] == "context":
        return [{"logits": each} for each in continued(context, call, rows, case["want"][0]["logits"].shape[1])]
    flat = torch.tensor([i for row in rows for i in row], dtype=torch.int32)
    longest = len(rows[0])
    if case["form"] == "fixed":
        flat = torch.full((3, longest), case["pad"] or 0, dtype=torch.int32)
        for i, row in enumerate(rows):
            flat[i, :len(row)] = torch.tensor(row)
    lengths = torch.tensor([len(row) for row in rows], dtype=torch.int32)
    given, wanted = arrays(library, name, header, "in")(), arrays(library, name, header, "out")()
    for field, _ in given._fields_:
        setattr(given, field, {"sequences": 3, "lengths": lengths.data_ptr(), "input_ids": flat.data_ptr()}[field])
    made, by_row = {}, "Sequence" not in case["head"]
    for field, _ in wanted._fields_:
        made[field] = torch.zeros([flat.numel(), *shapes[field][1:]] if by_row else [3, *shapes[field]])
        setattr(wanted, field, made[field].data_ptr())
    call("forward", context, ctypes.byref(given), ctypes.byref(wanted))
    firsts = [i * longest if case["form"] == "fixed" else sum(map(len, rows[:i])) for i in range(3)]
    return [{field: value[first:first + len(row)] if by_row else value[i] for field, value in made.items()}
            for i, (first, row) in enumerate(zip(firsts, rows))]


def continued(context, call, rows, width):
    """The logits of all rows of sequences that several calls continue together."""
    r, done, got = random.Random(str(rows)), [0] * len(rows), [[] for _ in rows]
    while any(done[i] < len(row) for i, row in enumerate(rows)):
        some = [i for i, row in enumerate(rows) if done[i] < len(row) and r.random() < 0.8]
        if not some:
            continue
        r.shuffle(some)
        counts = [r.choice([1, 1, 2, 7, 99]) for _ in some]
        counts = [min(n, len(rows[i]) - done[i]) for i, n in zip(some, counts)]
        ids = [t for i, n in zip(some, counts) for t in rows[i][done[i]:done[i] + n]]
        logits = torch.zeros(len(ids), width)
        call("extend", context, ctypes.c_int32(len(some)), (ctypes.c_int32 * len(some))(*some),
             (ctypes.c_int32 * len(some))(*counts), (ctypes.c_int32 * len(ids))(*ids), 1, ctypes.c_void_p(logits.data_ptr()))
        for part, i, n in zip(logits.split(counts), some, counts):
            got[i].append(part)
            done[i] += n
    return [torch.cat(each) for each in got]


def compare(case, queue):
    """Puts what is wrong, or an empty text, and the numbers of rows that were compared and left out."""
    try:
        worst, compared, unclear = "", 0, 0
        for i, (got, want, apart) in enumerate(zip(run(case), case["want"], case["apart"])):
            for key, value in want.items():
                size = max(1.0, value.abs().max().item())
                of_rows = (1, -1) if "Sequence" in case["head"] else (value.shape[0], -1)
                differ, most = ((each.reshape(of_rows)).amax(1) for each in ((got[key] - value).abs(), apart[key]))
                clear = most < CLEAR * size
                compared, unclear = compared + int(clear.sum()), unclear + int((~clear).sum())
                bad = clear & ~(differ <= 8 * torch.cummax(most, 0).values + 1e-5 * size)
                if bad.any() and not worst:
                    row = int(bad.nonzero()[0, 0])
                    worst = f"{key} of sequence {i} (of {len(case['rows'][i])}), row {row}: {differ[row]:.3g} apart, {most[row]:.2g} by noise, of {size:.3g}"
        queue.put((worst, compared, unclear))
    except Exception as problem:  # pylint: disable=broad-except
        queue.put((f"{type(problem).__name__}: {problem}", 0, 0))


def judge(case):
    """Returns a word for what became of a folder, and the details."""
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
    words = ["\n".join([f"folders/{case['name']}", case["name"], "--answers", f"--only=lib{case['name']}.so.{ABI}", "kernels=c",
                        *case["words"]]) for case in cases]
    subprocess.run(["lua5.4", str(ROOT / "tests/program.lua"), "--each", *words], cwd=OUT, check=True)
    return cases


def drawn(family, number, seed):
    """A case of a family; configurations that transformers itself refuses are drawn anew."""
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
    slopes = [2 ** (-8 * (i + 1) / whole) for i in range(whole)] + [2 ** (-4 * (2 * i + 1) / whole) for i in range(heads - whole)]
    return (torch.tensor(slopes)[:, None, None] * torch.arange(mask.shape[1])).to(dtype)


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
            for case in (case for some in pool.map(build, [cases[i:i + 4] for i in range(0, len(cases), 4)]) for case in some):
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
