"""Draws configurations of decoders for drawn_decoders.py: small, many keys at once, and so that each matters."""

import transformers as hf

# model_type -> the beginning of its classes' names.
FAMILIES = {
    "bloom": "Bloom", "cohere": "Cohere", "cohere2": "Cohere2", "exaone4": "Exaone4", "falcon": "Falcon",
    "gemma": "Gemma", "gemma2": "Gemma2", "gemma3_text": "Gemma3", "gemma3n_text": "Gemma3n",
    "gemma4_text": "Gemma4", "glm": "Glm", "glm4": "Glm4", "gpt2": "GPT2", "gpt_neo": "GPTNeo",
    "gpt_neox": "GPTNeoX", "gptj": "GPTJ", "granite": "Granite", "lfm2": "Lfm2", "llama": "Llama",
    "ministral": "Ministral", "ministral3": "Ministral3", "mistral": "Mistral", "mpt": "Mpt", "olmo2": "Olmo2",
    "olmo3": "Olmo3", "opt": "OPT", "phi": "Phi", "phi3": "Phi3", "qwen2": "Qwen2", "qwen3": "Qwen3",
    "smollm3": "SmolLM3", "stablelm": "StableLm", "starcoder2": "Starcoder2", "gpt_oss": "GptOss",
    "granitemoe": "GraniteMoe", "internlm3": "Llama", "lfm2_moe": "Lfm2Moe", "mixtral": "Mixtral", "olmoe": "Olmoe",
    "qwen2_moe": "Qwen2Moe", "qwen3_moe": "Qwen3Moe"}
# Families whose heads may have a width of their own, whose rotary positions go by the type of a layer, and whose heads
# may be rotated in part.
OWN_WIDTH = {"cohere2", "exaone4", "gemma", "gemma2", "gemma3_text", "gemma3n_text", "gemma4_text", "glm", "glm4",
             "gpt_oss", "internlm3", "llama", "ministral", "ministral3", "mistral", "mixtral", "qwen3", "qwen3_moe"}
BY_TYPE = {"gemma3_text", "gemma3n_text", "gemma4_text", "olmo3"}
PARTIAL = {"glm", "glm4", "gpt_neox", "phi", "phi3", "stablelm"}
ACTIVATIONS = ["silu", "gelu", "gelu_new", "gelu_pytorch_tanh", "relu", "quick_gelu", "tanh", "sigmoid", "gelu_fast",
               "swish", "gelu_python"]


def yes(r):
    return r.random() < 0.5


def maybe(r, value, probability=0.5):
    return value if r.random() < probability else None


