-- weights.lua: reads the keys `weights` and `input_order`: a type of weights in scale blocks, or the order of inputs,
-- for all linear layers (`weights`: and tables), or a table by part.
local precision = require("data.precision")
local scale_blocks = require("data.scale_blocks")
local words = require("common.words")

local this = {}

--- Returns the reader of a key with some words, which gives { all = a word, by_part = part -> word }; tools: of
--- readers.lua.
function this.reader(tools, read, list)
  local parts = {}
  for _, part in ipairs(precision.parts) do
    if part.name ~= "attention" then parts[#parts + 1] = part.name end
  end
  for _, each in ipairs { '"layer N"', '"encoder layer N"', '"l0.attn.q"' } do parts[#parts + 1] = each end
  local function word(say, key, value) return read.word(say, { key = key, words = list }, value) end
  return function(say, field, value)
    local result = { by_part = {} }
    if type(value) ~= "table" then
      result.all = word(say, field.key, value)
      return result.all and result
    end
    result.all = "none"
    for _, key in ipairs(words.sorted_keys(value)) do
      if key == 1 then
        result.all = word(say, field.key, value[key])
      elseif type(key) ~= "string" or not scale_blocks.is_part(key) then
        say(field.key, ("no part %s; the parts are %s, the last one being the path of a linear layer%s"):format(
          tools.show(key), tools.one_of(parts), tools.suggestion(say, key, parts)))
      else
        result.by_part[key] = word(say, field.key .. "." .. key, value[key])
      end
    end
    return result.all and result
  end
end

--- True if a description's value, right or wrong, asks for some type.
function this.is_wanted(value)
  for _, each in pairs(type(value) == "table" and value or { value }) do
    if type(each) == "string" and each ~= "none" then return true end
  end
  return false
end

return this
