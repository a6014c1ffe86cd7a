-- gguf.lua: reads a GGUF file as folder.lua reads a folder: a configuration made from its metadata, and its tensors.
-- architectures.lua has the meaning of the metadata. A key without a meaning there is refused or reported by name.
local architectures = require("checkpoints.architectures")
local facts = require("checkpoints.facts")
local faults = require("common.faults")
local from_gguf = require("text.gguf")
local gguf = require("common.gguf")
local known_keys = require("common.known")
local words = require("common.words")

local gguf_model = {}

local File = {}
File.__index = File

function File:refuse_key(key, what)
  faults.raise("format", "%s: metadata %s: %s", self.path, faults.quote(key), what)
end

local kinds = {}
function kinds.count(value, most)
  return math.type(value) == "integer" and value >= 1 and value <= most, ("an integer from 1 to %d"):format(most)
end
function kinds.number(value) return type(value) == "number" and value > 0 and value < math.huge, "a positive number" end

local FLAGS, MOST_LAYERS = { "BOOL", "INT32", "UINT32" }, 1000

-- Returns the one value of a key that may be a list with a value for each layer.
local function single(self, key, value)
  if type(value) ~= "table" then return value end
  local list = gguf.array(self, key, { "INT32", "UINT32", "FLOAT32" }, facts.most("llama", "num_hidden_layers"))
  for _, each in ipairs(list) do
    if each ~= list[1] then self:refuse_key(key, "layers with different values are not supported") end
  end
  return list[1]
end

-- Returns config.json's table.
local function config_of(self, name, record)
  local config, known = { model_type = record.model_type, architectures = { record.class } }, {}
  for _, row in ipairs(record.keys) do
    local key = name .. "." .. row[1]
    local value = self.metadata[key]
    if row.each and type(value) == "table" then
      config[row[2]] = gguf.array(self, key, { "INT32", "UINT32" }, facts.most("llama", "num_hidden_layers"))
      value = nil
    end
    value = single(self, key, value)
    known["{arch}." .. row[1]] = true
    if row.optional and value == 0 then config[row[2]], value = row.off, nil end -- some files have 0 for none
    if value == nil and not row.optional and not config[row[2]] then self:refuse_key(key, "is missing") end
    local fits, expected = true, nil
    if value ~= nil then fits, expected = kinds[row[3]](value, facts.most(record.model_type, row[2])) end
    if not fits then self:refuse_key(key, ("%s, but %s is expected"):format(tostring(value), expected)) end
    config[row[2]] = value == nil and config[row[2]] or value
  end
  return config, known
end

-- Keys of layers with a window -> the keys of all layers.
local of_windows = { ["attention.key_length_swa"] = "attention.key_length",
  ["attention.value_length_swa"] = "attention.value_length", ["rope.dimension_count_swa"] = "rope.dimension_count",
  ["rope.freq_base_swa"] = "rope.freq_base" }

-- Adds keys of layers with a window that say nothing: there are no such layers, or the key of all layers says the same.
local function add_repeated(self, name, config, known)
  for key, of_all in pairs(of_windows) do
    if not config.sliding_window or self.metadata[name .. "." .. key] == self.metadata[name .. "." .. of_all] then
      known["{arch}." .. key] = true
    end
  end
end

