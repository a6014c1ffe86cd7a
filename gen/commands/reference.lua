-- reference.lua: lists the keys and constructors of a description as rows of text.
-- The command `keys`, the manual and the completions read them.
local activations = require("data.activations")
local keys = require("data.keys")
local masks = require("data.masks")
local names = require("checkpoints.names")
local scale_blocks = require("data.scale_blocks")
local stage_table = require("data.stages")
local types = require("data.types")
local words = require("common.words")

local reference = {}

local function range_of(field)
  if field.words then return table.concat(field.words, ", ") end
  if field.min then return ("%s to %s"):format(field.min, field.max) end
  return ""
end

local switches = { "true", "false" }

-- Key's type -> the words that its value may be. Most of these types also take a table.
local words_of_type = { boolean = switches, bias = switches, projections = switches, mask = masks.words,
  activation = words.sorted_keys(activations.of_descriptions), names = names.list(),
  precision = words.map(types.of_weights, function(each) return each.word end),
  weights = scale_blocks.words, input_order = scale_blocks.order_words,
  attention_output = keys.attention_outputs, head_mask = { "none", "input" } }

--- Returns the keys in order: { name, type, default, range, meaning, words = the words that its value may be, or nil }.
--- default is "required" or "none" if there is no value. range is "" if every value of the type is allowed.
function reference.keys()
  return words.map(keys.list, function(field)
    return { name = field.key, type = field.type, range = range_of(field), meaning = field.meaning,
      words = field.words or words_of_type[field.type],
      default = field.default_text or (field.default ~= nil and tostring(field.default))
        or (field.required and "required" or "none") }
  end)
end

--- Returns the constructors by name: { name, meaning, fields = list of { name, default = "", "required" or "default X",
--- range, meaning, is_input = true if it is only for input } }.
function reference.constructors()
  return words.map(words.sorted_keys(stage_table.constructors), function(name)
    local stage, fields = stage_table.constructors[name], {}
    for _, key in ipairs(words.sorted_keys(stage.fields)) do
      local field = stage.fields[key]
      fields[#fields + 1] = { name = key, range = range_of(field), meaning = field.meaning,
        is_input = field.place == "input", default = field.default ~= nil and "default " .. tostring(field.default)
          or (field.required and "required" or "") }
    end
    return { name = name, meaning = stage.meaning, fields = fields }
  end)
end

return reference
