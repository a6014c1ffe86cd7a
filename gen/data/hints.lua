-- hints.lua: maps words of other libraries to words of descriptions, so that a message can suggest the right one.
-- The words come from Hugging Face's config.json and PyTorch's modules. Other unknown words are compared by their
-- letters (words.nearest), which would guess wrong here: gelu_new is not gelu.
--
-- A hint is the right word. A hint that begins with ! is the reason why there is none.
local types = require("data.types")

local hints = {}

-- Returns a table of hints, word -> hint, from the words of each hint.
local function by_word(list)
  local table_of = {}
  for hint, words in pairs(list) do
    for word in words:gmatch("%S+") do table_of[word] = hint end
  end
  return table_of
end

--- Keys of a description and of an encoder.
hints.keys = by_word {
  -- widths and counts
  d_model = "hidden_size n_embd n_embed dim embed_dim hidden_dim model_dim d_embed embedding_size width hidden",
  heads = "num_attention_heads n_head n_heads nhead num_heads encoder_attention_heads decoder_attention_heads",
  kv_heads = "num_key_value_heads n_kv_heads num_kv_heads", ["kv_heads = 1"] = "multi_query",
  head_dim = "d_kv d_head attention_head_size",
  layers = "num_hidden_layers n_layer n_layers num_layers depth num_decoder_layers decoder_layers num_layer depths",
  ["layers, of encoder { } in memory"] = "num_encoder_layers encoder_layers",
  d_ff = [[intermediate_size dim_feedforward n_inner ffn_dim ffn_hidden_size encoder_ffn_dim decoder_ffn_dim
    feedforward_dim mlp_dim]], ["d_ff, a width"] = "mlp_ratio", batch = "batch_size bs batchsize",
  seq = [[seq_len seq_length sequence_length max_seq_len max_length n_ctx context_length block_size sequence seqlen
    length max_len maxlen]],
  -- the block
  ['norm = "pre"'] = "norm_first do_layer_norm_before",
  eps = "layer_norm_eps layer_norm_epsilon norm_eps layernorm_epsilon",
  ['eps, with norm_kind = "rms"'] = "rms_norm_eps rms_eps", ['norm_kind = "rms"'] = "rms_norm rmsnorm",
  activation = "hidden_act hidden_activation activation_function", ["activation, and gated"] = "feed_forward_proj",
  gated = "is_gated_act glu", ["bias = { qkv =, out = }"] = "attention_bias", ["bias = { qkv = }"] = "qkv_bias",
  bias = "use_bias", ["bias = { ff = }"] = "mlp_bias",
  ['parallel = "two_norms"'] = "use_parallel_residual parallel_residual", parallel = "parallel_attn",
  residual_scale = "residual_multiplier", ["output = { vocabulary { scale = } }, its inverse"] = "logits_scaling",
  ["input = tokens { scale = }"] = "embedding_multiplier",
  ['qk_norm = "heads"'] = "qk_layernorm", qk_norm = "use_qk_norm",
  dropout = [[attention_dropout hidden_dropout_prob attention_probs_dropout_prob attn_pdrop resid_pdrop embd_pdrop
    hidden_dropout dropout_rate activation_dropout]], drop_path = "drop_path_rate layerdrop",
  -- attention
  ["mask = { window = { SIZE - 1, 0 } }"] = "sliding_window",
  ["mask = { window = { LEFT, RIGHT } }"] = "attention_window", ['mask = "causal"'] = "is_causal causal is_decoder",
  mask = "attn_mask attention_mask src_mask tgt_mask",
  ['mask = "key_padding"'] = "key_padding_mask src_key_padding_mask", bias_kv = "add_bias_kv",
  zero_attn = "add_zero_attn", softcap = "attn_logit_softcapping logits_soft_cap",
  ["output = { vocabulary { softcap = } }"] = "final_logit_softcapping",
  scale = "attention_multiplier softmax_scale query_pre_attn_scalar",
  attention_output = "output_attentions need_weights",
  past = "use_cache past_key_values", memory = "add_cross_attention",
  -- positions
  max_position = "max_position_embeddings n_positions max_positions",
  positions = "position_embedding_type positional_encoding", rope_dim = "rotary_dim rotary_pct partial_rotary_factor",
  rope_theta = "rotary_emb_base rope_base", t5_buckets = "relative_attention_num_buckets",
  t5_distance = "relative_attention_max_distance", ['positions = "disentangled"'] = "relative_attention",
  position_terms = "pos_att_type", position_distance = "max_relative_positions", position_norm = "norm_rel_ebd",
  position_projections = "share_att_key", ['positions = { "learned", "disentangled" }'] = "position_biased_input",
  conv_kernel = "conv_kernel_size", conv_activation = "conv_act", ['positions = "alibi"'] = "use_alibi alibi",
  -- before and after the layers
  ["input = tokens { vocab = }"] = "vocab_size n_vocab", ["input = tokens { types = }"] = "type_vocab_size",
  ["output = { vocabulary { tied = } }"] = "tie_word_embeddings",
  ["input = image { height =, width = }"] = "image_size", ["input = image { patch = }"] = "patch_size",
  ["input = image { channels = }"] = "num_channels", ["output = { linear { to = } }"] = "num_labels num_classes",
  ['layout = "batch_first"'] = "batch_first", output = "outputs",
  -- numbers and machines
  precision = "dtype torch_dtype quantize quantization quantized bits type compute_type",
  target = "device arch march cpu isa simd", threads = "num_threads nthreads n_threads jobs cores",
  ["experts = { count = }"] = "num_experts num_local_experts", ["experts = { used = }"] = "num_experts_per_tok",
  ["experts = { d_ff = }"] = "moe_intermediate_size",
  streams = "altup_num_inputs", residual_rank = "laurel_rank", gate_sparsity = "activation_sparsity_pattern",
  adapters = "loras lora_adapters lora_modules", adapter = "lora lora_path peft_model",
}