def drawers(r, count):
    """Key -> a function that draws its value. count: of layers."""
    def each(keys, draw):
        return dict.fromkeys(keys.split(), draw)

    def number(low, high):
        return lambda: round(r.uniform(low, high), 3)

    return {
        **each("hidden_act hidden_activation activation_function activation", lambda: r.choice(ACTIVATIONS)),
        **each("rms_norm_eps layer_norm_eps layer_norm_epsilon norm_eps norm_epsilon",
               lambda: r.choice([1e-12, 1e-6, 1e-5, 1e-3, 0.1])),
        **each("""alibi altup_correct_scale attention_bias attention_k_eq_v bias block_auto_adjust_ff_dim conv_bias
            do_layer_norm_before enable_bias enable_moe_block mlp_bias multi_query new_decoder_architecture
            norm_topk_prob parallel_attn qk_layernorm qkv_bias reorder_and_upcast_attn scale_attn_by_inverse_layer_idx
            tie_word_embeddings use_bias use_double_wide_mlp use_expert_bias use_parallel_residual use_qk_norm
            use_qkv_bias use_sliding_window""", lambda: yes(r)),
        **each("sliding_window window_size", lambda: r.choice([1, 2, 3, 5, 8, 11, 200])),
        **each("""ffn_dim ffn_hidden_size intermediate_size moe_intermediate_size n_inner
            shared_expert_intermediate_size""", lambda: r.randint(5, 49)),
        **each("attention_multiplier embedding_multiplier logits_scaling residual_multiplier routed_scaling_factor",
               number(0.3, 2.5)),
        **each("attn_logit_softcapping final_logit_softcapping", lambda: maybe(r, number(1, 6)(), 0.7)),
        **each("num_experts num_local_experts", lambda: r.randint(2, 7)),
        **each("num_experts_per_tok top_k_experts", lambda: r.randint(1, 2)),
        **each("_sliding_window_pattern no_rope_layer_interval sliding_window_pattern", lambda: r.randint(1, 4)),
        "logit_scale": number(0.1, 1.5), "query_pre_attn_scalar": lambda: r.randint(1, 30),
        "clip_qkv": lambda: maybe(r, number(0.4, 1.5)()), "swiglu_limit": number(0.5, 3),
        "num_dense_layers": lambda: r.randint(0, 2), "decoder_sparse_step": lambda: r.randint(1, 2),
        "mlp_only_layers": lambda: [i for i in range(count) if r.random() < 0.25],
        "max_window_layers": lambda: r.randint(0, count),
        "no_rope_layers": lambda: maybe(r, [r.randint(0, 1) for _ in range(count)]),
        "conv_L_cache": lambda: r.randint(1, 5), "block_multiple_of": lambda: r.randint(1, 9),
        "block_ffn_dim_multiplier": lambda: r.choice([None, 1.0, 1.3, 0.7]),
        "full_attn_idxs": lambda: maybe(r, [i for i in range(count) if yes(r)]),
        "num_ln_in_parallel_attn": lambda: r.choice([None, 1, 2]),
        "num_kv_shared_layers": lambda: r.randint(0, count - 1), "laurel_rank": lambda: r.randint(1, 7),
        "altup_num_inputs": lambda: r.randint(2, 4), "altup_active_idx": lambda: r.randint(0, 1),
        "hidden_size_per_layer_input": lambda: r.randint(1, 9), "global_head_dim": lambda: r.choice([4, 8, 12]),
        "num_global_key_value_heads": lambda: r.choice([None, 1]), "word_embed_proj_dim": lambda: r.randint(5, 30),
        "rotary_dim": lambda: r.choice([2, 4]), "use_bidirectional_attention": lambda: maybe(r, True, 0.3),
    }


