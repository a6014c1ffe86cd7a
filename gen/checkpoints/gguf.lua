-- gguf.lua: reads a GGUF file as folder.lua reads a folder: a configuration made from its metadata, and its tensors.
-- architectures.lua has the meaning of the metadata. A key without a meaning there is refused or reported by name.
local architectures = require("checkpoints.architectures")
local faults = require("common.faults")
local from_gguf = require("text.gguf")
local gguf = require("common.gguf")
local words = require("common.words")

local gguf_model = {}

-- Keys after the architecture's name that say what the tensors' shapes say, or how the file was made.
local without_effect = words.set { "vocab_size", "rope.dimension_count", "rope.scaling.finetuned", "tensor_data_layout",
  "attention.value_length", "attention.causal", "pooling_type", "attention.layer_norm_rms_epsilon",
  "attention.layer_norm_epsilon", "attention.head_count_kv", "attention.key_length", "use_parallel_residual" }

-- Keys that change the result unless they are 0 or false, for architectures that do not name them.
local not_supported = words.set { "expert_count", "expert_used_count", "expert_shared_count",
  "attention.sliding_window", "attention.clamp_kqv", "attention.max_alibi_bias", "logit_scale", "residual_scale",
  "embedding_scale", "attention.scale", "attn_logit_softcapping", "final_logit_softcapping" }

local File = {}
File.__index = File

--- Refuses a metadata key in one line.
function File:refuse_key(key, what)
  faults.raise("format", ("%s: metadata %s: %s"):format(self.path, faults.quote(key), what))
end

local kinds = {}
function kinds.count(value)
  return math.type(value) == "integer" and value >= 1 and value < 1 << 31, "a positive integer"
end
function kinds.number(value) return type(value) == "number" and value > 0 and value < math.huge, "a positive number" end

-- Returns the one value of a key that may be a list with a value for each layer.
local function single(self, key, value)
  if type(value) ~= "table" then return value end
  local list = gguf.array(self, key, { "INT32", "UINT32", "FLOAT32" })
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
    local value = single(self, key, self.metadata[key])
    known[row[1]] = true
    if row.optional and value == 0 then value = nil end -- some files have 0 for none
    if value == nil and not row.optional then self:refuse_key(key, "is missing") end
    local fits, expected = true, nil
    if value ~= nil then fits, expected = kinds[row[3]](value) end
    if not fits then self:refuse_key(key, ("%s, but %s is expected"):format(tostring(value), expected)) end
    config[row[2]] = value
  end
  return config, known
end

