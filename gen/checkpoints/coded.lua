-- coded.lua: finds the tensors of a folder that its author quantised, as runtime/weights/coded.c does when a model is
-- opened.
-- Several tensors of the file, such as qweight, scales and qzeros, become one tensor [out][in] with the name that the
-- family gives it. config.json says who wrote them; what it says and this file does not know is refused by name.
local faults = require("common.faults")
local json = require("common.json")
local known = require("common.known")
local types = require("data.types")
local words = require("common.words")

local coded = {}

--- How tensors are stored: the word of a description; the runtime's name for it, and its number in the layout of packed
--- weights, which never changes.
coded.kinds = {
  gptq = { reader = "&attn2c_gptq", number = 1 },
  gptq_v2 = { reader = "&attn2c_gptq_v2", number = 2 },
  awq = { reader = "&attn2c_awq", number = 3 },
  ["compressed-tensors"] = { reader = "&attn2c_compressed_tensors", number = 4 },
}

local WORD = 32 -- bits

local ADVICE = "give the folder of the model before it was quantised, or a GGUF file of it"

-- Types of scales.
local floats = words.set { "F64", "F32", "F16", "BF16" }

local function is_given(value) return value ~= nil and value ~= json.null and value ~= false end

-- Refuses a key of quantization_config.
local function refuse(path, key, value, what)
  faults.raise("usage", ("%s/config.json: quantization_config: %s: %s is not supported%s"):format(
    (path:gsub("%c", "?")), key, json.shown(value), what))
end

-- Refuses a value that is none of the words.
local function check_word(path, config, key, list)
  local value = config[key]
  if not is_given(value) then return end
  for _, word in ipairs(list) do if value == word then return end end
  refuse(path, key, value, ("; supported is %s: %s"):format(table.concat(list, ", "), ADVICE))
end

local function check_bits(path, config, key, list)
  local value = config[key]
  for _, bits in ipairs(list) do if value == bits then return end end
  refuse(path, key, value, ("; supported is %s: %s"):format(table.concat(list, ", "), ADVICE))
end

-- Each: returns the kind of a configuration that it supports, and true if it says that the inputs of a group are apart.
local methods = {}

function methods.gptq(path, config)
  check_bits(path, config, "bits", { 2, 4, 8 })
  check_word(path, config, "checkpoint_format", { "gptq", "gptq_v2" })
  check_word(path, config, "format", { "gptq", "gptq_v2" })
  check_word(path, config, "pack_dtype", { "int32" })
  if is_given(config.is_marlin_format) then refuse(path, "is_marlin_format", true, ": " .. ADVICE) end
  local format = is_given(config.checkpoint_format) and config.checkpoint_format or config.format
  return format == "gptq_v2" and "gptq_v2" or "gptq", config.desc_act == true
end

function methods.awq(path, config)
  local bits = config.bits or config.w_bit
  check_bits(path, { bits = bits }, "bits", { 4 })
  for _, key in ipairs { "version", "format", "checkpoint_format" } do
    check_word(path, { [key] = type(config[key]) == "string" and config[key]:lower() or config[key] }, key, { "gemm" })
  end
  return "awq"
end

methods["auto-round"] = function(path, config)
  local format = config.packing_format
  if format == "auto_round:auto_gptq" or format == "auto_gptq" then return methods.gptq(path, config) end
  if format == "auto_round:auto_awq" or format == "auto_awq" then return methods.awq(path, config) end
  refuse(path, "packing_format", format, "; supported is auto_round:auto_gptq, auto_round:auto_awq: " .. ADVICE)
end

local by_group = { [true] = true, group = true, dynamic = true } -- words for inputs that are apart

