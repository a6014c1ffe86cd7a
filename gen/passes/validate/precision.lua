-- precision.lua: reads the key `precision`: a number type for all products and tables, or a table by part.
local libxsmm = require("kernels.libxsmm")
local precision = require("data.precision")
local targets = require("data.targets")
local types = require("data.types")
local values = require("passes.validate.values")
local words = require("common.words")

local names = words.map(types.of_weights, function(type) return type.word end)
local parts = words.map(precision.parts, function(part) return part.name end)
table.insert(parts, '"layer N"')
table.insert(parts, '"encoder layer N"')

local of_attention = words.map(types.of_weights, function(type) return type.attention and type.word or nil end)

local this = {}

local of_parts = { words = names, none = "f32", is_part = precision.is_part, parts = parts,
  words_of = { attention = of_attention, ["encoder attention"] = of_attention } }

--- Reads the key: { all = a type, by_part = part -> type }.
function this.reader(say, field, value) return values.by_part(say, field, value, of_parts) end

--- Returns the set of number types of products that a description names, right or wrong. Some targets of a machine are
--- useful only to certain types. It includes the type that an attention's products have by default on these targets.
function this.wanted(value)
  local set = {}
  for part, each in pairs(type(value) == "table" and value or { value }) do
    if type(each) == "string" and part ~= "embedding" then set[each] = true end
  end
  if not (type(value) == "table" and value.attention) then
    for _, type in ipairs(types.of_weights) do
      if set[type.word] then set[precision.of_scores({ all = type.word, by_part = {} }, "", true)] = true end
    end
  end
  if not next(set) then set.f32 = true end
  return set
end

local function check_layers(say, spec, given, key)
  local encoder = spec.memory and spec.memory.encoder
  for _, part in ipairs(words.sorted_keys(given.by_part)) do
    local stack, layer = part:match("^(%a*) ?layer (%d+)$")
    if layer then
      local layers = (stack == "encoder" and (encoder and encoder.layers or 0)) or (stack ~= "encoder" and spec.layers)
      if layers and tonumber(layer) >= layers then
        say(key, "%s, but %s", part, layers == 0 and "there are none"
          or ("there are %d, numbered from 0"):format(layers))
      end
    end
  end
end

-- Names of what the keys decide that have a word for each layer.
local DECIDES = { precision = "precision", weights = "type", input_order = "order of inputs" }

-- Checks that layers of one group, which have the same weights, packed once, have the same word.
local function check_groups(say, spec, given, prefix, key)
  local first = {}
  for i, group in ipairs(spec.layer_groups or {}) do
    local own = given.by_part[("%slayer %d"):format(prefix, i - 1)] or false
    if first[group] == nil then first[group] = own end
    if first[group] ~= own then
      return say(key, "%slayer %d has the weights of another layer, which has another %s", prefix, i - 1, DECIDES[key])
    end
  end
end

-- The most keys of an attention in int8: a float holds the sum of that number of weights exactly.
local MOST_KEYS = 65536

-- Variants of attention that do not go with int8: { key, what, is_there(spec), of_layer: true if a layer may have it }.
local not_in_integers = {
  { "scoring", "additive scores", function(spec) return spec.scoring == "additive" end },
  { "weighting", "a weighting other than softmax", function(spec)
    return spec.weighting and spec.weighting ~= "softmax"
  end, of_layer = true },
  { "fully_masked", "rows of NaN where all keys are masked", function(spec) return spec.fully_masked == "nan" end,
    of_layer = true },
  { "sinks", "sinks", function(spec) return spec.sinks end, of_layer = true },
  { "positions", "relative_key positions", function(spec)
    return type(spec.positions) == "string" and spec.positions:find("^relative_key") ~= nil
  end },
  { "positions", "disentangled positions", function(spec) return spec.distances == "disentangled" end },
  { "past", "past keys", function(spec) return (spec.past or 0) > 0 end },
  { "context", "a context", function(spec) return spec.context ~= nil end },
  { "bias_kv", "learned keys", function(spec) return spec.bias_kv end },
  { "zero_attn", "keys of zeros", function(spec) return spec.zero_attn end },
  { "memory", "a joined memory", function(spec) return spec.memory and spec.memory.joined end },
  { "head_mask", "a head mask", function(spec) return spec.head_mask and spec.head_mask.kind ~= "none" end },
  { "attention_output", "outputs of an attention", function(spec)
    local output = spec.attention_output
    return output and (output.kind ~= "none" or output.scores)
  end },
  { "seq", ("more than %d keys"):format(MOST_KEYS), function(spec)
    return math.max(spec.seq or 0, spec.key_seq or 0) > MOST_KEYS
  end },
}

-- Checks a stack for variants of attention that do not go with int8. part: what says int8.
local function check_integers(say, spec, prefix, part)
  local function check(of, path, is_layer)
    for _, each in ipairs(not_in_integers) do
      if (each.of_layer or not is_layer) and each[3](of) then
        say(path .. each[1], "%s: not supported with precision.%s = \"%s\"", each[2], part,
          types.all[types.quantised].word)
      end
    end
  end
  check(spec, prefix, false)
  for i, layer in ipairs(spec.each or {}) do check(layer, ("%slayers.%d."):format(prefix, i), true) end
end

-- Checks the layers that a key's parts name.
local function check_parts(say, spec, given, key)
  check_groups(say, spec, given, "", key)
  if spec.memory and spec.memory.encoder then check_groups(say, spec.memory.encoder, given, "encoder ", key) end
end

--- Checks for layers that do not exist, and for keys that do not go with a precision other than f32.
function this.check(say, spec, description)
  local given = spec.precision
  if spec.weights then
    check_layers(say, spec, spec.weights, "weights")
    check_parts(say, spec, spec.weights, "weights")
  end
  if spec.input_order then
    check_layers(say, spec, spec.input_order, "input_order")
    check_parts(say, spec, spec.input_order, "input_order")
    if description.weights == nil then say("input_order", "goes with weights in scale blocks (key weights)") end
  end
  if not given then return end
  check_layers(say, spec, given, "precision")
  if precision.multiplies_f32(given) then return end
  check_parts(say, spec, given, "precision")
  local encoder, of_encoder = spec.memory and spec.memory.encoder, "encoder attention"
  if precision.attends_in_integers(given, "attention") then check_integers(say, spec, "", "attention") end
  if given.by_part[of_encoder] and not encoder then say("precision", "%s, but there is no encoder", of_encoder) end
  local part = given.by_part[of_encoder] and of_encoder or "attention"
  if encoder and precision.attends_in_integers(given, part) then
    check_integers(say, encoder, "memory.encoder.", part)
  end
  local of_plan, target = spec.plan and spec.plan.kernels == "libxsmm", targets.by_name[spec.target]
  if not (of_plan or spec.kernels == "libxsmm") then return end
  for _, type in ipairs(types.of_weights) do
    if target and precision.multiplies(given, type.word) and not libxsmm.multiplies(type.name, target) then
      return say(of_plan and "plan.kernels" or "kernels", "libxsmm goes with precision = \"f32\", and with bf16 for "
        .. "the targets avx512bf16 and amx; other numbers are multiplied by kernels in C")
    end
  end
end

return this
