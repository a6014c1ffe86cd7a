"""What drawn_encoders.py draws: configurations of each family, and the inputs of their models."""

import torch
from transformers.activations import ACT2CLS

import published

USUAL = ["gelu", "gelu_new", "gelu_fast", "gelu_python", "gelu_pytorch_tanh", "quick_gelu", "relu", "silu", "swish", "tanh",
         "sigmoid"]
OTHER = sorted(set(ACT2CLS) - set(USUAL) - {"xielu", "prelu"})


def activation(r):
    return r.choice(OTHER) if r.random() < 0.05 else r.choice(USUAL)


def eps(r):
    return r.choice([1e-12, 1e-7, 1e-6, 1e-5, 1e-3, 0.1])


def flag(r, probability=0.5):
    return r.random() < probability


def sizes(r, even=False):
    """Mostly small ones, and some that take several panels and blocks."""
    is_large = flag(r, 0.3)
    heads = r.randint(1, 9 if is_large else 4)
    width = r.choice([2, 4, 6, 8, 10, 16] if even else [2, 3, 4, 5, 6, 7, 8, 12, 16])
    if is_large:
        width = r.choice([20, 32, 34, 66] if even else [20, 23, 33, 65])
    return {"hidden_size": heads * width, "num_attention_heads": heads, "num_hidden_layers": r.randint(1, 3),
            "intermediate_size": r.randint(5, 300 if is_large else 50)}


def words(r, even=False, **more):
    made = {**sizes(r, even), "vocab_size": r.randint(20, 70) if flag(r, 0.7) else r.randint(100, 700),
            "max_position_embeddings": r.randint(14, 40) if flag(r, 0.6) else r.randint(60, 330), "hidden_act": activation(r),
            "layer_norm_eps": eps(r), "type_vocab_size": r.randint(1, 3), "pad_token_id": r.randint(0, 4),
            "tie_word_embeddings": flag(r, 0.7), "bos_token_id": 5, "eos_token_id": 6}
    if flag(r, 0.1):
        made["problem_type"] = r.choice(["regression", "single_label_classification", "multi_label_classification"])
    return {**made, **{key: draw(r) for key, draw in more.items()}}


def named(change, **names):
    """A family whose keys have other names, or are not there (None)."""
    def draw(r):
        made = change(r)
        return {names.get(key, key): value for key, value in made.items() if names.get(key, key)}
    return draw


def of(**more):
    return lambda r: words(r, **more)


def one_of(*values):
    return lambda r: r.choice(values)


def rope(r, longest=64):
    kind = r.choice(["default", "default", "default", "linear", "dynamic", "llama3", "yarn", "longrope"])
    made = {"rope_type": kind, "rope_theta": r.choice([20.0, 1000.0, 160000.0])}
    if kind != "default":
        made["factor"] = r.choice([1.5, 2.0, 4.0])
    if kind in ("llama3", "yarn", "longrope"):
        made["original_max_position_embeddings"] = r.choice([8, 16, 32])
    if kind == "llama3":
        made |= {"low_freq_factor": 1.0, "high_freq_factor": 4.0}
    if kind == "yarn" and flag(r):
        made |= {"beta_fast": 8.0, "beta_slow": 0.5}
    return made


