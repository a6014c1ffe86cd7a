-- architectures.lua: lists the architectures of GGUF files: what their metadata means in config.json of a family, and
-- the names of their tensors. Each is one record.
--
--   class     the class of transformers, as config.json names it
--   keys      { key after "NAME.", key of config.json, kind }: kind is count or number; `optional` if it may be missing
--   derive    a function of the configuration and the file, for what is not one key
--   tensors   the naming scheme (names.lua) of its files
--   output    a tensor's name in transformers' task head -> its name in the file
--
-- llama.cpp's converter stores the rows of Llama's queries and keys as pairs (unpair).
local architectures = {}

-- Keys that all decoders with rotary positions share.
local decoder_keys = {
  { "embedding_length", "hidden_size", "count" },
  { "feed_forward_length", "intermediate_size", "count" },
  { "block_count", "num_hidden_layers", "count" },
  { "attention.head_count", "num_attention_heads", "count" },
  { "attention.head_count_kv", "num_key_value_heads", "count", optional = true },
  { "attention.key_length", "head_dim", "count", optional = true },
  { "context_length", "max_position_embeddings", "count" },
  { "attention.layer_norm_rms_epsilon", "rms_norm_eps", "number" },
  { "rope.freq_base", "rope_theta", "number", optional = true },
}

local function has(file, name) return file.tensors[name] ~= nil end

-- Sets what the tensors tell about a decoder.
local function decoder(config, file)
  config.vocab_size = file.rows("token_embd.weight")
  config.tie_word_embeddings = not has(file, "output.weight")
  config.num_key_value_heads = config.num_key_value_heads or config.num_attention_heads
  config.rope_theta = config.rope_theta or 10000
  file.set_rotary(config)
end

-- Returns the naming scheme of decoders. stored: fields of the rules of queries and keys.
local function decoder_tensors(stored)
  local function rule(name)
    local result = { name }
    for key, value in pairs(stored or {}) do result[key] = value end
    return result
  end
  return {
    { "input.tokens", "token_embd" },
    { "l*.attn.q", rule "blk.*.attn_q" },
    { "l*.attn.k", rule "blk.*.attn_k" },
    { "l*.attn.v", "blk.*.attn_v" },
    { "l*.attn.out", "blk.*.attn_output" },
    { "l*.norm1", "blk.*.attn_norm" },
    { "l*.ff.gate", "blk.*.ffn_gate" },
    { "l*.ff.up", "blk.*.ffn_up" },
    { "l*.ff.down", "blk.*.ffn_down" },
    { "l*.norm2", "blk.*.ffn_norm" },
    { "final_norm", "output_norm" },
  }
end

local output = { ["lm_head.weight"] = "output.weight" }

architectures.llama = {
  model_type = "llama", class = "LlamaForCausalLM", keys = decoder_keys, output = output,
  tensors = decoder_tensors { unpair = true },
  derive = function(config, file)
    decoder(config, file)
    config.attention_bias, config.mlp_bias = has(file, "blk.0.attn_q.bias"), has(file, "blk.0.ffn_up.bias")
  end,
}

architectures.qwen2 = {
  model_type = "qwen2", class = "Qwen2ForCausalLM", keys = decoder_keys, output = output,
  tensors = decoder_tensors(), derive = decoder,
}

local function third(part) return { "blk.*.attn_qkv", part = part, parts = 3 } end

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
  tensors = {
    { "input.tokens", "token_embd" },
    { "input.positions", "position_embd" },
    { "l*.attn.q", third(1) },
    { "l*.attn.k", third(2) },
    { "l*.attn.v", third(3) },
    { "l*.attn.out", "blk.*.attn_output" },
    { "l*.norm1", "blk.*.attn_norm" },
    { "l*.ff.up", "blk.*.ffn_up" },
    { "l*.ff.down", "blk.*.ffn_down" },
    { "l*.norm2", "blk.*.ffn_norm" },
    { "final_norm", "output_norm" },
  },
}

-- pooling_type -> the mode of a sentence-transformers module.
local poolings = { "mean", "cls", "lasttoken" }

architectures.bert = {
  model_type = "bert", class = "BertModel",
  keys = {
    { "embedding_length", "hidden_size", "count" },
    { "feed_forward_length", "intermediate_size", "count" },
    { "block_count", "num_hidden_layers", "count" },
    { "attention.head_count", "num_attention_heads", "count" },
    { "context_length", "max_position_embeddings", "count" },
    { "attention.layer_norm_epsilon", "layer_norm_eps", "number" },
  },
  derive = function(config, file)
    config.vocab_size, config.type_vocab_size = file.rows("token_embd.weight"), file.rows("token_types.weight")
    config.max_position_embeddings = file.rows("position_embd.weight")
    local kind = file.metadata["bert.pooling_type"] or 0
    if kind == 0 then return nil end
    if not poolings[kind] then file.refuse("bert.pooling_type", tostring(kind) .. " is not supported") end
    return { { kind = "Transformer" }, { kind = "Pooling", config = { pooling_mode = poolings[kind] } },
      { kind = "Normalize" } }
  end,
  tensors = {
    { "input.tokens", "token_embd" },
    { "input.positions.weight", { "position_embd.weight", plus = { "token_types.weight", row = 0 },
      when = { "input.types", 0 } } },
    { "input.positions", "position_embd" },
    { "input.types", "token_types" },
    { "input.norm", "token_embd_norm" },
    { "l*.attn.q", "blk.*.attn_q" },
    { "l*.attn.k", "blk.*.attn_k" },
    { "l*.attn.v", "blk.*.attn_v" },
    { "l*.attn.out", "blk.*.attn_output" },
    { "l*.norm1", "blk.*.attn_output_norm" },
    { "l*.ff.up", "blk.*.ffn_up" },
    { "l*.ff.down", "blk.*.ffn_down" },
    { "l*.norm2", "blk.*.layer_output_norm" },
  },
}

return architectures
