-- layers.lua: turns keys of config.json that differ from layer to layer into facts: windows, and tables of keys.
-- facts.each is a list with a table for each layer, of a description's keys that differ there, or nil. Its key `window`
-- is the number of tokens that a token sees to a side, with itself.
local faults = require("common.faults")
local keys = require("data.keys")
local rotary = require("checkpoints.rotary")
local words = require("common.words")

local layers = {}

local SLIDING = "sliding_attention"
local kinds = words.set { "full_attention", SLIDING }

--- Returns the table of a layer, numbered from 0.
function layers.own(facts, index)
  if not facts.each then
    facts.each = {}
    for i = 1, facts.layers do facts.each[i] = {} end
  end
  return facts.each[index + 1]
end

-- Checks layer_types, which has full_attention and one other kind. Faults: usage, format.
local function check(list, count, other)
  if #list ~= count then
    faults.raise("format", "config.json: layer_types: %d values, but one for each of %d layers is expected", #list,
      count)
  end
  for _, kind in ipairs(list) do
    if kind ~= "full_attention" and kind ~= other then
      faults.raise("usage", "config.json: layer_types: %s is not supported; supported are full_attention, %s",
        type(kind) == "string" and faults.quote(kind) or tostring(kind), other)
    end
  end
end

--- Returns whether each layer slides, or is of another `kind` than full_attention: layer_types says so, or, without it,
--- slides(index). Checks layer_types.
function layers.sliding(facts, slides, kind)
  local list, result = facts.layer_types, {}
  kind = kind or SLIDING
  if list then check(list, facts.layers, kind) end
  for i = 0, facts.layers - 1 do
    if list then result[i + 1] = list[i + 1] == kind else result[i + 1] = slides(i) end
  end
  return result
end

--- Gives each layer of `sliding`, a list of booleans, the window facts.window: facts.window stays if all have it, else
--- facts.each has it. No model has sequences beyond keys.LONGEST, nor windows.
function layers.set_windows(facts, sliding)
  local window, count = facts.window and math.min(facts.window, keys.LONGEST), 0
  for _, slides in ipairs(sliding) do count = count + (slides and 1 or 0) end
  facts.window = count == facts.layers and window
  if facts.window or not window then return end
  for i, slides in ipairs(sliding) do if slides then layers.own(facts, i - 1).window = window end end
end

--- Does the same for families in which windows have a switch, facts.use_window. Faults: usage.
function layers.set_used_windows(facts, sliding)
  local slides = words.any(sliding, function(each) return each end)
  if slides and not facts.use_window then
    faults.raise("usage", "config.json: layer_types: sliding_attention without use_sliding_window")
  end
  layers.set_windows(facts, sliding)
end

--- Leaves layers without positions. rotates: a list of booleans, false for these layers.
function layers.set_still(facts, rotates)
  for i, each in ipairs(rotates) do if not each then layers.own(facts, i - 1).rope_dim = 0 end end
end

-- Returns rope_theta and rope_scaling of layers of a kind. Folders of transformers 4 have keys of their own for it,
-- which are in `given`; folders of transformers 5 have rope_parameters by kind. transformers adds rope_scaling to
-- these, so that a type counts only if its key is rope_type. It looks for yarn's `truncate` elsewhere, so that a kind
-- has none.
local function angles(facts, kind, given)
  local own = (facts.rope_parameters or {})[kind]
  own = type(own) == "table" and own or { rope_type = "default" }
  own = words.merged(own, given.rope_scaling or nil, { truncate = true })
  return rotary.of { rope_theta = given.rope_theta, rope_parameters = own,
    longest = facts.longest, original = facts.original, d_model = facts.d_model, heads = facts.heads,
    head_dim = given.head_dim or facts.head_dim }
end

--- Sets the rotary positions of a family that has others in layers that slide: facts.rope_base and facts.rope_scale are
--- the first layer's, and facts.each has the other layers'. given: kind of layer -> { rope_theta, rope_scaling, and
--- head_dim, if it has another than all }.
function layers.set_angles(facts, sliding, given)
  for key in pairs(facts.rope_parameters or {}) do
    if not kinds[key] then
      faults.raise("usage", "config.json: rope_parameters: %s is not supported; supported are full_attention, "
        .. "sliding_attention", faults.quote(tostring(key)))
    end
  end
  local function of(slides)
    local kind = slides and "sliding_attention" or "full_attention"
    return angles(facts, kind, given[kind])
  end
  facts.rope_base, facts.rope_scale = of(sliding[1])
  for i, slides in ipairs(sliding) do
    if slides ~= sliding[1] then
      local own = layers.own(facts, i - 1)
      own.rope_theta, own.rope_scaling = of(slides)
      if facts.rope_scale and not own.rope_scaling then own.rope_scaling = false end
    end
  end
end

--- The defaults of Qwen's windows, and a key that only Qwen has.
layers.of_qwen = { use_window = false, window = 4096, layer_types = false }
layers.qwen_keys = { { "max_window_layers", to = "window_layers", default = 28, kind = "size" } }

--- Sets the windows that those keys say.
function layers.set_qwen_windows(facts)
  layers.set_used_windows(facts, layers.sliding(facts, function(i)
    return facts.use_window and facts.window and i >= facts.window_layers
  end))
end

return layers