def rotary(r, **more):
    made = words(r, True, **more)
    made["rope_parameters"] = rope(r)
    if made["rope_parameters"]["rope_type"] == "longrope":
        width = made.get("head_dim") or made["hidden_size"] // made["num_attention_heads"]
        for key in ("short_factor", "long_factor"):
            made["rope_parameters"][key] = [r.choice([1.0, 1.3, 2.0, 4.0]) for _ in range(width // 2)]
    return made


def deberta(r):
    made = words(r, type_vocab_size=one_of(0, 0, 1, 2), relative_attention=lambda r: flag(r, 0.8),
                 max_relative_positions=one_of(-1, -1, 3, 6, 20, 100), position_biased_input=flag,
                 pos_att_type=one_of(None, "c2p|p2c", "p2c|c2p", ["c2p"], ["p2c", "c2p"], "p2c", [], "c2p"),
                 pooler_hidden_act=activation, legacy=lambda r: flag(r, 0.8))
    if flag(r, 0.1):
        made["talking_head"] = flag(r)
    return made


def deberta_v2(r):
    made = deberta(r)
    made |= {"position_buckets": r.choice([-1, 0, 2, 4, 8, 32]), "norm_rel_ebd": r.choice(["none", "layer_norm", "LAYER_NORM"]),
             "share_att_key": flag(r), "conv_kernel_size": r.choice([0, 0, 3, 5, 2]), "conv_act": activation(r)}
    if flag(r, 0.2):
        made["embedding_size"] = r.choice([made["hidden_size"], 10])
    if flag(r, 0.2):
        made["attention_head_size"] = made["hidden_size"] // made["num_attention_heads"]
    if flag(r, 0.1):
        made["conv_groups"] = r.choice([1, made["num_attention_heads"]])
    return made


def modernbert(r):
    made = rotary(r, norm_bias=flag, attention_bias=flag, mlp_bias=flag, decoder_bias=flag, classifier_bias=flag,
                  classifier_pooling=one_of("cls", "mean"), classifier_activation=activation,
                  local_attention=one_of(2, 3, 4, 6, 7, 33, 64, 90, 128, 200), cls_token_id=one_of(1), sep_token_id=one_of(2))
    made["hidden_activation"], made["norm_eps"] = made.pop("hidden_act"), made.pop("layer_norm_eps")
    one = made.pop("rope_parameters")
    if flag(r, 0.7):
        made["rope_parameters"] = {"full_attention": one, "sliding_attention": {"rope_type": "default",
                                   "rope_theta": r.choice([10.0, 10000.0])}}
    if flag(r):
        made["global_attn_every_n_layers"] = r.randint(1, 3)
    else:
        made["layer_types"] = [r.choice(["full_attention", "sliding_attention"]) for _ in range(made["num_hidden_layers"])]
    return made


def eurobert(r):
    made = rotary(r, attention_bias=flag, mlp_bias=flag, classifier_pooling=one_of("bos", "mean", "late"))
    made["rms_norm_eps"] = made.pop("layer_norm_eps")
    heads = made["num_attention_heads"]
    made["num_key_value_heads"] = r.choice([each for each in range(1, heads + 1) if heads % each == 0])
    made["head_dim"] = made["hidden_size"] // heads
    if flag(r, 0.3) and made["rope_parameters"]["rope_type"] != "longrope":
        made["head_dim"] = r.choice([4, 6, 8, 10])
    return made


def esm(r):
    made = words(r, True, position_embedding_type=one_of("absolute", "rotary"), emb_layer_norm_before=one_of(None, True, False),
                 token_dropout=flag, mask_token_id=one_of(7), rope_theta=one_of(100.0, 10000.0))
    return made


def longformer(r):
    made = words(r)
    layers = made["num_hidden_layers"]
    made["attention_window"] = r.choice([2, 4, 6, 16, 32, 70, 130, 512, [r.choice([2, 4, 8, 64, 100]) for _ in range(layers)]])
    made["max_position_embeddings"] += 5
    return made


def albert(r):
    made = words(r, embedding_size=one_of(4, 10), inner_group_num=one_of(1, 1, 1, 2))
    made["num_hidden_layers"] = r.randint(1, 6)
    made["num_hidden_groups"] = r.randint(1, made["num_hidden_layers"])
    return made


def electra(r):
    made = words(r, embedding_size=one_of(4, 10), summary_type=one_of("first", "last", "mean"), summary_use_proj=flag,
                 summary_activation=one_of("tanh", "gelu"))
    if flag(r, 0.3):
        made["embedding_size"] = made["hidden_size"]
    return made


def layoutlmv3(r):
    made = words(r, max_2d_position_embeddings=one_of(1024, 1010), has_relative_attention_bias=flag,
                 has_spatial_attention_bias=flag, rel_pos_bins=one_of(8, 16, 32), max_rel_pos=one_of(20, 40, 128),
                 rel_2d_pos_bins=one_of(8, 16, 64), max_rel_2d_pos=one_of(20, 100, 256), visual_embed=lambda r: flag(r, 0.7),
                 patch_size=one_of(4, 5), num_channels=one_of(3, 3, 1))
    place, shape = r.choice([(2, 2), (3, 1), (4, 4), (2, 5), (6, 3)])
    width = 4 * place + 2 * shape
    heads = r.choice([each for each in (1, 2, 3, 4) if width % each == 0])
    made |= {"coordinate_size": place, "shape_size": shape, "hidden_size": width, "num_attention_heads": heads,
             "input_size": made["patch_size"] * r.randint(1, 3)}
    return made


def clip_text(r):
    return words(r, projection_dim=one_of(5, 12), eos_token_id=one_of(2, 7, 19, 90), bos_token_id=one_of(0))


def siglip_text(r):
    made = words(r, projection_size=one_of(5, 12))
    return made


def t5(r):
    heads, act = r.randint(1, 4), r.choice(USUAL)
    return {"vocab_size": r.randint(20, 70), "d_model": r.choice([8, 12, 18, 24, 30]), "num_heads": heads,
            "d_kv": r.choice([3, 4, 6, 8]),
            "d_ff": r.randint(5, 50), "num_layers": r.randint(1, 3), "relative_attention_num_buckets": r.choice([4, 8, 32]),
            "relative_attention_max_distance": r.choice([6, 10, 128]), "layer_norm_epsilon": eps(r),
            "feed_forward_proj": r.choice([act, "gated-" + act, "gated-gelu", "relu"]), "pad_token_id": r.choice([0, 3]),
            "tie_word_embeddings": flag(r)}


def image(r, **more):
    patch = r.choice([2, 3, 4, 5, 8])
    side = patch * r.randint(1, 4) + (r.randrange(patch) if flag(r, 0.3) else 0)
    made = {**sizes(r), "hidden_act": activation(r), "layer_norm_eps": eps(r), "image_size": side, "patch_size": patch,
            "num_channels": r.choice([3, 3, 3, 1, 4])}
    if flag(r, 0.15):
        made["image_size"] = [side, patch * r.randint(1, 4)]
    if flag(r, 0.05):
        made["patch_size"] = [patch, patch]
    return {**made, **{key: draw(r) for key, draw in more.items()}}


def picture(**more):
    return lambda r: image(r, **more)


def vit(r):
    made = image(r, qkv_bias=flag)
    if flag(r, 0.3):
        made |= {"pooler_output_size": r.randint(3, 20), "pooler_act": activation(r)}
    return made


def dinov2(r):
    made = image(r, qkv_bias=flag, mlp_ratio=one_of(1, 2, 3, 4), use_swiglu_ffn=flag, layerscale_value=one_of(1.0, 0.1))
    del made["intermediate_size"]
    return made


def dinov3(r):
    made = image(r, query_bias=flag, key_bias=flag, value_bias=flag, proj_bias=flag, mlp_bias=flag, use_gated_mlp=flag,
                 num_register_tokens=one_of(0, 1, 3, 4), rope_theta=one_of(10.0, 100.0))
    made["hidden_size"] = made["num_attention_heads"] * r.choice([4, 8, 12, 16])
    if flag(r, 0.1):
        made["pos_embed_rescale"] = r.choice([None, 2.0])
    return made


def siglip2(r):
    made = image(r, num_patches=one_of(1, 4, 9, 16, 25, 10), vision_use_head=lambda r: flag(r, 0.8))
    del made["image_size"]
    return made


def ast(r):
    patch = r.choice([3, 4, 5])
    return {**sizes(r), "hidden_act": activation(r), "layer_norm_eps": eps(r), "patch_size": patch, "qkv_bias": flag(r),
            "frequency_stride": r.randint(1, 6), "time_stride": r.randint(1, 6), "max_length": r.randint(patch, 20),
            "num_mel_bins": r.randint(patch, 12)}


def both(text, vision, has_projection=True):
    def draw(r):
        made = {"text_config": text(r), "vision_config": vision(r)}
        for key in ("projection_dim", "projection_size"):
            made["text_config"].pop(key, None)
        if has_projection:
            made["projection_dim"] = r.randint(3, 20)
        else:
            made["text_config"]["projection_size"] = made["vision_config"]["hidden_size"]
        return made
    return draw


# family: model_type, the beginning of its classes' names, how a configuration is drawn, the kind of its inputs.
FAMILIES = {
    "bert": ("bert", "Bert", of(), "text"),
    "roberta": ("roberta", "Roberta", of(), "text"),
    "xlm-roberta": ("xlm-roberta", "XLMRoberta", of(), "text"),
    "camembert": ("camembert", "Camembert", of(), "text"),
    "data2vec-text": ("data2vec-text", "Data2VecText", of(), "text"),
    "xlm-roberta-xl": ("xlm-roberta-xl", "XLMRobertaXL", of(), "text"),
    "roberta-prelayernorm": ("roberta-prelayernorm", "RobertaPreLayerNorm", of(), "text"),
    "distilbert": ("distilbert", "DistilBert", named(of(sinusoidal_pos_embds=flag), hidden_size="dim", num_hidden_layers="n_layers",
                   num_attention_heads="n_heads", intermediate_size="hidden_dim", hidden_act="activation",
                   layer_norm_eps=None, type_vocab_size=None), "text"),
    "albert": ("albert", "Albert", albert, "text"),
    "electra": ("electra", "Electra", electra, "text"),
    "ernie": ("ernie", "Ernie", of(use_task_id=flag, task_type_vocab_size=one_of(1, 3)), "text"),
    "rembert": ("rembert", "RemBert", of(input_embedding_size=one_of(4, 10), output_embedding_size=one_of(6, 14)), "text"),
    "deberta": ("deberta", "Deberta", deberta, "text"),
    "deberta-v2": ("deberta-v2", "DebertaV2", deberta_v2, "text"),
    "mpnet": ("mpnet", "MPNet", named(of(relative_attention_num_buckets=one_of(32, 32, 32, 32, 16)), type_vocab_size=None), "text"),
    "modernbert": ("modernbert", "ModernBert", modernbert, "text"),
    "eurobert": ("eurobert", "EuroBert", eurobert, "text"),
    "esm": ("esm", "Esm", esm, "text"),
    "longformer": ("longformer", "Longformer", longformer, "text"),
    "nomic_bert": ("nomic_bert", "NomicBert", rotary, "text"),
    "jina_v3": ("jina_embeddings_v3", "JinaEmbeddingsV3", rotary, "text"),
    "gte": ("gte", "Gte", rotary, "text"),
    "layoutlm": ("layoutlm", "LayoutLM", of(max_2d_position_embeddings=one_of(1024, 1010)), "boxes"),
    "layoutlmv3": ("layoutlmv3", "LayoutLMv3", layoutlmv3, "page"),
    "t5": ("t5", "T5Encoder", t5, "text"),
    "mt5": ("mt5", "MT5Encoder", t5, "text"),
    "umt5": ("umt5", "UMT5Encoder", t5, "text"),
    "clip_text": ("clip_text_model", "CLIPText", clip_text, "ended"),
    "siglip_text": ("siglip_text_model", "SiglipText", siglip_text, "whole"),
    "siglip2_text": ("siglip2_text_model", "Siglip2Text", siglip_text, "whole"),
    "vit": ("vit", "ViT", vit, "image"),
    "deit": ("deit", "DeiT", vit, "image"),
    "dinov2": ("dinov2", "Dinov2", dinov2, "image"),
    "dinov2_with_registers": ("dinov2_with_registers", "Dinov2WithRegisters",
                              lambda r: {**dinov2(r), "num_register_tokens": r.choice([0, 1, 3, 4])}, "image"),
    "dinov3": ("dinov3_vit", "DINOv3ViT", dinov3, "image"),
    "clip_vision": ("clip_vision_model", "CLIPVision", picture(projection_dim=one_of(5, 12)), "image"),
    "siglip_vision": ("siglip_vision_model", "SiglipVision", picture(vision_use_head=lambda r: flag(r, 0.8)), "image"),
    "siglip2_vision": ("siglip2_vision_model", "Siglip2Vision", siglip2, "patches"),
    "blip_vision": ("blip_vision_model", "BlipVision", picture(), "image"),
    "clip_image": ("clip", "CLIPModel", both(clip_text, picture()), "tower_image"),
    "clip_of_text": ("clip", "CLIPModel", both(clip_text, picture()), "tower_text"),
    "siglip_image": ("siglip", "SiglipModel", both(siglip_text, picture(), False), "tower_image"),
    "siglip_of_text": ("siglip", "SiglipModel", both(siglip_text, picture(), False), "tower_text"),
    "siglip2_of_text": ("siglip2", "Siglip2Model", both(siglip_text, siglip2, False), "tower_text"),
    "siglip2_image": ("siglip2", "Siglip2", both(siglip_text, siglip2, False), "tower_patches"),
    "ast": ("audio-spectrogram-transformer", "AST", ast, "bands"),
}


def left_out(r, made, defaults, probability=0.2):
    """Leaves keys out that have a default, but those without which the class is another one."""
    for key in sorted(set(made) & set(defaults) - {"rotary_emb_fraction"}):
        if flag(r, probability):
            del made[key]
    return made


def published_nomic(r):
    own = words(r, True)
    kind = r.choice(["swiglu", "swiglu", "geglu", "gelu", "gelu", "gelu_new", "glu"])
    inner = own["intermediate_size"]
    made = {"architectures": [r.choice(["NomicBertModel", "NomicBertModel", "NomicBertForSequenceClassification"])],
            "auto_map": {"AutoModel": "nomic-ai/nomic-bert-2048--modeling_hf_nomic_bert.NomicBertModel"},
            "model_type": "nomic_bert", "activation_function": kind, "n_embd": own["hidden_size"],
            "n_head": own["num_attention_heads"], "n_layer": own["num_hidden_layers"], "n_inner": inner,
            "n_positions": own["max_position_embeddings"], "vocab_size": own["vocab_size"],
            "layer_norm_epsilon": own["layer_norm_eps"], "type_vocab_size": r.choice([0, 1, 2, 3]),
            "pad_vocab_size_multiple": r.choice([1, 1, 8, 64]), "qkv_proj_bias": flag(r), "mlp_fc1_bias": flag(r),
            "mlp_fc2_bias": flag(r), "rotary_emb_base": r.choice([1000, 10000, 50.0]), "rotary_emb_fraction": 1.0,
            "rotary_emb_interleaved": False, "rotary_emb_scale_base": None, "causal": False, "prenorm": False,
            "max_trained_positions": r.choice([2048, own["max_position_embeddings"], 16]), "rotary_scaling_factor":
            r.choice([None, None, 2, 4.0]) if own["hidden_size"] > 2 * own["num_attention_heads"] else None}
    if kind == "gelu" and flag(r, 0.7):
        count = r.randint(1, 6)
        made |= {"moe_every_n_layers": r.randint(0, 3), "num_experts": count, "moe_top_k": r.randint(1, count),
                 "moe_normalize_expert_weights": flag(r, 0.3), "num_shared_experts": 0, "expert_choice_router": False,
                 "ffn_div": 1, "moe_impl": "megablocks"}
    return left_out(r, made, published.Nomic.defaults)


def published_new(r):
    made = words(r, True, type_vocab_size=one_of(0, 1, 2, 3), pack_qkv=lambda r: flag(r, 0.7), rope_theta=one_of(
        10000.0, 50.0, 160000.0, 500000), rope_scaling=one_of(None, None, {"type": "ntk", "factor": 2.0},
                                                      {"type": "ntk", "factor": 8}, {"rope_type": "ntk", "factor": 1.0}))
    made |= {"architectures": [r.choice(["NewModel", "NewForSequenceClassification"])], "model_type": "new",
             "auto_map": {"AutoModel": "Alibaba-NLP/new-impl--modeling.NewModel"}, "layer_norm_type": "layer_norm",
             "logn_attention_clip1": False, "logn_attention_scale": False, "position_embedding_type": "rope",
             "unpad_inputs": flag(r), "use_memory_efficient_attention": flag(r)}
    return left_out(r, made, {**published.New.defaults, "layer_norm_type": 0, "logn_attention_scale": 0,
                              "position_embedding_type": 0, "rope_scaling": 0})


def published_jina(model_class):
    def draw(r):
        made = words(r, feed_forward_type=one_of("geglu", "geglu", "reglu", "original"))
        made |= {"architectures": [r.choice(["JinaBertModel", "JinaBertForSequenceClassification"])],
                 "model_type": r.choice(["bert", "jina_bert"]), "position_embedding_type": "alibi", "emb_pooler": "mean",
                 "auto_map": {"AutoModel": "jinaai/jina-bert-implementation--modeling_bert.JinaBertModel"}}
        return left_out(r, made, model_class.defaults)
    return draw


# Folders with code of their own: the class of published.py, how a configuration is drawn, the kind of its inputs.
PUBLISHED = {
    "nomic_published": (published.Nomic, published_nomic, "text"),
    "new": (published.New, published_new, "text"),
    "jina_bert": (published.Jina, published_jina(published.Jina), "text"),
    "jina_bert_code": (published.SecondJina, published_jina(published.SecondJina), "text"),
}


def usable(config):
    """The most tokens of a sequence."""
    longest = getattr(config, "max_position_embeddings", None) or 150
    after = config.model_type in ("roberta", "xlm-roberta", "camembert", "data2vec-text", "xlm-roberta-xl", "roberta-prelayernorm",
                                  "longformer", "layoutlmv3", "mpnet", "esm")
    return min(longest - ((config.pad_token_id if config.pad_token_id is not None else 1) + 1 if after else 0), 320)


def text(r, generator, config, rows=None):
    batch, seq = rows or r.randint(1, 4), r.randint(1, usable(config)) if flag(r, 0.7) else usable(config)
    lengths = torch.tensor([seq] + [r.randint(1, seq) for _ in range(batch - 1)])
    ids = torch.randint(7, config.vocab_size, (batch, seq), generator=generator)
    mask = (torch.arange(seq)[None] < lengths[:, None]).long()
    pad = getattr(config, "pad_token_id", None)
    ids = ids.masked_fill(mask == 0, pad if pad is not None else 0)
    types = torch.randint(0, max(1, getattr(config, "type_vocab_size", 1)), ids.shape, generator=generator)
    inputs = {"input_ids": ids, "lengths": lengths, "token_type_ids": types, "attention_mask": mask}
    call = {"input_ids": ids, "attention_mask": mask}
    if getattr(config, "type_vocab_size", 0) > 1:
        call["token_type_ids"] = types
    words = [r.choice([f"seq=any({max(2, seq)})", f"seq={seq}"])]
    if flag(r, 0.3) and "any" not in words[0]:
        words.append(f"batch={batch}")
    return inputs, call, mask, words


def boxed(r, generator, config):
    inputs, call, mask, words = text(r, generator, config)
    last = min(1000, config.max_2d_position_embeddings - 1)
    boxes = torch.randint(0, last + 1, (*inputs["input_ids"].shape, 2, 2), generator=generator).sort(2).values.flatten(2)
    inputs["bbox"] = call["bbox"] = boxes
    return inputs, call, mask, words


def page(r, generator, config):
    inputs, call, mask, words = boxed(r, generator, config)
    if config.visual_embed:
        side = config.input_size
        inputs["pixel_values"] = torch.randn(len(mask), config.num_channels, side, side, generator=generator)
        call["pixel_values"] = inputs["pixel_values"]
        patches = (config.input_size // config.patch_size) ** 2 + 1
        words = [word.replace("any(", "").replace(")", "") for word in words]
        mask = torch.nn.functional.pad(mask, (0, patches), value=1)
    return inputs, call, mask, words


def ended(r, generator, config):
    inputs, call, mask, words = text(r, generator, config)
    return inputs, call, mask, words


def whole(r, generator, config):
    seq = r.randint(1, config.max_position_embeddings)
    ids = torch.randint(0, config.vocab_size, (r.randint(1, 3), seq), generator=generator)
    return {"input_ids": ids}, {"input_ids": ids}, None, [f"seq={seq}"]


def pixels(r, generator, config):
    sides = config.image_size if isinstance(config.image_size, (list, tuple)) else [config.image_size] * 2
    values = torch.randn(r.randint(1, 3), getattr(config, "num_channels", 3), *sides, generator=generator)
    return {"pixel_values": values}, {"pixel_values": values}, None, []


def patches(r, generator, config):
    grids = torch.tensor([[r.randint(1, 6), r.randint(1, 6)] for _ in range(r.randint(1, 3))])
    counts, seq = grids.prod(1), int(grids.prod(1).max()) + r.randint(0, 2)
    mask = (torch.arange(seq)[None] < counts[:, None]).long()
    values = torch.randn(len(grids), seq, config.num_channels * config.patch_size ** 2, generator=generator)
    return ({"pixel_values": values, "spatial_shapes": grids, "lengths": counts},
            {"pixel_values": values, "spatial_shapes": grids, "pixel_attention_mask": mask}, mask, [f"seq={seq}"])


def bands(r, generator, config):
    values = torch.randn(r.randint(1, 3), config.max_length, config.num_mel_bins, generator=generator)
    return {"input_values": values}, {"input_values": values}, None, []


def tower_image(r, generator, config):
    inputs, call, mask, words = pixels(r, generator, config.vision_config)
    return inputs, {**call, "tower": "image"}, mask, words


def tower_patches(r, generator, config):
    inputs, call, mask, words = patches(r, generator, config.vision_config)
    return inputs, {**call, "tower": "image"}, mask, words


def tower_text(r, generator, config):
    inputs, call, mask, words = (text if config.model_type == "clip" else whole)(r, generator, config.text_config)
    return inputs, {**call, "tower": "text"}, mask, [*words, "tower=text"]


INPUTS = {"tower_image": tower_image, "tower_patches": tower_patches, "tower_text": tower_text,
          "text": text, "boxes": boxed, "page": page, "ended": ended, "whole": whole, "image": pixels, "patches": patches,
          "bands": bands}