-- Refuses or reports keys that nothing reads. known: the keys that have been read.
local function check_keys(self, name, known, notes)
  local place, file = self.path:match("^(.-)([^/]*)$")
  local metadata = words.merged(self.metadata)
  for key, value in pairs(self.metadata) do -- llama.cpp writes lists of a value for each layer
    if type(value) == "table" and value.type ~= "STRING" and value.count > 0 and value.count <= MOST_LAYERS then
      local list = gguf.array(self, key, { value.type })
      if words.all(list, function(each) return each == list[1] end) then metadata[key] = list[1] end
    end
  end
  local function listed(key) return key:sub(1, #name + 1) == name .. "." and "{arch}" .. key:sub(#name + 1) or nil end
  known_keys.check(metadata, file .. ": metadata", { known, "GGUF of " .. name, "GGUF" }, notes, listed,
    function(line) faults.raise("format", place .. line) end)
end

-- Adds a line for a number of tokens or of their types that is not that of the tensor's rows, which counts.
local function compare_rows(self, name, notes)
  for key, tensor in pairs { [name .. ".vocab_size"] = "token_embd.weight",
    ["tokenizer.ggml.token_type_count"] = "token_types.weight" } do
    local stated = self.metadata[key]
    if stated ~= nil and type(stated) ~= "number" then self:refuse_key(key, "a number is expected") end
    if stated and self.tensors[tensor] and stated ~= self.rows(tensor) then
      notes[#notes + 1] = ("%s: metadata: %s: %s, but %s has %d rows, which count"):format(self.path:match("[^/]*$"),
        key, tostring(stated), tensor, self.rows(tensor))
    end
  end
end

-- pooling_type -> the mode of a sentence-transformers module.
local poolings = { "mean", "cls", "lasttoken" }

-- Returns the modules that a file's pooling type stands for, or nil for none.
local function modules_of(self, name)
  local key = name .. ".pooling_type"
  local kind = self.metadata[key] or 0
  if kind == 0 or kind == 0xffffffff then return nil end -- llama.cpp has -1 for a model that says nothing
  if not poolings[kind] then self:refuse_key(key, tostring(kind) .. " is not supported") end
  return { { kind = "Transformer" }, { kind = "Pooling", config = { pooling_mode = poolings[kind] } },
    { kind = "Normalize" } }
end

-- Returns the function that sets a configuration's rotary positions from the metadata of the architecture `name`.
-- partial: the key for the part of a head that is rotated, for families that have it.
local function rotary_of(self, name)
  local function number(key, default)
    local value = self.metadata[name .. "." .. key]
    local is_off = value == 0 and (key == "rope.scaling.factor" or key == "rope.scale_linear") -- llama.cpp writes it
    if value == nil or is_off then return default end
    if not kinds.number(value) then self:refuse_key(name .. "." .. key, "a positive number is expected") end
    return value
  end
  return function(config, partial)
    local head = config.head_dim or config.hidden_size // config.num_attention_heads
    local rotated = number("rope.dimension_count", head)
    if rotated ~= head and not partial then
      self:refuse_key(name .. ".rope.dimension_count", ("%s, but a head has %d: rotating a part is not supported")
        :format(tostring(rotated), head))
    elseif rotated > head or math.type(rotated) ~= "integer" then
      self:refuse_key(name .. ".rope.dimension_count", ("%s, but a head has %d"):format(tostring(rotated), head))
    end
    if partial then config[partial] = rotated / head end
    local kind = self.metadata[name .. ".rope.scaling.type"] or "linear"
    local factor = kind == "none" and 1 or number("rope.scaling.factor", number("rope.scale_linear", 1))
    local original = number("rope.scaling.original_context_length", config.max_position_embeddings)
    if kind == "yarn" then
      config.rope_scaling = { rope_type = "yarn", factor = factor, original_max_position_embeddings = original }
    elseif kind ~= "none" and kind ~= "linear" and kind ~= "longrope" then
      self:refuse_key(name .. ".rope.scaling.type", ("%s is not supported; supported are none, linear, yarn and "
        .. "longrope"):format(faults.quote(kind)))
    elseif factor ~= 1 then
      config.rope_scaling = { rope_type = "linear", factor = factor }
    end
    local attention = number("rope.scaling.attn_factor", 1)
    local function factors(tensor)
      if not self.tensors[tensor] then return nil end
      if kind == "yarn" then self:refuse_key(name .. ".rope.scaling.type", "yarn does not go with " .. tensor) end
      return words.map(gguf.floats(self, tensor, rotated // 2), function(each) return each * factor end)
    end
    -- Llama 3's scaling is stored as a factor of each frequency. A common factor counts as well.
    local all = factors("rope_freqs.weight")
    local short, long = factors("rope_factors_short.weight") or all, factors("rope_factors_long.weight") or all
    if short and long then
      config.rope_scaling = { rope_type = "longrope", short_factor = short, long_factor = long, factor = 1,
        original_max_position_embeddings = original,
        attention_factor = attention }
    elseif attention ~= 1 and not (kind == "yarn" and math.abs(attention - 0.1 * math.log(factor) - 1) < 1e-3) then
      self:refuse_key(name .. ".rope.scaling.attn_factor", "is only supported with factors of frequencies")
    end
  end
end

-- Texts of tokens that end a turn or a text in some model. llama.cpp stops at each of them, too: few files have the key
-- of the token that ends a turn.
local ENDS = words.set { "<|eot_id|>", "<|im_end|>", "<|end|>", "<|return|>", "<|call|>", "<|flush|>", "<|calls|>",
  "<end_of_turn>", "<|endoftext|>", "</s>", "<|eom_id|>", "<EOT>", "_<EOT>", "[EOT]", "[EOS]", "<|end_of_text|>",
  "<end_of_utterance>", "<eos>", "<turn|>", "<|tool_response>", "<｜end▁of▁sentence｜>", "[e~[" }

-- Returns the ids of special tokens with one of these texts. Tokens of a user count if they have bars, since Gemma's
-- </s> is a mark of HTML. Where a token ends a call, <|end|> only ends a message.
local function ends_of(self)
  local found, list = {}, {}
  local tokens = self.metadata["tokenizer.ggml.tokens"]
  if type(tokens) ~= "table" or tokens.type ~= "STRING" then return list end
  local types = gguf.array(self, "tokenizer.ggml.token_type", { "INT32", "UINT32" }) or {}
  for i, token in ipairs(gguf.array(self, "tokenizer.ggml.tokens", { "STRING" })) do
    if ENDS[token] and (types[i] == 3 or types[i] == 4 and token:find("|", 1, true)) then found[token] = i - 1 end
  end
  local is_call = found["<|call|>"] and found["<|return|>"] or found["<|calls|>"] and found["<|flush|>"]
  for _, token in ipairs(words.sorted_keys(found)) do
    if token ~= "<|end|>" or not is_call then list[#list + 1] = found[token] end
  end
  table.sort(list)
  return list
end

-- Returns the ids of tokens that end a text or a turn, as config.json has them, or nil.
local function stops_of(self)
  local list, seen = {}, {}
  local function add(id)
    if math.type(id) == "integer" and not seen[id] and id >= 0 and id < self.rows("token_embd.weight") then
      list[#list + 1], seen[id] = id, true
    end
  end
  for _, key in ipairs { "eos", "eot", "eom" } do add(self.metadata["tokenizer.ggml." .. key .. "_token_id"]) end
  for _, id in ipairs(ends_of(self)) do add(id) end
  return list[2] and list or list[1]
end

-- Returns what the file says about drawing tokens, as generation_config.json has it, or nil.
local function generation_of(self, stops)
  local made = { eos_token_id = stops }
  for key, own in pairs { temperature = "temp", top_k = "top_k", top_p = "top_p", min_p = "min_p",
    repetition_penalty = "penalty_repeat" } do
    made[key] = self.metadata["general.sampling." .. own]
    if made[key] ~= nil then made.do_sample = true end
  end
  if made.temperature == 0 then made.temperature, made.do_sample = nil, false end
  return made.do_sample ~= nil and made or nil
end

-- Returns rules of names for tensors that llama.cpp's converter joins when asked to: queries, keys and values, and the
-- gates and rest of experts. A scheme of separate tensors has none of their names.
local function joined_rules(self, record)
  local rules, is_joined = {}, false -- in the scheme, too
  for _, entry in ipairs(record.tensors) do
    local source = entry[1] == "l*.attn.{q,k}" and entry[2]
    is_joined = is_joined or entry[1] == "l*.attn.{q,k,v}"
    if source and not is_joined and self.tensors["blk.0.attn_qkv.weight"] then
      for part, name in ipairs { "q", "k", "v" } do
        rules["l*.attn." .. name] = { "blk.*.attn_qkv", part = part, parts = { "heads", "kv_heads", "kv_heads" },
          unpair = part < 3 and source.unpair or nil }
      end
    end
    if entry[1] == "l*.ff.experts.{gate,up,down}" and self.tensors["blk.0.ffn_gate_up_exps.weight"] then
      for part, name in ipairs { "gate", "up" } do
        rules["l*.ff.experts." .. name] = { "blk.*.ffn_gate_up_exps", part = part, parts = 2 }
      end
    end
  end
  return rules
end

-- Returns a model's title: the file's name without its end and the number of its part.
function gguf_model.title(path)
  return (path:match("[^/]*$"):gsub("%.[gG][gG][uU][fF]$", ""):gsub("%-00001%-of%-%d%d%d%d%d$", ""))
end

function gguf_model.names() return words.sorted_keys(architectures) end

--- Returns the same table as folder.read, for a GGUF file. Further fields: scheme, the naming scheme of its tensors;
--- renamed, tensors of task heads -> their names in the file; rules, names of weights that its scheme has not;
--- is_file; notes. Faults: io, format, usage.
function gguf_model.read(path)
  local self = setmetatable(gguf.read(path), File)
  local name = self.metadata["general.architecture"]
  if type(name) ~= "string" then self:refuse_key("general.architecture", "is missing, or not a text") end
  local record = architectures[name]
  if not record then
    faults.raise("usage", "%s: metadata \"general.architecture\": %s is not supported; supported are %s", path,
      faults.quote(name), table.concat(gguf_model.names(), ", "))
  end
  local notes = {}
  local config, known = config_of(self, name, record)
  add_repeated(self, name, config, known)
  check_keys(self, name, known, notes)
  function self.rows(tensor)
    if not self.tensors[tensor] then faults.raise("format", "%s: %s is missing", path, faults.quote(tensor)) end
    return self.tensors[tensor].shape[1]
  end
  compare_rows(self, name, notes)
  function self.flags(key) return gguf.array(self, key, FLAGS, facts.most("llama", "num_hidden_layers")) end
  function self.numbers(key) return gguf.array(self, key, { "FLOAT32" }, facts.most("llama", "num_hidden_layers")) end
  function self.floats(tensor, count)
    if not self.tensors[tensor] then faults.raise("format", "%s: %s is missing", path, faults.quote(tensor)) end
    return gguf.floats(self, tensor, count)
  end
  function self.refuse(key, what) self:refuse_key(key, what) end
  self.set_rotary = rotary_of(self, name)
  for key, tensor in pairs(record.told or {}) do
    config[key] = (self.tensors[tensor] or self.tensors[tensor:gsub("attn_q%.", "attn_qkv.")]) ~= nil
  end
  record.derive(config, self)
  config.eos_token_id = stops_of(self)
  return { path = path, title = gguf_model.title(path), config = config, tensors = self.tensors,
    modules = modules_of(self, name), generation = generation_of(self, config.eos_token_id),
    tokenizer = from_gguf.has(self) and path:match("[^/]*$") or nil, scheme = "gguf-" .. name,
    renamed = record.output or {}, rules = joined_rules(self, record), is_file = true, notes = notes }
end

return gguf_model
