-- experts.lua: reads the key `experts` of a description.
local scale_blocks = require("data.scale_blocks")
local types = require("data.types")
local values = require("passes.validate.values")
local words = require("common.words")

local experts = {}

-- The linear layers of an expert.
local parts = { "ff.experts.gate", "ff.experts.up", "ff.experts.down" }

local fields = {
  count = { type = "integer", min = 1, max = 1024, required = true, meaning = "the number of experts" },
  used = { type = "integer", min = 1, max = 64, required = true, meaning = "the experts of each row" },
  d_ff = { type = "integer", min = types.EXPERT_UNIT, max = 65536, required = true,
    meaning = "the width of each expert" },
  router = { type = "word", words = { "softmax", "sigmoid" }, default = "softmax" },
  normalise = { type = "boolean", default = true },
  bias = { type = "boolean", default = false },
  correction = { type = "boolean", default = false },
  sum_bias = { type = "boolean", default = false },
  sum_eps = { type = "number", min = 1e-30, max = 1, default = 1e-20 },
  factor = { type = "number", min = 1e-6, max = 1e6, default = 1.0 },
  shared = { type = "integer", min = 0, max = 65536, default = 0 },
  shared_gate = { type = "boolean", default = false },
  scales = { type = "boolean", default = false },
  own_norms = { type = "boolean", default = false },
}

local function check(say, key, e)
  if e.used and e.count and e.used > e.count then
    say(key .. ".used", "%d, but there are %d experts", e.used, e.count)
  end
  if e.correction and e.router ~= "sigmoid" then say(key .. ".correction", "goes with router = \"sigmoid\"") end
  if e.shared_gate and e.shared == 0 then say(key .. ".shared_gate", "goes with shared, a width") end
end

experts.reader = values.table_reader(fields, "{ count = 8, used = 2, d_ff = 1024 }", true, check)

-- True if a key by part, such as `weights`, has a word for some linear layer of an expert of layer `index`.
local function has_word(given, stack, index)
  return words.any(parts, function(part)
    return scale_blocks.of_linear(given, ("%slayer %d"):format(stack:gsub("%.", " "), index),
      ("%sl%d.%s"):format(stack, index, part))
  end)
end

-- Checks a stack of layers. stack: what its paths begin with; path: the same of its keys; model: the model's spec.
local function check_stack(say, spec, stack, path, model)
  local held = 1 -- what d_model is a multiple of, or what was reported
  for i, each in ipairs(spec.each or { spec }) do
    local place = path .. (spec.each and ("layers.%d."):format(i) or "")
    local in_blocks = each.experts and has_word(model.weights, stack, i - 1)
    local unit = in_blocks and types.SCALE_PAIR or types.EXPERT_UNIT
    local function hold(key, width)
      if not width or width % unit == 0 then return end
      say(key, "%d, but experts%s have multiples of %d%s", width, in_blocks and " in scale blocks" or "", unit,
        in_blocks and "; weights=none has them as floats" or "")
    end
    if each.experts then
      if held < unit then hold(path .. "d_model", spec.d_model) end
      held = math.max(held, unit)
      hold(place .. "experts.d_ff", each.experts.d_ff)
      if has_word(model.input_order, stack, i - 1) then say("input_order", "does not go with experts") end
    end
  end
end

--- Checks the widths of experts, and the keys that do not go with them.
function experts.check(say, spec)
  check_stack(say, spec, "", "", spec)
  local encoder = spec.memory and spec.memory.encoder
  if encoder then check_stack(say, encoder, "encoder.", "memory.", spec) end
end

return experts
