-- architectures.lua: lists the architectures of GGUF files: what their metadata means in config.json of a family, and
-- the names of their tensors. Each is one record.
--
--   class     the class of transformers, as config.json names it
--   keys      { key after "NAME.", key of config.json, kind }: kind is count or number; `optional` if it may be
--             missing; `each` if it may be a list with a number for each layer; `off`, the value that 0 stands for
--   told      key of config.json -> a tensor; it is true if the file has that
--   derive    a function of the configuration and the file, for what is not one key
--   tensors   the naming scheme (names.lua) of its files
--   output    a tensor's name in transformers' task head -> its name in the file
--   also      other families whose models llama.cpp's converter writes to such files
--
-- llama.cpp's converter stores the rows of Llama's queries and keys as pairs (unpair).
local json = require("common.json")
local normal = require("common.normal")
local words = require("common.words")

local architectures = {}

local function key(own, theirs, kind) return { own, theirs, kind or "count" } end
local function maybe(own, theirs, kind) return { own, theirs, kind or "count", optional = true } end
local function cap(name) return { name, name, "number", optional = true, off = json.null } end

-- Returns the keys of sizes, then `more`. longest, ff: other names of keys in config.json; ff = false: it has none.
local function with_sizes(more, longest, ff)
  local list = {
    key("embedding_length", "hidden_size"),
    key("block_count", "num_hidden_layers"),
    key("attention.head_count", "num_attention_heads"),
    key("context_length", longest or "max_position_embeddings"),
  }
  if ff ~= false then table.insert(list, 2, key("feed_forward_length", ff or "intermediate_size")) end
  return words.append(list, more)
end

