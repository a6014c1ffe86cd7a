-- coded.lua: reads how the author of a folder quantised its tensors. config.json says it; what it says and this file
-- does not know is refused by name. runtime/reading/coded.c finds the tensors.
local faults = require("common.faults")
local json = require("common.json")
local known = require("common.known")
local types = require("data.types")
local words = require("common.words")

local coded = {}

--- How tensors are stored: the word of a description; the runtime's name for it, and its number in the layout of packed
--- weights, which never changes. blocks: the type of weights in scale blocks that holds all tensors of the kind; nil:
--- each tensor has its own.
coded.kinds = {
  gptq = { reader = "&attn2c_gptq", number = 1 },
  gptq_v2 = { reader = "&attn2c_gptq_v2", number = 2 },
  awq = { reader = "&attn2c_awq", number = 3 },
  ["compressed-tensors"] = { reader = "&attn2c_compressed_tensors", number = 4 },
  mxfp4 = { reader = "&attn2c_mxfp4", number = 5, blocks = "mxfp4" },
}

local ADVICE = "give the folder of the model before it was quantised, or a GGUF file of it"

local function is_given(value) return value ~= nil and value ~= json.null and value ~= false end

local function refuse(path, key, value, what)
  faults.raise("usage", "%s/config.json: quantization_config: %s: %s is not supported%s", (path:gsub("%c", "?")), key,
    json.shown(value), what)
end

local function check_value(path, key, value, list)
  for _, each in ipairs(list) do if value == each then return end end
  refuse(path, key, value, ("; supported is %s: %s"):format(table.concat(list, ", "), ADVICE))
end

-- Does the same, unless a value is missing.
local function check_word(path, key, value, list)
  if is_given(value) then check_value(path, key, value, list) end
end

-- Each: returns the kind of a configuration that it supports, and true if it says that the inputs of a group are apart.
local methods = {}

function methods.gptq(path, config)
  check_value(path, "bits", config.bits, { 2, 4, 8 })
  check_word(path, "checkpoint_format", config.checkpoint_format, { "gptq", "gptq_v2" })
  check_word(path, "format", config.format, { "gptq", "gptq_v2" })
  check_word(path, "pack_dtype", config.pack_dtype, { "int32" })
  if is_given(config.is_marlin_format) then refuse(path, "is_marlin_format", true, ": " .. ADVICE) end
  local format = is_given(config.checkpoint_format) and config.checkpoint_format or config.format
  return format == "gptq_v2" and "gptq_v2" or "gptq", config.desc_act == true
end

function methods.awq(path, config)
  local bits = config.bits or config.w_bit
  check_value(path, "bits", bits, { 4 })
  for _, key in ipairs { "version", "format", "checkpoint_format" } do
    check_word(path, key, type(config[key]) == "string" and config[key]:lower() or config[key], { "gemm" })
  end
  return "awq"
end

methods["auto-round"] = function(path, config)
  local format = config.packing_format
  if format == "auto_round:auto_gptq" or format == "auto_gptq" then return methods.gptq(path, config) end
  if format == "auto_round:auto_awq" or format == "auto_awq" then return methods.awq(path, config) end
  refuse(path, "packing_format", format, "; supported is auto_round:auto_gptq, auto_round:auto_awq: " .. ADVICE)
end

function methods.mxfp4() return "mxfp4" end

local by_group = { [true] = true, group = true, dynamic = true } -- words for inputs that are apart