def rope_of(r, width, longest, partial):
    """Rotary positions of one type. width: of a head; longest: the most positions; partial: whether a part rotates."""
    kind = r.choice(["default", "linear", "dynamic", "yarn", "yarn", "longrope", "llama3"])
    part = r.choice([k / width for k in range(2, width + 1, 2)]) if partial else 1
    made = {"rope_type": kind, "rope_theta": r.choice([10.0, 50.0, 1e3, 1e4])}
    if partial:
        made["partial_rotary_factor"] = part
    if kind != "default":
        made["factor"] = round(r.uniform(1, 8), 2)
    if kind in ("yarn", "longrope", "llama3") and r.random() < 0.8:
        made["original_max_position_embeddings"] = r.choice([8, 24, 24] if kind == "longrope" else [4, 8, 16, longest])
    if kind == "llama3":
        made.update(low_freq_factor=r.choice([0.5, 1.0, 2.0]), high_freq_factor=r.choice([3.0, 4.0]))
    if kind == "longrope":
        for key in ("short_factor", "long_factor"):
            made[key] = [round(r.uniform(1, 4), 2) for _ in range(int(width * part) // 2)]
        if yes(r):
            del made["factor"]
    if kind == "yarn":
        for key, value in (("beta_fast", r.choice([2.0, 8, 32])), ("beta_slow", r.choice([0.1, 0.5, 1])),
                           ("mscale", 0.7), ("mscale_all_dim", 0.4), ("truncate", yes(r))):
            made.update({key: value} if yes(r) else {})
    if kind in ("yarn", "longrope") and r.random() < 0.3:
        made["attention_factor"] = round(r.uniform(0.5, 2), 2)
    return made


def set_rope(r, family, c, width):
    """Draws a configuration's rotary positions: of one type, or of each type of layer."""
    given = width, c["max_position_embeddings"], family in PARTIAL
    if family == "ministral3":
        made = {**rope_of(r, *given), "rope_type": "yarn", "factor": 3.0, "llama_4_scaling_beta": 0.3,
                "original_max_position_embeddings": r.choice([4, 8])}
    elif family in BY_TYPE:
        made = {"full_attention": rope_of(r, *given), "sliding_attention": rope_of(r, *given)}
    else:
        made = rope_of(r, *given)
    c["rope_parameters"] = made


def set_own(r, family, c, count):
    """Draws what only some families have."""
    if family == "mpt":
        c.update(d_model=c["hidden_size"], n_heads=c["num_attention_heads"], n_layers=count,
                 max_seq_len=r.choice([24, 64]), attn_config={
                     "alibi_bias_max": 8, "clip_qkv": maybe(r, 1.1), "softmax_scale": maybe(r, 0.4)})
    elif family == "gpt_neo":
        c["attention_types"] = [[[r.choice(["global", "local"]) for _ in range(count)], 1]]
    elif family == "gemma3n_text":
        c.update(intermediate_size=[r.randint(9, 40) for _ in range(count)],
                 vocab_size_per_layer_input=r.randint(20, c["vocab_size"]),
                 activation_sparsity_pattern=[r.choice([0.0, 0.3, 0.95]) for _ in range(count)])
    elif family == "gemma4_text":
        c.update(vocab_size_per_layer_input=c["vocab_size"], num_experts=5, top_k_experts=r.randint(1, 4),
                 moe_intermediate_size=12, hidden_size=4 * r.randint(2, 10))
        if c.get("use_bidirectional_attention"):
            c["use_bidirectional_attention"] = "all"


def draw(r, family):
    """A configuration of a family, as arguments of its class, which may refuse it."""
    cls = type(hf.CONFIG_MAPPING[family]())
    usual, names = cls().to_dict(), cls.attribute_map
    has_experts = "num_experts_per_tok" in usual  # which take multiples of 4
    count, heads = r.randint(1, 4 if "gemma" in family else 3), r.choice([1, 2, 3, 4, 6])
    width = r.choice([4, 8, 12, 16] if has_experts else [2, 4, 6, 8, 10, 12, 16])
    c = {"num_hidden_layers": count, "num_attention_heads": heads, "vocab_size": r.randint(29, 70),
         "max_position_embeddings": r.choice([8, 24, 32, 64]), "hidden_size": heads * width}
    if family in OWN_WIDTH or "num_key_value_heads" in usual and r.random() < 0.1:  # most of these read it, too
        c["head_dim"] = width
        if r.random() < 0.8:
            c["hidden_size"] = 4 * r.randint(2, 10) if has_experts else r.randint(7, 40)
    kv_heads = r.choice([k for k in range(1, heads + 1) if heads % k == 0])
    c.update({key: kv_heads for key in ("num_kv_heads", "num_key_value_heads") if key in usual})
    for key, draw_value in drawers(r, count).items():
        if (key in usual or "global" in key and family == "gemma4_text") and r.random() < 0.8:
            c[key] = draw_value()
    if has_experts:
        c.update({key: 4 * r.randint(2, 10) for key in ("intermediate_size", "moe_intermediate_size") if key in usual})
    if "layer_types" in usual and yes(r):
        other = "conv" if "lfm2" in family else "sliding_attention"
        c["layer_types"] = [r.choice(["full_attention", other]) for _ in range(count)]
    if "rope_parameters" in usual and not c.get("alibi") and r.random() < 0.85:
        set_rope(r, family, c, width)
    set_own(r, family, c, count)
    c.update(pad_token_id=r.choice([None, 0, 3]), bos_token_id=1, eos_token_id=r.choice([2, [2, 5]]),
             num_labels=r.randint(1, 4))
    if r.random() < 0.06:
        c["is_causal"] = False
    return {names.get(key, key): value for key, value in c.items() if family != "mpt" or key not in names}


def older(config, r):
    """Writes rotary positions as transformers 4 does."""
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
