-- layers.lua: reads layers = { {}, { window = { 8, 0 } }, ... }: each layer's own spec.
-- It is the stack's, except for the keys that the layer's table gives.
local faults = require("common.faults")
local hints = require("data.hints")
local keys = require("data.keys")
local readers = require("passes.validate.readers")
local values = require("passes.validate.values")
local words = require("common.words")

local layers = {}

local names, known = {}, {}
for i, field in ipairs(keys.of_layer) do names[i], known[field.key] = field.key, field end

local of_mask = { "mask", "window", "prefix" }

-- Reads keys again for a layer that gives some of them; the others are the stack's.
local function read_again(say, list, each, given, entry)
  for _, key in ipairs(list) do
    local field, value = known[key], given[key]
    if value == nil then value = field.default end
    local function say_own(...) if entry[key] ~= nil or (...) == nil then return say(...) end end
    each[key] = nil
    if value ~= nil then each[key] = readers[field.type](say_own, field, value) end
  end
end

-- Returns the spec of a layer: spec, the stack's, with the keys of `entry`. checks: validate.lua's for a stack.
local function resolve_layer(say, spec, description, entry, checks)
  local each, given = words.merged(spec), {}
  for _, field in ipairs(keys.of_layer) do
    given[field.key] = entry[field.key]
    if given[field.key] == nil then given[field.key] = description[field.key] end
  end
  for _, key in ipairs(words.sorted_keys(entry)) do
    if not known[key] then
      say(values.show(key):gsub('^"(.*)"$', "%1"), "not a key of a layer" .. values.suggestion(say, key, names,
        hints.keys) .. "; those are " .. values.one_of(names))
    elseif not words.set(of_mask)[key] and key ~= "bias" then
      read_again(say, { key }, each, given, entry)
    end
  end
  if entry.bias ~= nil or entry.norm_kind ~= nil then read_again(say, { "bias" }, each, given, entry) end
  if each.norm_kind == "rms" and each.bias then each.bias = words.merged(each.bias, { norm = false }) end
  if entry.mask ~= nil then given.window, given.prefix = entry.window, entry.prefix end -- bounds go with their mask
  if entry.mask ~= nil or entry.window ~= nil or entry.prefix ~= nil then
    read_again(say, of_mask, each, given, entry)
    if not each.mask and given.mask == nil then each.mask = { causal = false, padding = false } end
    if each.mask then checks.mask(say, each, given) end
  end
  local pads = each.mask and (each.mask.padding or each.mask.key_padding) or spec.memory
  if entry.mask_value ~= nil and not pads then say("mask_value", "goes with mask = \"padding\" or \"key_padding\"") end
  checks.heads(say, each)
  if entry.head_dim ~= nil and each.head_dim then
    if given.scale == nil then each.scale = 1 / math.sqrt(each.head_dim) end
    if given.rope_dim == nil then each.rope_dim = each.head_dim end
  end
  checks.attention(say, each)
  checks.company(say, each, entry)
  if spec.distances == "t5" and each.mask and spec.mask and each.mask.causal ~= spec.mask.causal then
    say("mask", 'causal in all layers or in none goes with positions = "t5", whose table all layers share')
  end
  return each
end

--- Fills spec.each, the specs of the layers, if the description's `layers` is a list. Faults of a layer are reported
--- as layers.2.window. Faults that were reported for the stack (said: "key: message" -> true) are not repeated.
function layers.resolve(say, spec, description, said, checks)
  if type(description.layers) ~= "table" or not spec.layers then return end
  spec.each = {}
  for i, entry in ipairs(description.layers) do
    local place = "layers." .. i
    local function say_layer(key, ...)
      if key == nil then return say() end
      if said[key .. ": " .. faults.line(...)] then return nil end
      return say(place .. "." .. key, ...)
    end
    if type(entry) ~= "table" then
      say(place, values.show(entry) .. ", but a table of the keys that differ in this layer, such as {}, is allowed")
    else
      spec.each[i] = resolve_layer(say_layer, spec, description, entry, checks)
    end
  end
end

function layers.have_mask(spec, word)
  return words.any(spec.each or { spec }, function(each) return each.mask and each.mask[word] end)
end

return layers