-- Refuses or reports the keys of the architecture that nothing has read.
local function check_keys(self, name, known, notes)
  for _, key in ipairs(words.sorted_keys(self.metadata)) do
    local own = key:sub(1, #name + 1) == name .. "." and key:sub(#name + 2)
    if own and not known[own] and not own:find("^rope%.") and not without_effect[own] then
      local value = self.metadata[key]
      if not_supported[own] and value ~= 0 and value ~= false then self:refuse_key(key, "is not supported") end
      if not not_supported[own] then
        notes[#notes + 1] = ("metadata %s: is not known for this architecture; it has no effect"):format(
          faults.quote(key))
      end
    end
  end
end

-- Returns the function that sets a configuration's rotary positions from the metadata of the architecture `name`.
-- partial: the key for the part of a head that is rotated, for families that have it.
local function rotary_of(self, name)
  local function number(key, default)
    local value = self.metadata[name .. "." .. key]
    if value == nil then return default end
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
    local kind = self.metadata[name .. ".rope.scaling.type"] or "none"
    local factor = number("rope.scaling.factor", number("rope.scale_linear", 1))
    local original = number("rope.scaling.original_context_length", config.max_position_embeddings)
    if kind == "linear" or kind == "none" and factor ~= 1 then
      config.rope_scaling = { rope_type = "linear", factor = factor }
    elseif kind == "yarn" then
      config.rope_scaling = { rope_type = "yarn", factor = factor, original_max_position_embeddings = original }
    elseif kind ~= "none" and kind ~= "longrope" then
      self:refuse_key(name .. ".rope.scaling.type", ("%s is not supported; supported are none, linear, yarn and "
        .. "longrope"):format(faults.quote(kind)))
    end
    local function factors(tensor)
      if not self.tensors[tensor] then return nil end
      return gguf.floats(self, tensor, rotated // 2)
    end
    -- Llama 3's scaling is stored as a factor of each frequency.
    local all = factors("rope_freqs.weight")
    local short, long = factors("rope_factors_short.weight") or all, factors("rope_factors_long.weight") or all
    if short and long then
      config.rope_scaling = { rope_type = "longrope", short_factor = short, long_factor = long, factor = 1,
        original_max_position_embeddings = original,
        attention_factor = number("rope.scaling.attn_factor", 1) }
    end
  end
end

-- Returns the ids of tokens that end a text or a turn, as config.json has them, or nil.
local function stops_of(self)
  local list, seen = {}, {}
  for _, key in ipairs { "eos_token_id", "eot_token_id", "eom_token_id" } do
    local id = self.metadata["tokenizer.ggml." .. key]
    if math.type(id) == "integer" and not seen[id] and id >= 0 and id < self.rows("token_embd.weight") then
      list[#list + 1], seen[id] = id, true
    end
  end
  return list[2] and list or list[1]
end

-- The keys after "general.sampling." -> generation_config.json's, where they differ.
local sampling_keys = { temp = "temperature", penalty_repeat = "repetition_penalty" }

-- Returns what the file says about choosing a token, as generation_config.json has it, or nil. A temperature of 0 means
-- the most probable one. config: with eos_token_id.
local function sampling_of(self, config)
  local found
  for key, value in pairs(self.metadata) do
    local name = key:match("^general%.sampling%.(.+)$")
    if name then
      found = found or { do_sample = true, eos_token_id = config.eos_token_id }
      found[sampling_keys[name] or name] = value
    end
  end
  if found and found.temperature == 0 then found.do_sample, found.temperature = false, nil end
  return found
end

-- Returns a model's title: the file's name without its end and the number of its part.
function gguf_model.title(path)
  return (path:match("[^/]*$"):gsub("%.[gG][gG][uU][fF]$", ""):gsub("%-00001%-of%-%d%d%d%d%d$", ""))
end

--- Returns the architectures that are supported, sorted.
function gguf_model.names() return words.sorted_keys(architectures) end

--- Returns the same table as folder.read, for a GGUF file. Further fields: scheme, the naming scheme of its tensors;
--- renamed, tensors of task heads -> their names in the file; is_file; notes. Faults: io, format, usage.
function gguf_model.read(path)
  local self = setmetatable(gguf.read(path), File)
  local name = self.metadata["general.architecture"]
  if type(name) ~= "string" then self:refuse_key("general.architecture", "is missing, or not a text") end
  local record = architectures[name]
  if not record then
    faults.raise("usage", ("%s: metadata \"general.architecture\": %s is not supported; supported are %s"):format(path,
      faults.quote(name), table.concat(gguf_model.names(), ", ")))
  end
  local notes = {}
  local config, known = config_of(self, name, record)
  check_keys(self, name, known, notes)
  function self.rows(tensor)
    if not self.tensors[tensor] then
      faults.raise("format", ("%s: %s is missing"):format(path, faults.quote(tensor)))
    end
    return self.tensors[tensor].shape[1]
  end
  function self.refuse(key, what) self:refuse_key(key, what) end
  self.set_rotary = rotary_of(self, name)
  local modules = record.derive(config, self)
  config.eos_token_id = stops_of(self)
  return { path = path, title = gguf_model.title(path), config = config, tensors = self.tensors, modules = modules,
    tokenizer = from_gguf.has(self) and path:match("[^/]*$") or nil, scheme = "gguf-" .. name,
    renamed = record.output or {}, is_file = true, notes = notes, generation = sampling_of(self, config) }
end

return gguf_model