--- Fields of the stages before and after the layers.
hints.fields = by_word {
  vocab = "vocab_size n_vocab num_embeddings", types = "type_vocab_size",
  ["height and width"] = "image_size img_size", patch = "patch_size", channels = "num_channels in_channels",
  from = "in_features", to = "out_features", tied = "tie_word_embeddings", activation = "hidden_act",
  eps = "layer_norm_eps", over = "pooling", class_token = "cls_token",
}

--- Activations and the functions that an output may have.
hints.activations = by_word {
  gelu_tanh = [[gelu_new gelu_fast gelu_pytorch_tanh gelu_python_tanh gelu_accurate gelu_approximate gelu_approx
    tanh_gelu]], gelu = "gelu_python gelu_erf gelu_none", quick_gelu = "quickgelu gelu_quick",
  silu = "swish silu_python", ["silu, with gated = true"] = "swiglu gated-silu gated_silu",
  ["gelu, with gated = true"] = "geglu", ["gelu_tanh, with gated = true"] = "gated-gelu gated_gelu",
  ["relu, with gated = true"] = "reglu", sigmoid = "logistic", normalise = "normalize",
}
for _, name in ipairs { "hard_swish", "hardswish", "hard_silu", "hard_sigmoid", "hardsigmoid", "hard_tanh", "hardtanh",
  "hard_gelu", "gelu_10", "relu2", "relu6", "relu_squared", "leaky_relu", "prelu", "elu", "selu", "celu", "mish",
  "softplus", "softsign", "laplace", "xielu", "linear", "identity" } do
  hints.activations[name] = "!" .. name .. " is not supported"
end