-- Checks the weights of one group of modules of compressed-tensors. Returns true if its inputs are apart.
local function check_group(path, name, group, notes)
  local weights = type(group) == "table" and group.weights
  local key = "config_groups." .. name:gsub("%c", "?")
  if type(weights) ~= "table" or weights == json.null then
    refuse(path, key .. ".weights", weights, "; weights of 4 or 8 bits are expected")
  end
  check_word(path, key .. ".format", group.format, { "pack-quantized", "int-quantized" })
  check_word(path, key .. ".weights.type", weights.type, { "int" })
  check_value(path, key .. ".weights.num_bits", weights.num_bits, { 2, 4, 8 })
  check_word(path, key .. ".weights.strategy", weights.strategy,
    { "group", "channel", "tensor" })
  local place = "config.json: quantization_config: config_groups"
  known.check(group, place, { place }, notes)
  known.check(weights, place .. ": weights", { place .. ": weights" }, notes)
  if is_given(group.input_activations) or is_given(group.output_activations) then
    notes[#notes + 1] = ("config.json: quantization_config: %s: activations stay floats, which loses nothing")
      :format(key)
  end
  return by_group[weights.actorder] or false
end

methods["compressed-tensors"] = function(path, config, notes)
  check_word(path, "format", config.format, { "pack-quantized", "int-quantized", "mixed-precision" })
  local sparse = config.sparsity_config
  if type(sparse) == "table" and sparse ~= json.null and next(sparse) ~= nil then
    check_word(path, "sparsity_config.format", sparse.format, { "dense" })
  end
  local transform = config.transform_config
  if type(transform) == "table" and transform ~= json.null and next(transform) ~= nil then
    refuse(path, "transform_config", transform, ": " .. ADVICE)
  end
  if is_given(config.kv_cache_scheme) then
    notes[#notes + 1] = "config.json: quantization_config: kv_cache_scheme: keys and values stay floats"
  end
  local groups = config.config_groups
  if type(groups) ~= "table" or groups == json.null or next(groups) == nil then
    refuse(path, "config_groups", groups, "; a table of groups is expected")
  end
  local are_apart = true
  for _, name in ipairs(words.sorted_keys(groups)) do
    are_apart = check_group(path, tostring(name), groups[name], notes) and are_apart
  end
  return "compressed-tensors", are_apart
end

-- Returns the word of the type of weights in scale blocks that holds a tensor's numbers exactly once its groups are
-- one after the other, or nil: as runtime/reading/coded.c makes the blocks.
local function weights_word(of)
  if of.group == 0 or of.group % types.SCALE_BLOCK ~= 0 then return nil end
  local is_plain = of.halves and (of.bits == 2 or of.centred)
  for _, type in ipairs(types.scaled) do
    local block = type.block
    if block.bits == math.max(of.bits, 4) and block.scale_bytes == (is_plain and 2 or 4) and block.scales == 1
      and block.minimum == not is_plain then
      return type.weights
    end
  end
  return nil
end

-- Returns quantization_config, or what older programs wrote in a file of its own.
local function config_of(config, read_object, path)
  local own = config.quantization_config
  if own ~= nil and own ~= json.null then
    if type(own) ~= "table" then
      faults.raise("format", "%s/config.json: quantization_config: an object is expected", path)
    end
    return next(own) ~= nil and own or nil
  end
  for file, method in pairs { ["quantize_config.json"] = "gptq", ["quant_config.json"] = "awq" } do
    local other = read_object(path .. "/" .. file)
    if other then
      return words.merged(other, { quant_method = is_given(other.quant_method) and other.quant_method or method })
    end
  end
  return nil
end

--- Returns the kind of a folder's quantised tensors, or nil if config.json names none; true if it says that the inputs
--- of a group are apart; notes for the user; and true if zero points are in the middle. read_object(path): an object of
--- JSON, or nil. Faults: usage, format.
function coded.kind(path, config, read_object)
  local own, notes = config_of(config, read_object, path), {}
  if not own then return nil, false, notes, false end
  local method = own.quant_method
  if not is_given(method) and type(own.config_groups) == "table" then method = "compressed-tensors" end
  if not (type(method) == "string" and methods[method]) then
    refuse(path, "quant_method", method, ("; supported are %s of 4 and 8 bits, and mxfp4: %s"):format(
      "gptq, awq and compressed-tensors", ADVICE))
  end
  known.check(own, "config.json: quantization_config", { "config.json: quantization_config" }, notes)
  local kind, is_ordered = methods[method](path, own, notes)
  return kind, is_ordered, notes, own.sym == true
end

-- Returns the numbers of quantised tensors, and of those whose zero points are in the middle.
local function count_centred(tensors)
  local all, centred = 0, 0
  for _, tensor in pairs(tensors) do
    if tensor.coded then all, centred = all + 1, centred + (tensor.coded.centred and 1 or 0) end
  end
  return all, centred
end

--- Returns a folder's tensors and their kind. Some programs store zero points as gptq_v2 has them and say gptq: if all
--- have to be in the middle, one kind puts all there and the other none. read(kind): returns tensors.
function coded.tensors(kind, is_symmetric, read, notes)
  local tensors = read(kind)
  if kind ~= "gptq" or not is_symmetric or select(2, count_centred(tensors)) > 0 then return tensors, kind end
  local others = read("gptq_v2")
  local all, centred = count_centred(others)
  if all == 0 or centred < all then return tensors, kind end
  notes[#notes + 1] = "config.json: quantization_config: sym: zero points are stored as gptq_v2 has them, and read so"
  return others, "gptq_v2"
end

-- Refuses tensors that are quantised, of a folder whose config.json says nothing of it.
local function check_plain(path, tensors)
  for name in pairs(tensors) do
    if name:find("%.qweight$") or name:find("%.weight_packed$") then
      faults.raise("format", "%s/config.json: quantization_config: missing, but the file has %s", path:gsub("%c", "?"),
        faults.quote(name))
    end
  end
end

--- Completes the tensors of a folder, as headers.read returns them: a quantised one gets is_coded, its type in words,
--- and, if there are such, the type of weights that holds its numbers (blocks) and the order of its inputs. Adds to the
--- notes. Faults: format.
function coded.check(path, kind, is_ordered, tensors, notes)
  if not kind then check_plain(path, tensors) end
  local first, more
  for _, name in ipairs(kind and words.sorted_keys(tensors) or {}) do
    local tensor, of = tensors[name], tensors[name].coded
    if of then
      if is_ordered and not of.by and of.groups > 1 then
        faults.raise("format", "%s: %s: has no groups of inputs, but quantization_config has %s, so that the inputs "
          .. "of a group are apart", path:gsub("%c", "?"), faults.quote(name),
          kind == "compressed-tensors" and "actorder" or "desc_act")
      end
      tensor.is_coded, tensor.dtype = true, ("int%d/%d"):format(of.bits, tensor.shape[2] // of.groups)
      tensor.coded = nil
      local blocks = coded.kinds[kind].blocks
      if blocks then
        tensor.dtype, tensor.blocks = blocks:upper(), blocks
      elseif of.uneven then
        first, more = first or of, more and more + 1 or 0
      else
        tensor.blocks, tensor.order = weights_word(of), of.order
      end
    end
  end
  if first then
    local others = more > 0 and (" (and %d more)"):format(more) or ""
    notes[#notes + 1] = ("%s%s: groups have different numbers of inputs, group %d has %d: the weights become floats")
      :format(faults.quote(first.by), others, first.uneven, first.inputs)
  end
end

return coded
