-- gemma3n.lua: describes the text part of Gemma 3n (Gemma Team 2025): parallel streams of states, a residual of low
-- rank next to the attention, and gates of which only the largest numbers stay. The last layers read keys and values of
-- earlier ones, and each layer reads the tokens again.
local faults = require("common.faults")
local gemma = require("checkpoints.gemma")
local heads = require("checkpoints.heads")
local layers = require("checkpoints.layers")
local words = require("common.words")

local MOST_STREAMS, LEAST_SPARSITY, MOST_SPARSITY = 16, 1e-4, 0.9999

local tensors = words.append({
  { "l*.low_rank.left", "layers.*.laurel.linear_left" },
  { "l*.low_rank.right", "layers.*.laurel.linear_right" },
  { "l*.low_rank.norm", "layers.*.laurel.post_laurel_norm" },
  { "l*.streams.norm", "layers.*.altup.router_norm" },
  { "l*.streams.router", "layers.*.altup.modality_router" },
  { "l*.streams.predict", "layers.*.altup.prediction_coefs" },
  { "l*.streams.correct", "layers.*.altup.correction_coefs" },
  { "l*.streams.scale.weight", "layers.*.altup.correct_output_scale" },
}, gemma.later)
for i = 1, MOST_STREAMS - 1 do
  tensors[#tensors + 1] = { ("input.streams.%d"):format(i), ("altup_projections.%d"):format(i - 1) }
  tensors[#tensors + 1] = { ("output.streams.%d"):format(i), ("altup_unembed_projections.%d"):format(i - 1) }
end

-- Checks that a list has a number for each layer.
local function check_list(facts, key, list)
  if #list == facts.layers then return end
  faults.raise("format", "config.json: %s: %d values, but one for each of %d layers is expected", key, #list,
    facts.layers)
end

-- Sets the widths of the feed-forwards, one number for all layers or one for each.
local function set_widths(facts)
  local list = facts.d_ff
  if type(list) ~= "table" then return end
  check_list(facts, "intermediate_size", list)
  for i, width in ipairs(list) do
    if math.type(width) ~= "integer" or width < 1 then
      faults.raise("format", "config.json: intermediate_size: value %d is no integer of at least 1", i)
    end
    if width ~= list[1] then layers.own(facts, i - 1).d_ff = width end
  end
  facts.d_ff = list[1]
end

-- Sets the shares of gates that are cut off: of the first 10 layers, if the folder has no list and there are more.
local function set_sparsity(facts)
  local list = facts.sparsity
  if list then check_list(facts, "activation_sparsity_pattern", list) end
  for i = 1, facts.layers do
    local share = list and list[i] or not list and facts.layers > 10 and i <= 10 and 0.95 or 0
    if type(share) ~= "number" or not (share == 0 or share >= LEAST_SPARSITY and share <= MOST_SPARSITY) then
      gemma.refuse("activation_sparsity_pattern", ("value %d is not supported: 0, and numbers from %g to %g are")
        :format(i, LEAST_SPARSITY, MOST_SPARSITY))
    end
    if share > 0 then layers.own(facts, i - 1).gate_sparsity = share end
  end
end

-- Sets the streams, and lets tokens after the table that layers read have its first row, as in transformers.
local function set_streams(facts, names)
  if facts.streams < 2 or facts.streams > MOST_STREAMS then
    gemma.refuse("altup_num_inputs", "%d is not supported: 2 to %d are", facts.streams, MOST_STREAMS)
  elseif facts.active >= facts.streams then
    gemma.refuse("altup_active_idx", "%d, but altup_num_inputs is %d", facts.active, facts.streams)
  elseif facts.layer_vocab > facts.vocab then
    gemma.refuse("vocab_size_per_layer_input", "%d, but vocab_size is %d", facts.layer_vocab, facts.vocab)
  end
  facts.streams = { count = facts.streams, active = facts.active, scaled = facts.is_scaled }
  if facts.layer_vocab == facts.vocab then return end
  local from = words.map(facts.family.prefixes, function(prefix) return prefix .. "embed_tokens_per_layer.weight" end)
  names["input.layers_tokens.weight"] = { join = "rows", words.merged(from, { count = facts.layer_vocab }),
    words.merged(from, { row = 0 }) }
end

return heads.llama_family {
  known = "Gemma 3n (E2B, E4B): models of text, and the text part of the others",
  model_types = { gemma3n_text = "Gemma3n", gemma3n = "Gemma3n" },
  called = { gemma3n_text = "Gemma 3n (its text part)" },
  inside = { gemma3n = "text_config" },
  prefixes = { "model.", "model.language_model.", "" },
  tensors = heads.llama_tensors(tensors),
  config = heads.config({ vocab = 262400, d_model = 2048, layers = 35, heads = 8, kv_heads = 2, head_dim = 256,
    longest = 32768, rms_eps = 1e-6, tied = true, attention_bias = false, window = 512, layer_types = false,
    rope_theta = false, rope_scaling = false, rope_parameters = false }, {
    { "intermediate_size", to = "d_ff", default = 16384, kind = "counts" },
    { "hidden_activation", to = "activation", default = "gelu_pytorch_tanh", kind = "activation" },
    { "rope_local_base_freq", to = "rope_local_base_freq", default = 1e4, kind = "number" },
    { "final_logit_softcapping", to = "logit_softcap", default = 30.0, kind = "number", null = false },
    { "num_kv_shared_layers", to = "shared_layers", default = 15, kind = "size" },
    { "hidden_size_per_layer_input", to = "layer_inputs", default = 256, kind = "count" },
    { "vocab_size_per_layer_input", to = "layer_vocab", default = 262144, kind = "count" },
    { "laurel_rank", to = "residual_rank", default = 64, kind = "count" },
    { "altup_num_inputs", to = "streams", default = 4, kind = "count" },
    { "altup_active_idx", to = "active", default = 0, kind = "size" },
    { "altup_correct_scale", to = "is_scaled", default = true, kind = "flag" },
    { "activation_sparsity_pattern", to = "sparsity", default = false, kind = "list", null = false },
  }),
  fixed = heads.llama_with { norm = "sandwich", qk_norm = "heads", values = "normed" },
  rotary = false,
  pad = 0,
  derive = function(facts, config, names)
    gemma.derive(facts)
    facts.score_scale = 1.0
    if facts.model_type == "gemma3n" then facts.tied = config.tie_word_embeddings ~= false end
    set_widths(facts)
    set_sparsity(facts)
    set_streams(facts, names)
    local sliding = layers.sliding(facts, function(i) return (i + 1) % 5 ~= 0 end)
    layers.set_angles(facts, sliding, {
      full_attention = { rope_theta = facts.rope_theta or 1e6, rope_scaling = facts.rope_scaling },
      sliding_attention = { rope_theta = facts.rope_local_base_freq, rope_scaling = false } })
    layers.set_windows(facts, sliding)
    gemma.share_keys(facts, sliding)
  end,
  heads = gemma.heads(),
  notes = gemma.notes("images and sounds"),
}