--- Words that a description may contain without quotes, where it meant a stage or a function. Activations come first.
hints.globals = by_word {
  ["norm()"] = "layernorm layer_norm LayerNorm", ["linear { to = }"] = "dense classifier", ["linear { }"] = "Linear",
  ["tokens { vocab = }"] = "embedding Embedding", ['pool "first"'] = "pooler", ['pool "mean"'] = "mean",
  ["normalise()"] = "normalize l2_normalize", ["vocabulary()"] = "vocab lm_head", huge = "inf infinity", pi = "PI",
  ["!dropout is for training only"] = "dropout", ["memory = encoder { }"] = "decoder",
  ["seq = any(512)"] = "dynamic variable None",
}

--- Words that other libraries give the length of a sequence if a call sets it.
hints.any_length = { any = true, dynamic = true, variable = true, none = true, auto = true, symbolic = true }

--- Values of keys that have a list of words.
hints.values = {
  target = by_word {
    host = "native auto cpu", aarch64 = "arm64 arm neon", x86_64 = "amd64 x86 x86-64 sse avx", avx512 = "avx512f",
    ["!programs only run on processors"] = "cuda gpu metal mps",
  },
  precision = by_word { ['!weights = "int4" has 4 bits'] = "int4 nf4 4bit",
    ["!8-bit floats are not supported"] = "fp8" },
  weights = by_word {
    int2 = "q2_k", int3 = "q3_k q3_k_s q3_k_m q3_k_l", int4 = "q4_0 q4 nf4 4bit awq gptq", int4m = "q4_1",
    int4k = "q4_k q4_k_s q4_k_m", int5 = "q5_0", int5m = "q5_1", int5k = "q5_k q5_k_s q5_k_m", int6k = "q6_k",
    int8 = "q8_0 q8 i8 8bit", iq4 = "iq4_nl", iq4k = "iq4_xs", iq3 = "iq3_xxs", iq3s = "iq3_s",
    ["!precision says it"] = "f32 bf16 fp16 f16",
  },
  threads = by_word { ["!0 goes by the number of cores"] = "all auto max cores native" },
  parallel = by_word { one_norm = "true" }, attention_output = by_word { heads = "true" },
  mask = by_word {
    none = "bidirectional full", window = "sliding sliding_window", causal = "autoregressive decoder",
    padding = "lengths",
  },
  positions = by_word { rope = "rotary", learned = "absolute", sinusoidal = "sinusoid", relative_key = "relative" },
  norm_kind = by_word { layer = "layernorm layer_norm", rms = "rmsnorm rms_norm" },
  norm = by_word { pre = "prenorm pre_norm", post = "postnorm post_norm", sandwich = "both", res_post = "reordered",
    ["!norm_kind says which norm"] = "layernorm layer_norm rmsnorm rms_norm layer rms" },
  cache = by_word { bf16 = "fp16 f16 float16 half bfloat16", int8 = "q8_0 q8 fp8", int4 = "q4_0 q4 q4_1" },
  qk_norm = by_word { heads = "head per_head true", all = "width full" },
}

--- Rows that a pool takes.
hints.pools = by_word { first = "cls cls_token", mean = "average avg", last = "last_token lasttoken eos" }

-- A type's word, and other words for it, as a key and as the value of `precision`.
for _, type in ipairs(types.of_weights) do
  for _, word in ipairs { type.word, table.unpack(type.also) } do
    hints.keys[word] = ('precision = "%s"'):format(type.word)
    if word ~= type.word then hints.values.precision[word] = type.word end
  end
end

--- Tile parameters in `plan`.
hints.parameters = { prefetch = "fetch", tokens = "token_block", rows = "call_rows", outputs = "panel" }

--- Returns " (did you mean X?)" or " (why not)" for a word in a table of hints, else nil.
function hints.text(list, word)
  local hint = list[word] or list[word:lower()]
  if not hint then return nil end
  if hint:sub(1, 1) == "!" then return (" (%s)"):format(hint:sub(2)) end
  return (" (did you mean %s?)"):format(hint)
end

return hints
