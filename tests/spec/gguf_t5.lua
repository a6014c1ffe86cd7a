-- gguf_t5.lua: writes a folder of T5, mT5 or umT5 as llama.cpp's converter does: names of tensors, metadata, tokens.
local helper = require("tests.spec.helper")
local dkjson = require("dkjson")
local gguf_file = require("tests.spec.gguf_file")
local sentencepiece = require("text.sentencepiece")

local gguf_t5 = {}

local parts = { ["SelfAttention.q"] = "attn_q", ["SelfAttention.k"] = "attn_k", ["SelfAttention.v"] = "attn_v",
  ["SelfAttention.o"] = "attn_o", ["SelfAttention.relative_attention_bias"] = "attn_rel_b",
  ["EncDecAttention.q"] = "cross_attn_q", ["EncDecAttention.k"] = "cross_attn_k",
  ["EncDecAttention.v"] = "cross_attn_v", ["EncDecAttention.o"] = "cross_attn_o",
  ["DenseReluDense.wi"] = "ffn_up", ["DenseReluDense.wi_0"] = "ffn_gate", ["DenseReluDense.wi_1"] = "ffn_up",
  ["DenseReluDense.wo"] = "ffn_down" }
local norms = { encoder = { "attn_norm", "ffn_norm" }, decoder = { "attn_norm", "cross_attn_norm", "ffn_norm" } }
local outside = { ["shared.weight"] = "token_embd.weight", ["lm_head.weight"] = "output.weight" }

-- Returns a tensor's name in GGUF.
local function name_of(name)
  local stack, block, layer, part = name:match("^(%l+)%.block%.(%d+)%.layer%.(%d)%.(.*)%.weight$")
  if part then
    return ("%s.blk.%s.%s.weight"):format(stack:sub(1, 3), block, parts[part] or norms[stack][layer + 1])
  end
  return outside[name] or (name:gsub("^(%l%l%l)oder%.final_layer_norm", "%1.output_norm"))
end

-- Returns the tensors of a safetensors file, in order of their names.
local function tensors_of(path)
  local text = helper.read(path)
  local size = string.unpack("<I8", text)
  local header, list = assert(dkjson.decode(text:sub(9, 8 + size))), {}
  for name, entry in pairs(header) do
    if name ~= "__metadata__" then
      assert(entry.dtype == "F16", name)
      local from, to = table.unpack(entry.data_offsets)
      list[#list + 1] = { name_of(name), "F16", entry.shape, text:sub(9 + size + from, 8 + size + to) }
    end
  end
  table.sort(list, function(a, b) return a[1] < b[1] end)
  return list
end

-- Returns the entries of a SentencePiece model's tokens, with T5's names of gaps, filled up to the number of rows.
local function tokens_of(folder, gaps, rows)
  local model = sentencepiece.read(helper.read(folder .. "/spiece.model"), "spiece.model")
  local tokens, scores, kinds, map = {}, {}, {}, { model.map:byte(1, -1) }
  local function add(token, score, kind)
    tokens[#tokens + 1], scores[#scores + 1], kinds[#kinds + 1] = token, score, kind
  end
  for _, piece in ipairs(model.pieces) do
    add(piece.text, piece.score, piece.text == "<unk>" and 2 or piece.special and 3 or 1)
  end
  for i = gaps - 1, 0, -1 do add(("<extra_id_%d>"):format(i), -1000.0, 3) end
  for i = #tokens, rows - 1 do add(("[PAD%d]"):format(i), -10000.0, 5) end
  return { { "model", "STRING", "t5" }, { "pre", "STRING", "default" }, { "tokens", "ARRAY STRING", tokens },
    { "scores", "ARRAY FLOAT32", scores }, { "token_type", "ARRAY INT32", kinds },
    { "precompiled_charsmap", "ARRAY UINT8", map }, { "add_space_prefix", "BOOL", model.prefixes and 1 or 0 },
    { "remove_extra_whitespaces", "BOOL", model.collapses and 1 or 0 }, { "add_bos_token", "BOOL", 0 },
    { "add_eos_token", "BOOL", 1 }, { "eos_token_id", "UINT32", 1 }, { "padding_token_id", "UINT32", 0 },
    { "unknown_token_id", "UINT32", 2 } }
end

--- Returns the bytes of the file that a folder stands for. gaps: its tokenizer's extra_ids.
function gguf_t5.bytes(folder, gaps)
  local config = assert(dkjson.decode(helper.read(folder .. "/config.json")))
  local entries = { { "general.architecture", "STRING", "t5" }, { "general.name", "STRING", "small" } }
  local function add(key, kind, value) entries[#entries + 1] = { "t5." .. key, kind, value } end
  add("context_length", "UINT32", 512)
  add("embedding_length", "UINT32", config.d_model)
  add("feed_forward_length", "UINT32", config.d_ff)
  add("block_count", "UINT32", config.num_layers)
  add("decoder_block_count", "UINT32", config.num_decoder_layers)
  add("attention.head_count", "UINT32", config.num_heads)
  add("attention.key_length", "UINT32", config.d_kv)
  add("attention.value_length", "UINT32", config.d_kv)
  add("attention.layer_norm_epsilon", "FLOAT32", config.layer_norm_epsilon)
  add("attention.layer_norm_rms_epsilon", "FLOAT32", config.layer_norm_epsilon)
  add("attention.relative_buckets_count", "UINT32", config.relative_attention_num_buckets)
  add("decoder_start_token_id", "UINT32", 0)
  for _, entry in ipairs(tokens_of(folder, gaps, config.vocab_size)) do
    entries[#entries + 1] = { "tokenizer.ggml." .. entry[1], entry[2], entry[3] }
  end
  local tensors = tensors_of(folder .. "/model.safetensors")
  -- mT5 has a table of its own for scores, which this transformers does not save.
  for _, tensor in ipairs(config.model_type == "mt5" and tensors or {}) do
    if tensor[1] == "token_embd.weight" then
      tensors[#tensors + 1] = { "output.weight", table.unpack(tensor, 2) }
      break
    end
  end
  return gguf_file.bytes(entries, tensors)
end

return gguf_t5
