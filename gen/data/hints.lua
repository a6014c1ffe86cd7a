-- hints.lua: maps words of other libraries to words of descriptions, so that a message can suggest the right one.
-- The words come from Hugging Face's config.json and PyTorch's modules. Other unknown words are compared by their
-- letters (words.nearest), which would guess wrong here: gelu_new is not gelu.
--
-- A hint is the right word. A hint that begins with ! is the reason why there is none.
local types = require("data.types")

local hints = {}

--- Keys of a description and of an encoder.
hints.keys = {
  -- widths and counts
  hidden_size = "d_model", n_embd = "d_model", n_embed = "d_model", dim = "d_model", embed_dim = "d_model",
  hidden_dim = "d_model", model_dim = "d_model", d_embed = "d_model", embedding_size = "d_model",
  num_attention_heads = "heads", n_head = "heads", n_heads = "heads", nhead = "heads", num_heads = "heads",
  encoder_attention_heads = "heads", decoder_attention_heads = "heads",
  num_key_value_heads = "kv_heads", n_kv_heads = "kv_heads", num_kv_heads = "kv_heads",
  multi_query = "kv_heads = 1", d_kv = "head_dim", d_head = "head_dim", attention_head_size = "head_dim",
  num_hidden_layers = "layers", n_layer = "layers", n_layers = "layers", num_layers = "layers", depth = "layers",
  num_encoder_layers = "layers, of encoder { } in memory", encoder_layers = "layers, of encoder { } in memory",
  num_decoder_layers = "layers", decoder_layers = "layers",
  intermediate_size = "d_ff", dim_feedforward = "d_ff", n_inner = "d_ff", ffn_dim = "d_ff", ffn_hidden_size = "d_ff",
  encoder_ffn_dim = "d_ff", decoder_ffn_dim = "d_ff", feedforward_dim = "d_ff", mlp_dim = "d_ff",
  mlp_ratio = "d_ff, a width",
  batch_size = "batch", seq_len = "seq", seq_length = "seq", sequence_length = "seq", max_seq_len = "seq",
  max_length = "seq", n_ctx = "seq", context_length = "seq", block_size = "seq", sequence = "seq", seqlen = "seq",
  length = "seq", max_len = "seq", maxlen = "seq", bs = "batch", batchsize = "batch",
  width = "d_model", hidden = "d_model", num_layer = "layers", depths = "layers",
  -- the block
  norm_first = 'norm = "pre"', do_layer_norm_before = 'norm = "pre"', layer_norm_eps = "eps",
  layer_norm_epsilon = "eps", norm_eps = "eps", layernorm_epsilon = "eps",
  rms_norm_eps = 'eps, with norm_kind = "rms"', rms_eps = 'eps, with norm_kind = "rms"',
  rms_norm = 'norm_kind = "rms"', rmsnorm = 'norm_kind = "rms"',
  hidden_act = "activation", hidden_activation = "activation", activation_function = "activation",
  feed_forward_proj = "activation, and gated", is_gated_act = "gated", glu = "gated",
  attention_bias = "bias = { qkv =, out = }", qkv_bias = "bias = { qkv = }", use_bias = "bias",
  mlp_bias = "bias = { ff = }",
  use_parallel_residual = 'parallel = "two_norms"', parallel_residual = 'parallel = "two_norms"',
  parallel_attn = "parallel", residual_multiplier = "residual_scale", logits_scaling =
    "output = { vocabulary { scale = } }, its inverse", embedding_multiplier = "input = tokens { scale = }",
  attention_multiplier = "scale", qk_layernorm = 'qk_norm = "heads"', use_qk_norm = "qk_norm",
  attention_dropout = "dropout", hidden_dropout_prob = "dropout", attention_probs_dropout_prob = "dropout",
  attn_pdrop = "dropout", resid_pdrop = "dropout", embd_pdrop = "dropout", hidden_dropout = "dropout",
  dropout_rate = "dropout", activation_dropout = "dropout", drop_path_rate = "drop_path", layerdrop = "drop_path",
  -- attention
  sliding_window = "mask = { window = { SIZE - 1, 0 } }", attention_window = "mask = { window = { LEFT, RIGHT } }",
  is_causal = 'mask = "causal"', causal = 'mask = "causal"', attn_mask = "mask", attention_mask = "mask",
  src_mask = "mask", tgt_mask = "mask", key_padding_mask = 'mask = "key_padding"',
  src_key_padding_mask = 'mask = "key_padding"', add_bias_kv = "bias_kv", add_zero_attn = "zero_attn",
  attn_logit_softcapping = "softcap", logits_soft_cap = "softcap",
  final_logit_softcapping = "output = { vocabulary { softcap = } }", softmax_scale = "scale",
  query_pre_attn_scalar = "scale", output_attentions = "attention_output", need_weights = "attention_output",
  use_cache = "past", past_key_values = "past", is_decoder = 'mask = "causal"', add_cross_attention = "memory",
  -- positions
  max_position_embeddings = "max_position", n_positions = "max_position", max_positions = "max_position",
  position_embedding_type = "positions", positional_encoding = "positions", rotary_dim = "rope_dim",
  rotary_pct = "rope_dim", partial_rotary_factor = "rope_dim", rotary_emb_base = "rope_theta", rope_base = "rope_theta",
  relative_attention_num_buckets = "t5_buckets", relative_attention_max_distance = "t5_distance",
  relative_attention = 'positions = "disentangled"', pos_att_type = "position_terms",
  max_relative_positions = "position_distance", norm_rel_ebd = "position_norm",
  share_att_key = "position_projections", position_biased_input = 'positions = { "learned", "disentangled" }',
  conv_kernel_size = "conv_kernel", conv_act = "conv_activation",
  use_alibi = 'positions = "alibi"', alibi = 'positions = "alibi"',
  -- before and after the layers
  vocab_size = "input = tokens { vocab = }", n_vocab = "input = tokens { vocab = }",
  type_vocab_size = "input = tokens { types = }", tie_word_embeddings = "output = { vocabulary { tied = } }",
  image_size = "input = image { height =, width = }", patch_size = "input = image { patch = }",
  num_channels = "input = image { channels = }", num_labels = "output = { linear { to = } }",
  num_classes = "output = { linear { to = } }", batch_first = 'layout = "batch_first"', outputs = "output",
  -- numbers and machines
  dtype = "precision", torch_dtype = "precision", quantize = "precision", quantization = "precision",
  quantized = "precision", bits = "precision", type = "precision", compute_type = "precision",
  device = "target", arch = "target", march = "target", cpu = "target", isa = "target", simd = "target",
  num_threads = "threads", nthreads = "threads", n_threads = "threads", jobs = "threads", cores = "threads",
  num_experts = "!mixtures of experts are not supported", num_local_experts = "!mixtures of experts are not supported",
}