-- Returns the keys of decoders with rotary positions, and `more`. d: other names of keys in config.json.
local function decoder_keys(d, more)
  local list = with_sizes {
    key(d.eps and "attention.layer_norm_epsilon" or "attention.layer_norm_rms_epsilon", d.eps or "rms_norm_eps",
      "number"),
    maybe("rope.freq_base", d.theta or "rope_theta", "number"),
  }
  if not d.same_heads then
    list[#list + 1] = maybe("attention.head_count_kv", "num_key_value_heads")
    list[#list + 1] = maybe("attention.key_length", "head_dim")
  end
  return words.append(list, more)
end

local function has(file, name) return file.tensors[name] ~= nil end

-- Returns the function that sets what the tensors tell about a decoder; `more` sets the rest. d: as in decoder_keys;
-- d.partial: the key of the part of a head that is rotated.
local function decoder(d, more)
  return function(config, file)
    local theta = d.theta or "rope_theta"
    config.vocab_size = file.rows("token_embd.weight")
    config.tie_word_embeddings = not has(file, "output.weight")
    if not d.same_heads then
      config.num_key_value_heads = config.num_key_value_heads or config.num_attention_heads
      config.head_dim = config.head_dim or config.hidden_size // config.num_attention_heads
    end
    config[theta] = config[theta] or 10000
    file.set_rotary(config, d.partial)
    if file.metadata[file.metadata["general.architecture"] .. ".attention.causal"] == false then
      config.is_causal = false
    end
    if more then more(config, file) end
  end
end

-- Returns the rules of queries, keys and values that are the parts of one tensor, then `more`.
local function joined(parts, more)
  return words.append({ { "l*.attn.{q,k,v}", { "blk.*.attn_qkv", parts = parts } } }, more)
end

-- Returns the naming scheme of decoders. own: rules that come before the usual ones of the same paths; pairs: true if
-- the rows of queries and keys are stored as pairs.
local function decoder_tensors(own, pairs)
  local list = {
    { "input.tokens", "token_embd" },
    { "l*.attn.{q,k}", { "blk.*.attn_{q,k}", unpair = pairs } },
    { "l*.attn.{v,q_norm,k_norm,out}", "blk.*.attn_{v,q_norm,k_norm,output}" },
    { "l*.{norm1,norm1_after}", "blk.*.{attn,post_attention}_norm" },
    { "l*.ff.{gate,up,down,router}", "blk.*.ffn_{gate,up,down,gate_inp}" },
    { "l*.ff.experts.{gate,up,down}", "blk.*.ffn_{gate,up,down}_exps" },
    { "l*.ff.shared_gate", "blk.*.ffn_gate_inp_shexp" },
    { "l*.ff.shared.{gate,up,down}", "blk.*.ffn_{gate,up,down}_shexp" },
    { "l*.{norm2,norm2_after}", "blk.*.{ffn,post_ffw}_norm" },
    { "final_norm", "output_norm" },
  }
  return words.append({}, own, list)
end

local output = { ["lm_head.weight"] = "output.weight", ["embed_out.weight"] = "output.weight" }

local Q_BIAS = "blk.0.attn_q.bias"
local Q_NORM = "blk.0.attn_q_norm.weight"
local has_bias = { attention_bias = Q_BIAS }
local has_biases = { attention_bias = Q_BIAS, mlp_bias = "blk.0.ffn_up.bias" }

-- Adds the architecture of a decoder: the usual fields, and its own.
local function add_decoder(name, class, own)
  architectures[name] = words.merged({ model_type = name, class = class .. "ForCausalLM", keys = decoder_keys {},
    output = output, tensors = decoder_tensors(), derive = decoder {} }, own)
end

local in_pairs = { tensors = decoder_tensors(nil, true), told = has_biases }

local function expert_keys(more)
  return decoder_keys({}, words.append({ maybe("expert_count", "num_experts"),
    maybe("expert_used_count", "num_experts_per_tok"), maybe("expert_feed_forward_length", "moe_intermediate_size") },
    more))
end

-- Files of Mixtral have the architecture of Llama.
add_decoder("llama", "Llama", words.merged(in_pairs, {
  keys = expert_keys(), also = { "internlm3", "mistral", "mixtral" },
  derive = decoder({}, function(config, file)
    if not config.num_experts then return end
    config.model_type, config.architectures[1] = "mixtral", "MixtralForCausalLM"
    config.attention_bias, config.mlp_bias = nil, nil
    config.num_experts_per_tok = config.num_experts_per_tok or file.refuse("llama.expert_used_count", "is missing")
  end),
}))
add_decoder("smollm3", "SmolLM3", in_pairs)

local granite_keys = { maybe("attention.scale", "attention_multiplier", "number"),
  maybe("embedding_scale", "embedding_multiplier", "number"), maybe("residual_scale", "residual_multiplier", "number"),
  maybe("logit_scale", "logits_scaling", "number") }
-- Without a scale of scores, that of all models counts.
local function usual_scale(config)
  config.attention_multiplier = config.attention_multiplier or config.head_dim ^ -0.5
end
add_decoder("granite", "Granite", words.merged(in_pairs, { keys = decoder_keys({}, granite_keys),
  derive = decoder({}, usual_scale) }))
add_decoder("granitemoe", "GraniteMoe", words.merged(in_pairs, { keys = expert_keys(granite_keys),
  derive = decoder({}, usual_scale) }))

-- llama.cpp always normalises the weights of experts of Qwen 3, and never does so for OLMoE and Qwen 2.
add_decoder("qwen3moe", "Qwen3Moe", { model_type = "qwen3_moe", keys = expert_keys(),
  told = has_bias, derive = decoder({}, function(config) config.norm_topk_prob = true end) })
add_decoder("olmoe", "Olmoe", { keys = expert_keys() })
add_decoder("qwen2moe", "Qwen2Moe", { model_type = "qwen2_moe",
  keys = expert_keys { maybe("expert_shared_feed_forward_length", "shared_expert_intermediate_size") },
  told = { qkv_bias = Q_BIAS }, derive = decoder({}, function(config, file)
    config.shared_expert_intermediate_size = config.shared_expert_intermediate_size
      or file.rows("blk.0.ffn_up_shexp.weight")
    config.moe_intermediate_size = config.moe_intermediate_size
      or config.intermediate_size // (config.num_experts_per_tok or 1)
  end) })
add_decoder("qwen2", "Qwen2")
add_decoder("qwen3", "Qwen3", { told = has_bias })
-- Sets which layers slide, if the file says it: by a flag for each layer, or every how many layers one does not.
local function set_layer_types(config, file)
  local name = file.metadata["general.architecture"] .. ".attention.sliding_window_pattern"
  local period = file.metadata[name]
  local is_period = math.type(period) == "integer"
  local list = is_period and {} or file.flags(name)
  for i = 1, is_period and config.num_hidden_layers or 0 do
    list[i] = (period == 0 or i % period ~= 0) and 1 or 0
  end
  config.layer_types = list and words.map(list, function(flag)
    return flag == 1 and "sliding_attention" or "full_attention"
  end)
end

local window = maybe("attention.sliding_window", "sliding_window")
local window_base = maybe("rope.freq_base_swa", "window_base", "number")

-- Sets the base of positions where only layers with a window have any.
local function set_window_base(config)
  config.rope_theta, config.window_base = config.window_base or config.rope_theta, nil
end

local norms_after = decoder_tensors { { "l*.norm1", "blk.*.post_attention_norm" },
  { "l*.norm2", "blk.*.post_ffw_norm" } }

-- OLMo 3 is OLMo 2 with windows.
add_decoder("olmo2", "Olmo2", {
  also = { "olmo3" },
  keys = decoder_keys({}, { window, window_base }), tensors = norms_after, told = has_bias,
  derive = decoder({}, function(config, file)
    local base = config.window_base or config.rope_theta
    config.window_base = nil
    if not config.sliding_window then return end
    config.model_type, config.architectures[1] = "olmo3", "Olmo3ForCausalLM"
    config.rope_parameters = { sliding_attention = { rope_type = "default", rope_theta = base } }
    set_layer_types(config, file)
  end),
})

-- Files do not say that the bounds of YaRN's ramp are not rounded. Without scaling there is none.
add_decoder("gpt-oss", "GptOss", {
  model_type = "gpt_oss", keys = expert_keys { window },
  tensors = decoder_tensors { { "l*.attn.sinks", "blk.*.attn_sinks.weight" },
    { "l*.norm2", "blk.*.post_attention_norm" } },
  told = has_bias, derive = decoder({}, function(config, file)
    config.rope_scaling = config.rope_scaling or { rope_type = "default" }
    config.rope_scaling.truncate = false
    set_layer_types(config, file)
  end),
})

add_decoder("exaone4", "Exaone4", {
  keys = decoder_keys({}, { window, window_base }), tensors = norms_after,
  derive = decoder({}, function(config, file)
    if config.sliding_window then set_window_base(config) end
    config.sliding_window, config.window_base = config.sliding_window or json.null, nil
    set_layer_types(config, file)
  end),
})

local of_layer_norm = { eps = "layer_norm_eps" }
local scaled = maybe("logit_scale", "logit_scale", "number")
local scaled_or_not = decoder({}, function(config) config.logit_scale = config.logit_scale or 1 end)

add_decoder("command-r", "Cohere", {
  model_type = "cohere", keys = decoder_keys(of_layer_norm, { scaled }),
  told = { attention_bias = Q_BIAS, use_qk_norm = Q_NORM }, derive = scaled_or_not,
})
add_decoder("cohere2", "Cohere2", { keys = decoder_keys(of_layer_norm, { scaled, window, window_base }),
  told = has_bias, derive = function(config, file)
    scaled_or_not(config, file)
    set_window_base(config)
    set_layer_types(config, file)
  end })

add_decoder("stablelm", "StableLm", {
  keys = decoder_keys(of_layer_norm), told = { use_qkv_bias = Q_BIAS, qk_layernorm = Q_NORM },
  derive = decoder({ partial = "partial_rotary_factor" }, function(config, file)
    config.use_parallel_residual = not has(file, "blk.0.ffn_norm.weight")
  end),
})

local gate_and_up = {
  { "l*.ff.{gate,up}", { "blk.*.ffn_up", parts = 2 } },
}

add_decoder("glm4", "Glm4", {
  tensors = decoder_tensors(gate_and_up), told = has_bias,
  derive = decoder { partial = "partial_rotary_factor" },
})

add_decoder("internlm2", "InternLM2", words.merged(in_pairs, { told = { bias = Q_BIAS } }))

-- Returns a record of a family that began with GPT-2, whose file has queries, keys and values in one tensor.
local function add_joined(name, class, parts, own)
  architectures[name] = words.merged({ model_type = name, class = class .. "ForCausalLM", output = output,
    tensors = decoder_tensors(joined(parts, own.rules)) }, own)
end

local function of_table(config, file)
  config.vocab_size, config.tie_word_embeddings = file.rows("token_embd.weight"), not has(file, "output.weight")
end

local norm_eps = key("attention.layer_norm_epsilon", "layer_norm_epsilon", "number")

add_joined("bloom", "Bloom", 3, {
  keys = with_sizes({ norm_eps }, "seq_length", false), derive = of_table,
  rules = { { "input.norm", "token_embd_norm" } },
})

-- Files have no models without ALiBi: their bias is 0, which is refused.
add_joined("mpt", "Mpt", 3, {
  keys = with_sizes({ norm_eps, key("attention.max_alibi_bias", "alibi_bias_max", "number"),
    maybe("attention.clamp_kqv", "clip_qkv", "number") }, "max_seq_len", false),
  derive = function(config, file)
    of_table(config, file)
    config.attn_config = { alibi_bias_max = config.alibi_bias_max, clip_qkv = config.clip_qkv }
    config.alibi_bias_max, config.clip_qkv = nil, nil
  end,
})

-- With two norms the first is that of the feed-forward.
add_joined("falcon", "Falcon", { "heads", "kv_heads", "kv_heads" }, {
  keys = with_sizes({ norm_eps, maybe("attention.head_count_kv", "num_kv_heads"),
    maybe("rope.freq_base", "rope_theta", "number") }, nil, "ffn_hidden_size"),
  derive = function(config, file)
    of_table(config, file)
    config.new_decoder_architecture = true
    config.num_ln_in_parallel_attn = has(file, "blk.0.attn_norm_2.weight") and 2 or 1
    file.set_rotary(config)
  end,
  rules = { { "l*.norm1", { "blk.*.attn_norm_2", "blk.*.attn_norm" } }, { "l*.norm2", "blk.*.attn_norm" } },
})
add_decoder("starcoder2", "Starcoder2", {
  keys = decoder_keys { eps = "norm_epsilon" }, told = { use_bias = Q_BIAS },
})

-- llama.cpp's converter adds one to the weights of Gemma's norms, so their rules are the common ones.
add_decoder("gemma", "Gemma")

-- Returns the function that sets windows, and the scale of scores: heads' width, except in the largest model, whose
-- number of layers tells it and whose scale is the width divided by the heads.
local function scalar(largest)
  return function(config, file)
    if config.sliding_window then set_layer_types(config, file) end
    config.query_pre_attn_scalar = config.num_hidden_layers == largest
      and config.hidden_size // config.num_attention_heads or config.head_dim
  end
end

add_decoder("gemma2", "Gemma2", {
  keys = decoder_keys({}, { maybe("attention.sliding_window", "sliding_window"),
    maybe("attn_logit_softcapping", "attn_logit_softcapping", "number"), cap("final_logit_softcapping") }),
  derive = decoder({}, scalar(46)),
})

add_decoder("gemma3", "Gemma3", {
  model_type = "gemma3_text",
  keys = decoder_keys({}, { maybe("attention.sliding_window", "sliding_window"),
    cap("final_logit_softcapping"), maybe("rope.freq_base_swa", "rope_local_base_freq", "number") }),
  derive = function(config, file)
    if not config.sliding_window then config.sliding_window_pattern = 1 end
    decoder({}, scalar(62))(config, file)
  end,
})

-- The parts of Gemma 3n and 4 that read tokens in each layer.
local layer_inputs = {
  { "input.layers_tokens", "per_layer_token_embd" },
  { "input.layers_context", "per_layer_model_proj" },
  { "l*.tokens.context_norm", "per_layer_proj_norm" },
  { "l*.tokens.{gate,project,norm}", "blk.*.{inp_gate,proj,post_norm}" },
}

-- llama.cpp's converter stacks the layers that make other streams, of which it has three.
local STREAMS = 4
local of_gemma3n = words.append({}, layer_inputs, {
  { "l*.low_rank.left", "blk.*.laurel_l" },
  { "l*.low_rank.right", "blk.*.laurel_r" },
  { "l*.low_rank.norm", "blk.*.laurel_post_norm" },
  { "l*.streams.norm", "blk.*.altup_router_norm" },
  { "l*.streams.router", "blk.*.altup_router" },
  { "l*.streams.predict", "blk.*.altup_predict_coef" },
  { "l*.streams.correct", "blk.*.altup_correct_coef" },
  { "l*.streams.scale", "blk.*.altup_correct_scale" },
})
for i = 1, STREAMS - 1 do
  for path, name in pairs { ["input.streams.%d"] = "altup_proj", ["output.streams.%d"] = "altup_unembd_proj" } do
    of_gemma3n[#of_gemma3n + 1] = { path:format(i), { name, part = i, parts = STREAMS - 1, stacked = true } }
  end
end

-- The file has the cutoffs of gates as numbers of deviations, and -inf for none.
add_decoder("gemma3n", "Gemma3n", {
  model_type = "gemma3n_text",
  keys = decoder_keys({}, { maybe("attention.sliding_window", "sliding_window"),
    maybe("attention.shared_kv_layers", "num_kv_shared_layers"),
    key("embedding_length_per_layer_input", "hidden_size_per_layer_input"),
    key("altup.num_inputs", "altup_num_inputs"), maybe("altup.active_idx", "altup_active_idx"),
    cap("final_logit_softcapping"),
    maybe("rope.freq_base_swa", "rope_local_base_freq", "number") }),
  tensors = decoder_tensors(of_gemma3n), told = has_bias,
  derive = function(config, file)
    if config.altup_num_inputs ~= STREAMS then
      file.refuse("gemma3n.altup.num_inputs", ("%d, but %d is supported"):format(config.altup_num_inputs, STREAMS))
    end
    local cutoffs = file.numbers("gemma3n.activation_sparsity_scale")
    set_layer_types(config, file)
    config.activation_sparsity_pattern = cutoffs and words.map(cutoffs, normal.below)
    config.num_kv_shared_layers = config.num_kv_shared_layers or 0
    config.laurel_rank = file.rows("blk.0.laurel_l.weight")
    config.vocab_size_per_layer_input = file.rows("per_layer_token_embd.weight")
    decoder {}(config, file)
  end,
})

-- Sets the widths and numbers of heads in layers of Gemma 4 without a window.
local function set_full_layers(config, file)
  local counts = config.num_key_value_heads
  config.num_global_key_value_heads, config.per_layer_config = nil, {}
  for i, kind in ipairs(config.layer_types) do
    local count = type(counts) == "table" and (counts[i] or 0) or counts
    if kind == "full_attention" then
      config.per_layer_config[tostring(i - 1)] = { head_dim = config.head_dim, num_key_value_heads = count }
      config.attention_k_eq_v = config.attention_k_eq_v
        or has(file, ("blk.%d.attn_k.weight"):format(i - 1)) and not has(file, ("blk.%d.attn_v.weight"):format(i - 1))
    else
      config.num_key_value_heads = count
    end
  end
  for name, width in pairs { ["rope.dimension_count"] = config.head_dim,
    ["rope.dimension_count_swa"] = config.window_head_dim, ["attention.value_length_swa"] = config.window_head_dim } do
    local stated = file.metadata["gemma4." .. name]
    if stated and stated ~= width then
      file.refuse("gemma4." .. name, ("%s, but heads have %d: a part is not supported"):format(tostring(stated), width))
    end
  end
  config.head_dim, config.window_head_dim = config.window_head_dim, nil
end

-- Sets the angles of Gemma 4. Layers without a window rotate the part of a head whose frequencies have the factor 1.
local function set_gemma4_angles(config, file)
  local factors, rotated = file.floats("rope_freqs.weight", config.head_dim // 2), 0
  for i, factor in ipairs(factors) do
    if factor == 1 and rotated == i - 1 then rotated = i end
    if factor ~= 1 and factor < 1e30 * (1 - 1e-6) then
      file.refuse("general.architecture", '"gemma4": rope_freqs.weight has factors that are not supported')
    end
  end
  config.rope_parameters = {
    full_attention = { rope_type = "proportional", rope_theta = config.rope_theta,
      partial_rotary_factor = rotated / #factors },
    sliding_attention = { rope_type = "default", rope_theta = config.window_base or 10000 } }
  config.rope_theta, config.window_base = nil, nil
end

add_decoder("gemma4", "Gemma4", {
  model_type = "gemma4_text",
  keys = with_sizes({ key("attention.layer_norm_rms_epsilon", "rms_norm_eps", "number"),
    { "feed_forward_length", "intermediate_size", "count", each = true },
    { "attention.head_count_kv", "num_key_value_heads", "count", each = true },
    key("attention.key_length", "head_dim"), key("attention.key_length_swa", "window_head_dim"),
    key("attention.sliding_window", "sliding_window"), key("rope.freq_base", "rope_theta", "number"), window_base,
    maybe("attention.shared_kv_layers", "num_kv_shared_layers"),
    maybe("embedding_length_per_layer_input", "hidden_size_per_layer_input"), cap("final_logit_softcapping"),
    maybe("expert_count", "num_experts"), maybe("expert_used_count", "top_k_experts"),
    maybe("expert_feed_forward_length", "moe_intermediate_size") }, nil, false),
  tensors = decoder_tensors(words.append({
    { "l*.scale.weight", { "blk.*.layer_output_scale.weight", repeated = true } },
    { "l*.ff.shared.{gate,up,down,norm}", "blk.*.{ffn_gate,ffn_up,ffn_down,post_ffw_norm_1}" },
    { "l*.ff.router.{norm,scales}.weight", "blk.*.{ffn_gate_inp,ffn_down_exps}.scale" },
    { "l*.ff.experts.{gate,up}", { "blk.*.ffn_gate_up_exps", parts = 2 } },
    { "l*.ff.experts.{norm,norm_after}", "blk.*.{pre_ffw_norm_2,post_ffw_norm_2}" },
  }, layer_inputs)),
  told = { enable_moe_block = "blk.0.ffn_gate_inp.weight" },
  derive = function(config, file)
    of_table(config, file)
    set_layer_types(config, file)
    if not config.layer_types or config.layer_types[#config.layer_types] ~= "full_attention" then
      file.refuse("gemma4.attention.sliding_window_pattern", "the last layer has a window, which is not supported")
    end
    set_gemma4_angles(config, file)
    set_full_layers(config, file)
    local widths = config.intermediate_size
    if type(widths) == "table" then
      config.intermediate_size, config.use_double_wide_mlp = widths[1], widths[#widths] == 2 * widths[1]
    end
    config.num_kv_shared_layers = config.num_kv_shared_layers or 0
    config.hidden_size_per_layer_input = config.hidden_size_per_layer_input or 0
    config.vocab_size_per_layer_input = config.vocab_size
  end,
})

-- Layers without heads of keys are convolutions.
local of_lfm2 = {
  keys = with_sizes { key("attention.layer_norm_rms_epsilon", "norm_eps", "number"),
    maybe("rope.freq_base", "rope_theta", "number"), key("shortconv.l_cache", "conv_L_cache"),
    { "attention.head_count_kv", "num_key_value_heads", "count", each = true } },
  tensors = decoder_tensors {
    { "l*.conv.{b,c,x}", { "blk.*.shortconv.in_proj", parts = 3 } },
    { "l*.conv", "blk.*.shortconv.conv" },
    { "l*.conv.out", "blk.*.shortconv.out_proj" },
    { "l*.ff.router.correction", "blk.*.exp_probs_b.bias" },
    { "final_norm", "token_embd_norm" },
  },
  derive = function(config, file)
    local counts, most = config.num_key_value_heads, 0
    if type(counts) == "table" then
      config.layer_types = words.map(counts, function(count) return count == 0 and "conv" or "full_attention" end)
      for i, count in ipairs(counts) do
        if count > 0 and most > 0 and count ~= most then
          file.refuse(config.model_type .. ".attention.head_count_kv", "layers with different values are not supported")
        end
        most = math.max(most, count)
        config.conv_bias = config.conv_bias or has(file, ("blk.%d.shortconv.in_proj.bias"):format(i - 1))
      end
      config.num_key_value_heads = most > 0 and most or nil
    end
    config.block_auto_adjust_ff_dim = false
    decoder {}(config, file)
  end,
}
add_decoder("lfm2", "Lfm2", of_lfm2)
add_decoder("lfm2moe", "Lfm2Moe", words.merged(of_lfm2, {
  model_type = "lfm2_moe",
  keys = words.append({ key("expert_count", "num_experts"), key("expert_used_count", "num_experts_per_tok"),
    key("expert_feed_forward_length", "moe_intermediate_size"),
    maybe("leading_dense_block_count", "num_dense_layers") }, of_lfm2.keys),
  derive = function(config, file)
    of_lfm2.derive(config, file)
    config.block_auto_adjust_ff_dim, config.num_dense_layers = nil, config.num_dense_layers or 0
  end,
}))

add_decoder("phi3", "Phi3", {
  keys = decoder_keys({}, { maybe("attention.sliding_window", "sliding_window"),
    maybe("rope.scaling.original_context_length", "original_max_position_embeddings") }),
  tensors = decoder_tensors(joined({ "heads", "kv_heads", "kv_heads" }, gate_and_up)),
  derive = decoder({ partial = "partial_rotary_factor" }, function(config)
    config.original_max_position_embeddings = config.original_max_position_embeddings
      or config.max_position_embeddings
  end),
})

local neox = { same_heads = true, eps = "layer_norm_eps", theta = "rotary_emb_base", partial = "rotary_pct" }

add_decoder("gptneox", "GPTNeoX", {
  model_type = "gpt_neox", keys = decoder_keys(neox),
  tensors = decoder_tensors(joined(3)), told = { attention_bias = "blk.0.attn_qkv.bias" },
  derive = decoder(neox, function(config, file)
    local is_parallel = file.metadata["gptneox.use_parallel_residual"]
    if is_parallel ~= nil then config.use_parallel_residual = is_parallel end
  end),
})

architectures.gpt2 = {
  model_type = "gpt2", class = "GPT2LMHeadModel", output = output,
  keys = {
    { "embedding_length", "n_embd", "count" },
    { "feed_forward_length", "n_inner", "count" },
    { "block_count", "n_layer", "count" },
    { "attention.head_count", "n_head", "count" },
    { "context_length", "n_positions", "count" },
    { "attention.layer_norm_epsilon", "layer_norm_epsilon", "number" },
  },
  derive = function(config, file)
    config.vocab_size = file.rows("token_embd.weight")
    config.tie_word_embeddings = not has(file, "output.weight")
  end,
  tensors = decoder_tensors(joined(3, { { "input.positions", "position_embd" } })),
}

local function encoder_keys(more)
  return with_sizes { key("attention.layer_norm_epsilon", "layer_norm_eps", "number"), table.unpack(more) }
end

-- Returns the naming scheme of encoders, with rules of their own first.
local function encoder_tensors(own)
  local list = {
    { "input.{tokens,types,norm}", "token_{embd,types,embd_norm}" },
    { "l*.attn.{q,k,v,out}", "blk.*.attn_{q,k,v,output}" },
    { "l*.{norm1,norm2}", "blk.*.{attn,layer}_output_norm" },
    { "l*.ff.{up,down}", "blk.*.ffn_{up,down}" },
  }
  return words.append(own, list)
end

architectures.bert = {
  model_type = "bert", class = "BertModel", also = { "roberta" },
  keys = encoder_keys {},
  derive = function(config, file)
    config.vocab_size, config.type_vocab_size = file.rows("token_embd.weight"), file.rows("token_types.weight")
    config.max_position_embeddings = file.rows("position_embd.weight")
  end,
  tensors = encoder_tensors {
    { "input.positions.weight", { "position_embd.weight", plus = { "token_types.weight", row = 0 },
      when = { "input.types", 0 } } },
    { "input.positions", "position_embd" },
  },
}

-- The rules of a stack of T5; path: before the graph's names, name: before the file's.
local function t5_stack(path, name)
  return {
    { path .. "positions.bias.weight", name .. "blk.0.attn_rel_b.weight" },
    { path .. "l*.attn.positions.bias.weight", name .. "blk.*.attn_rel_b.weight" },
    { path .. "l*.attn.{q,k,v,out}", name .. "blk.*.attn_{q,k,v,o}" },
    { path .. "l*.ff.{gate,up,down}", name .. "blk.*.ffn_{gate,up,down}" },
    { path .. "l*.{norm1,norm2}", name .. "blk.*.{attn,ffn}_norm" },
    { path .. "final_norm", name .. "output_norm" },
  }
end

-- Files do not have the distance from which on all share a bucket, which is 128, nor the words of the feed-forward:
-- with a gate it is gelu, else relu.
local t5_keys = {
  key("embedding_length", "d_model"), key("feed_forward_length", "d_ff"), key("block_count", "num_layers"),
  key("attention.head_count", "num_heads"), key("attention.key_length", "d_kv"),
  key("attention.relative_buckets_count", "relative_attention_num_buckets"),
  key("attention.layer_norm_rms_epsilon", "layer_norm_epsilon", "number"), maybe("context_length", "n_positions"),
}

-- Returns the function that sets what the tensors tell. class: the end of the class's name.
local function t5(class)
  return function(config, file)
    local by_layer = has(file, "enc.blk.1.attn_rel_b.weight")
    config.model_type, config.architectures[1] = by_layer and "umt5" or "t5", (by_layer and "UMT5" or "T5") .. class
    config.vocab_size = file.rows("token_embd.weight")
    config.tie_word_embeddings = not has(file, "output.weight")
    config.feed_forward_proj = has(file, "enc.blk.0.ffn_gate.weight") and "gated-gelu" or "relu"
    config.decoder_start_token_id = file.metadata["t5.decoder_start_token_id"]
  end
end

architectures.t5 = {
  model_type = "t5:writer", class = "T5ForConditionalGeneration", output = output,
  keys = words.append({ maybe("decoder_block_count", "num_decoder_layers") }, t5_keys),
  derive = t5("ForConditionalGeneration"),
  tensors = words.append({ { "{input,encoder.input}.tokens", "token_embd" },
    { "l*.{cross.q,cross.k,cross.v,cross.out,norm_cross}", "dec.blk.*.cross_attn_{q,k,v,o,norm}" } },
    t5_stack("", "dec."), t5_stack("encoder.", "enc.")),
}
architectures.t5encoder = {
  model_type = "t5", class = "T5EncoderModel", keys = t5_keys, derive = t5("EncoderModel"),
  tensors = words.append({ { "input.tokens", "token_embd" } }, t5_stack("", "enc.")),
}

architectures["nomic-bert"] = {
  model_type = "nomic_bert", class = "NomicBertModel",
  output = { ["embeddings.word_embeddings.weight"] = "token_embd.weight" },
  keys = encoder_keys { maybe("rope.freq_base", "rope_theta", "number") },
  -- The published folders' keys say which parts have biases.
  told = { qkv_proj_bias = "blk.0.attn_qkv.bias", mlp_fc1_bias = "blk.0.ffn_up.bias",
    mlp_fc2_bias = "blk.0.ffn_down.bias" },
  derive = function(config, file)
    config.vocab_size = file.rows("token_embd.weight")
    config.type_vocab_size = has(file, "token_types.weight") and file.rows("token_types.weight") or 0
    config.rope_theta = config.rope_theta or 10000
    config.activation_function, config.rotary_emb_fraction = "swiglu", 1
    file.set_rotary(config)
  end,
  tensors = encoder_tensors(joined(3, {
    { "input.tokens.weight", { "token_embd.weight", plus = { "token_types.weight", row = 0 },
      when = { "input.types", 0 } } },
    { "l*.ff.gate", "blk.*.ffn_gate" },
  })),
}

-- The mixture of experts: every second layer has some; the other feed-forwards have no gate.
local nomic = architectures["nomic-bert"]
architectures["nomic-bert-moe"] = words.merged(nomic, {
  keys = words.append({}, nomic.keys, { key("expert_count", "num_experts"), key("expert_used_count", "moe_top_k"),
    key("moe_every_n_layers", "moe_every_n_layers") }),
  derive = function(config, file)
    nomic.derive(config, file)
    config.activation_function = "gelu"
  end,
  tensors = words.append({}, nomic.tensors, {
    { "l*.ff.router", "blk.*.ffn_gate_inp" },
    { "l*.ff.experts.{up,down}", "blk.*.ffn_{up,down}_exps" },
  }),
})

return architectures