-- Checks the weights of one group of modules of compressed-tensors. Returns true if its inputs are apart.
local function check_group(path, name, group, notes)
  local weights = type(group) == "table" and group.weights
  local key = "config_groups." .. name:gsub("%c", "?")
  if type(weights) ~= "table" or weights == json.null then
    refuse(path, key .. ".weights", weights, "; weights of 4 or 8 bits are expected")
  end
  check_word(path, { [key .. ".format"] = group.format }, key .. ".format", { "pack-quantized", "int-quantized" })
  check_word(path, { [key .. ".weights.type"] = weights.type }, key .. ".weights.type", { "int" })
  check_bits(path, { [key .. ".weights.num_bits"] = weights.num_bits }, key .. ".weights.num_bits", { 2, 4, 8 })
  check_word(path, { [key .. ".weights.strategy"] = weights.strategy }, key .. ".weights.strategy",
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
  check_word(path, config, "format", { "pack-quantized", "int-quantized", "mixed-precision" })
  local sparse = config.sparsity_config
  if type(sparse) == "table" and sparse ~= json.null and next(sparse) ~= nil then
    check_word(path, { ["sparsity_config.format"] = sparse.format }, "sparsity_config.format", { "dense" })
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

local function shape_text(tensor)
  return ("%s [%s]"):format(tensor.dtype, table.concat(tensor.shape, ", "))
end

-- The ends of the names of a tensor's parts.
local parts = {
  gptq = { packed = "qweight", scales = "scales", zeros = "qzeros", order = "g_idx" },
  awq = { packed = "qweight", scales = "scales", zeros = "qzeros" },
  ["compressed-tensors"] = { packed = "weight_packed", scales = "weight_scale", zeros = "weight_zero_point",
    order = "weight_g_idx", shape = "weight_shape" },
}
parts.gptq_v2 = parts.gptq

local Finder = {}
Finder.__index = Finder

function Finder:refuse(name, what)
  faults.raise("format", ("%s: %s: %s"):format(self.path:gsub("%c", "?"), faults.quote(name), what))
end

-- Returns a part of the tensor, with its name; a part that is needed is reported.
function Finder:part(base, word, is_needed)
  local name = self.parts[word] and base .. "." .. self.parts[word]
  local tensor = name and self.tensors[name]
  if tensor then self.used[name] = true end
  if not tensor and is_needed then
    self:refuse(name, ("missing, but the tensor is one of %s"):format(self.kind))
  end
  return tensor, name
end

function Finder:expect(tensor, name, fits, expected)
  if not fits then self:refuse(name, ("%s, but %s is expected"):format(shape_text(tensor), expected)) end
end

local function is_matrix(tensor, dtype)
  return tensor.dtype == dtype and #tensor.shape == 2 and tensor.shape[1] > 0 and tensor.shape[2] > 0
end

local function bits_of(count, inputs)
  for _, bits in ipairs { 2, 4, 8 } do
    if count * (WORD // bits) == inputs then return bits end
  end
  return nil
end

-- Returns the scales of a tensor, which are floats, with their name.
function Finder:scales_of(base)
  local scales, name = self:part(base, "scales", true)
  self:expect(scales, name, floats[scales.dtype], "a float type")
  return scales, name
end

-- Returns outputs, inputs, bits and groups of a tensor of GPTQ or AWQ.
function Finder:words(base)
  local packed, packed_name = self:part(base, "packed", true)
  local scales, scales_name = self:scales_of(base)
  local zeros, zeros_name = self:part(base, "zeros", true)
  self:expect(packed, packed_name, is_matrix(packed, "I32"), "I32 of two axes")
  self:expect(scales, scales_name, #scales.shape == 2 and scales.shape[1] > 0 and scales.shape[2] > 0,
    "a shape of two axes, groups and outputs,")
  local groups, out = scales.shape[1], scales.shape[2]
  local bits = zeros.dtype == "I32" and #zeros.shape == 2 and zeros.shape[1] == groups and bits_of(zeros.shape[2], out)
  self:expect(zeros, zeros_name, bits and (self.kind ~= "awq" or bits == 4), "one zero point for each scale")
  local n = WORD // bits
  local inputs = self.kind == "awq" and packed.shape[1] or packed.shape[1] * n
  self:expect(packed, packed_name, packed.shape[2] * (self.kind == "awq" and n or 1) == out,
    "a code for each input and output that the scales have")
  return out, inputs, bits, groups
end

-- Checks the zero points of compressed-tensors, which are words or bytes.
function Finder:check_zeros(base, out, bits, groups, scales)
  local zeros, zeros_name = self:part(base, "zeros")
  if not zeros then return end
  local shape, count = zeros.shape, 1
  for _, size in ipairs(shape) do count = count * size end
  self:expect(zeros, zeros_name, zeros.dtype == "I8" and count == scales
    or scales > 1 and is_matrix(zeros, "I32") and shape[1] == (out * bits + WORD - 1) // WORD and shape[2] == groups,
    "one zero point for each scale")
end

-- Returns the same of a tensor of compressed-tensors.
function Finder:compressed(base, is_bytes)
  local packed, packed_name = self:part(base, "packed")
  if is_bytes then packed, packed_name = self.tensors[base .. ".weight"], base .. ".weight" end
  local scales, scales_name = self:scales_of(base)
  self:expect(packed, packed_name, is_matrix(packed, is_bytes and "I8" or "I32"), "two axes of codes")
  local out, inputs, bits = packed.shape[1], packed.shape[2], 8
  if not is_bytes then
    local shape, shape_name = self:part(base, "shape", true)
    local format = ({ I64 = "<i8i8", I32 = "<i4i4" })[shape.dtype]
    local bytes = format and self.read_bytes(shape, string.packsize(format))
    local stated = bytes and { string.unpack(format, bytes) }
    self:expect(shape, shape_name, stated and stated[1] == out and stated[2] > 0, ("the integers %d and a positive one")
      :format(out))
    bits = nil
    for _, each in ipairs { 2, 4, 8 } do
      if (stated[2] * each + WORD - 1) // WORD == packed.shape[2] then bits = each end
    end
    inputs = stated[2]
    self:expect(packed, packed_name, bits, "codes of 2, 4 or 8 bits for the stated shape")
  end
  local count = 1
  for _, size in ipairs(scales.shape) do count = count * size end
  local groups = count == 1 and 1 or count // out
  self:expect(scales, scales_name, #scales.shape <= 2 and (count == 1 or count > 0 and scales.shape[1] == out),
    "the same number of scales for each output")
  self:check_zeros(base, out, bits, groups, count)
  return out, inputs, bits, groups
end

-- Returns how many inputs each group has, from 0; refuses a group that the tensor does not have.
function Finder:count_groups(name, bytes, groups)
  local count = {}
  for group = 0, groups - 1 do count[group] = 0 end
  for at = 1, #bytes, 4 do
    local group = string.unpack("<i4", bytes, at)
    if not count[group] then
      self:refuse(name, ("group %d of input %d, but the tensor has %d groups"):format(group, at // 4, groups))
    end
    count[group] = count[group] + 1
  end
  return count
end

-- Returns true if a tensor's groups are one after the other, or the bytes of its order if groups of equal sizes are
-- apart; false for others.
function Finder:order_of(base, inputs, groups)
  local order, name = self:part(base, "order")
  if not order then return true end
  local bytes, list, size = self.read_bytes(order, 4 * inputs), {}, inputs // groups
  if not bytes then self:refuse(name, ("data of %d bytes are expected"):format(4 * inputs)) end
  if inputs % groups == 0 then
    for group = 0, groups - 1 do list[group + 1] = string.pack("<i4", group):rep(size) end
    if bytes == table.concat(list) or bytes == ("\xff"):rep(4 * inputs) then return true end
  end
  local count = self:count_groups(name, bytes, groups)
  for group = 0, groups - 1 do
    if count[group] ~= size or inputs % groups ~= 0 then
      self.uneven[#self.uneven + 1] = { name = name, group = group, count = count[group] }
      return false
    end
  end
  return bytes
end

-- Returns a note about tensors whose groups have different numbers of inputs, or nil.
function Finder:note_uneven()
  local first = self.uneven[1]
  if not first then return nil end
  local more = #self.uneven > 1 and (" (and %d more)"):format(#self.uneven - 1) or ""
  return ("%s%s: groups have different numbers of inputs, group %d has %d: the weights become floats"):format(
    faults.quote(first.name), more, first.group, first.count)
end

-- True if all zero points of a tensor are in the middle of its codes.
function Finder:is_centred(base, bits)
  local zeros = self:part(base, "zeros")
  if not zeros then return true end
  if self.kind == "compressed-tensors" then return false end
  local middle = (1 << bits - 1) - (self.kind == "gptq" and 1 or 0)
  local word, count = string.pack("<I4", middle * (0xffffffff // ((1 << bits) - 1))), zeros.shape[1] * zeros.shape[2]
  return self.read_bytes(zeros, 4 * count) == word:rep(count)
end

-- Returns the word of the type of weights in scale blocks that holds a tensor's numbers exactly once its groups are one
-- after the other, or nil: as runtime/weights/coded.c makes the blocks.
function Finder:weights_word(base, bits, inputs, groups)
  if inputs % groups ~= 0 or inputs // groups % types.SCALE_BLOCK ~= 0 then return nil end
  local has_halves = self:part(base, "scales").dtype == "F16"
  local is_plain = has_halves and (bits == 2 or self:is_centred(base, bits))
  for _, type in ipairs(types.scaled) do
    local block = type.block
    if block.bits == math.max(bits, 4) and block.scale_bytes == (is_plain and 2 or 4) and block.scales == 1
      and block.minimum == not is_plain then
      return type.weights
    end
  end
  return nil
end

-- Adds the tensor [out][in] of a base name.
function Finder:add(base, is_bytes)
  local out, inputs, bits, groups
  if self.kind == "compressed-tensors" then
    out, inputs, bits, groups = self:compressed(base, is_bytes)
  else
    out, inputs, bits, groups = self:words(base)
  end
  local order, order_name = self:part(base, "order")
  if order then
    self:expect(order, order_name, order.dtype == "I32" and #order.shape == 1 and order.shape[1] == inputs,
      "I32 with a group for each input")
  elseif self.is_ordered and groups > 1 then
    self:refuse(order_name, ("missing, but quantization_config has %s, so that the inputs of a group are apart"):format(
      self.kind == "compressed-tensors" and "actorder" or "desc_act"))
  elseif inputs % groups ~= 0 then
    local scales, scales_name = self:part(base, "scales", true)
    self:expect(scales, scales_name, false, "groups of equal numbers of inputs")
  end
  local in_order = self:order_of(base, inputs, groups)
  local name = base .. ".weight"
  if self.tensors[name] and not is_bytes then self:refuse(name, "is in the file as numbers and as codes") end
  self.made[name] = { dtype = ("int%d/%d"):format(bits, inputs // groups), shape = { out, inputs }, is_coded = true,
    blocks = in_order and self:weights_word(base, bits, inputs, groups) or nil,
    order = type(in_order) == "string" and in_order or nil }
end

-- Returns quantization_config, or what older programs wrote in a file of its own.
local function config_of(config, read_object, path)
  local own = config.quantization_config
  if own ~= nil and own ~= json.null then
    if type(own) ~= "table" then
      faults.raise("format", ("%s/config.json: quantization_config: an object is expected"):format(path))
    end
    return next(own) ~= nil and own or nil
  end
  for file, method in pairs { ["quantize_config.json"] = "gptq", ["quant_config.json"] = "awq" } do
    local other = read_object(path .. "/" .. file)
    if other then
      local copy = {}
      for key, value in pairs(other) do copy[key] = value end
      copy.quant_method = is_given(copy.quant_method) and copy.quant_method or method
      return copy
    end
  end
  return nil
end

--- Returns the kind of a folder's quantised tensors, or nil if config.json names none; its tensors, with coded ones in
--- place of their parts; and notes for the user. read_object(path): an object of JSON, or nil; read_bytes(tensor,
--- count): the bytes of a tensor, or nil if it has another number of them. Faults: usage, format.
function coded.read(path, config, tensors, read_object, read_bytes)
  local own, notes = config_of(config, read_object, path), {}
  if not own then
    for name in pairs(tensors) do
      if name:find("%.qweight$") or name:find("%.weight_packed$") then
        faults.raise("format", ("%s/config.json: quantization_config: missing, but the file has %s"):format(
          path:gsub("%c", "?"), faults.quote(name)))
      end
    end
    return nil, tensors, notes
  end
  local method = own.quant_method
  if not is_given(method) and type(own.config_groups) == "table" then method = "compressed-tensors" end
  if not (type(method) == "string" and methods[method]) then
    refuse(path, "quant_method", method, ("; supported are %s of 4 and 8 bits: %s"):format(
      "gptq, awq and compressed-tensors", ADVICE))
  end
  known.check(own, "config.json: quantization_config", { "config.json: quantization_config" }, notes)
  local kind, is_ordered = methods[method](path, own, notes)
  local self = setmetatable({ path = path, tensors = tensors, kind = kind, parts = parts[kind], used = {}, made = {},
    uneven = {}, read_bytes = read_bytes, is_ordered = is_ordered }, Finder)
  local marked = "%." .. self.parts.packed .. "$"
  for _, name in ipairs(words.sorted_keys(tensors)) do
    if name:find(marked) then self:add((name:gsub(marked, ""))) end
    if kind == "compressed-tensors" and tensors[name].dtype == "I8" and name:find("%.weight$") then
      self:add((name:gsub("%.weight$", "")), true)
    end
  end
  notes[#notes + 1] = self:note_uneven()
  for name, tensor in pairs(tensors) do
    if not self.used[name] and not self.made[name] then self.made[name] = tensor end
  end
  return kind, self.made, notes
end

return coded