--- Fields of the stages before and after the layers.
hints.fields = {
  vocab_size = "vocab", n_vocab = "vocab", num_embeddings = "vocab", type_vocab_size = "types",
  image_size = "height and width", img_size = "height and width", patch_size = "patch", num_channels = "channels",
  in_channels = "channels", in_features = "from", out_features = "to", tie_word_embeddings = "tied",
  hidden_act = "activation", layer_norm_eps = "eps", pooling = "over", cls_token = "class_token",
}

--- Activations and the functions that an output may have.
hints.activations = {
  gelu_new = "gelu_tanh", gelu_fast = "gelu_tanh", gelu_pytorch_tanh = "gelu_tanh", gelu_python_tanh = "gelu_tanh",
  gelu_accurate = "gelu_tanh", gelu_approximate = "gelu_tanh", gelu_approx = "gelu_tanh", tanh_gelu = "gelu_tanh",
  gelu_python = "gelu", gelu_erf = "gelu", gelu_none = "gelu", quickgelu = "quick_gelu", gelu_quick = "quick_gelu",
  swish = "silu", silu_python = "silu", swiglu = "silu, with gated = true", geglu = "gelu, with gated = true",
  ["gated-gelu"] = "gelu_tanh, with gated = true", ["gated-silu"] = "silu, with gated = true",
  gated_gelu = "gelu_tanh, with gated = true", gated_silu = "silu, with gated = true",
  reglu = "relu, with gated = true", logistic = "sigmoid", normalize = "normalise",
}
for _, name in ipairs { "hard_swish", "hardswish", "hard_silu", "hard_sigmoid", "hardsigmoid", "hard_tanh", "hardtanh",
  "hard_gelu", "gelu_10", "relu2", "relu6", "relu_squared", "leaky_relu", "prelu", "elu", "selu", "celu", "mish",
  "softplus", "softsign", "laplace", "xielu", "linear", "identity" } do
  hints.activations[name] = "!" .. name .. " is not supported"
end

--- Words that a description may contain without quotes, where it meant a stage or a function. Activations come first.
hints.globals = {
  layernorm = "norm()", layer_norm = "norm()", LayerNorm = "norm()", dense = "linear { to = }", Linear = "linear { }",
  embedding = "tokens { vocab = }", Embedding = "tokens { vocab = }", pooler = 'pool "first"', mean = 'pool "mean"',
  normalize = "normalise()", l2_normalize = "normalise()", vocab = "vocabulary()", lm_head = "vocabulary()",
  classifier = "linear { to = }", inf = "huge", infinity = "huge", PI = "pi",
  dropout = "!dropout is for training only",
  decoder = "memory = encoder { }",
  dynamic = "seq = any(512)", variable = "seq = any(512)", None = "seq = any(512)",
}

--- Words that other libraries give the length of a sequence if a call sets it.
hints.any_length = { any = true, dynamic = true, variable = true, none = true, auto = true, symbolic = true }

--- Values of keys that have a list of words.
hints.values = {
  target = { native = "host", auto = "host", cpu = "host", arm64 = "aarch64", arm = "aarch64", neon = "aarch64",
    amd64 = "x86_64", x86 = "x86_64", ["x86-64"] = "x86_64", sse = "x86_64", avx512f = "avx512", avx = "x86_64",
    cuda = "!programs only run on processors", gpu = "!programs only run on processors",
    metal = "!programs only run on processors", mps = "!programs only run on processors" },
  precision = { int4 = "!4 bits are not supported", fp8 = "!8-bit floats are not supported" },
  mask = { bidirectional = "none", full = "none", sliding = "window", sliding_window = "window",
    autoregressive = "causal", decoder = "causal", lengths = "padding" },
  positions = { rotary = "rope", absolute = "learned", sinusoid = "sinusoidal", relative = "relative_key" },
  norm_kind = { layernorm = "layer", layer_norm = "layer", rmsnorm = "rms", rms_norm = "rms" },
  norm = { prenorm = "pre", postnorm = "post", pre_norm = "pre", post_norm = "post", both = "sandwich",
    reordered = "res_post" },
  qk_norm = { head = "heads", per_head = "heads", width = "all", full = "all" },
}

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
  local hint = list[word]
  if not hint then return nil end
  if hint:sub(1, 1) == "!" then return (" (%s)"):format(hint:sub(2)) end
  return (" (did you mean %s?)"):format(hint)
end

return hints
