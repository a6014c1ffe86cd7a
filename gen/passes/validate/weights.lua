-- weights.lua: reads the keys `weights` and `input_order`: a type of weights in scale blocks, or the order of inputs,
-- for all linear layers (`weights`: and tables), or a table by part.
local precision = require("data.precision")
local scale_blocks = require("data.scale_blocks")
local types = require("data.types")
local values = require("passes.validate.values")
local words = require("common.words")

local this = {}

local parts = words.append(words.map(precision.parts, function(part)
  return not part.is_attention and part.name or nil
end), { '"layer N"', '"encoder layer N"', '"l0.attn.q"' })

local UNITS = { B = 1, KB = 1e3, MB = 1e6, GB = 1e9, KiB = 1 << 10, MiB = 1 << 20, GiB = 1 << 30 }

-- Reads a number of bytes: "60 MB", or a whole number. Returns nil if it is none.
local function bytes_of(value)
  if math.type(value) == "integer" then return value > 0 and value or nil end
  local number, unit = tostring(value):match("^(%d+%.?%d*) ?(%a+)$")
  return number and UNITS[unit] and math.floor(tonumber(number) * UNITS[unit] + 0.5) or nil
end

--- Reads the key `weights`: as a reader of words does, or { size = bytes of all packed weights }, for which the pass
--- `sizes` chooses words: { all = a word, by_part = {}, size }.
function this.read(say, field, value)
  if type(value) ~= "table" or value.size == nil then return this.of_words(say, field, value) end
  local size = bytes_of(value.size)
  if not size or next(value, next(value)) then
    return say(field.key, "size: a number of bytes such as \"60 MB\" by itself is allowed")
  end
  return { all = types.scaled[1].weights, by_part = {}, size = size }
end

--- Returns the reader of a key with some words, which gives { all = a word, by_part = part -> word }.
function this.reader(list)
  local of = { words = list, none = "none", is_part = scale_blocks.is_part, parts = parts,
    note = ", the last one being the path of a linear layer" }
  return function(say, field, value) return values.by_part(say, field, value, of) end
end

this.of_words = this.reader(scale_blocks.words)

--- True if a description's value, right or wrong, asks for some type.
function this.is_wanted(value)
  for _, each in pairs(type(value) == "table" and value or { value }) do
    if type(each) == "string" and each ~= "none" then return true end
  end
  return false
end

return this
