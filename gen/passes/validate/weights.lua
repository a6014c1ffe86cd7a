-- weights.lua: reads the keys `weights` and `input_order`: a type of weights in scale blocks, or the order of inputs,
-- for all linear layers (`weights`: and tables), or a table by part.
local precision = require("data.precision")
local scale_blocks = require("data.scale_blocks")
local values = require("passes.validate.values")

local this = {}

local parts = {}
for _, part in ipairs(precision.parts) do
  if part.name ~= "attention" then parts[#parts + 1] = part.name end
end
for _, each in ipairs { '"layer N"', '"encoder layer N"', '"l0.attn.q"' } do parts[#parts + 1] = each end

--- Returns the reader of a key with some words, which gives { all = a word, by_part = part -> word }.
function this.reader(list)
  local of = { words = list, none = "none", is_part = scale_blocks.is_part, parts = parts,
    note = ", the last one being the path of a linear layer" }
  return function(say, field, value) return values.by_part(say, field, value, of) end
end

--- True if a description's value, right or wrong, asks for some type.
function this.is_wanted(value)
  for _, each in pairs(type(value) == "table" and value or { value }) do
    if type(each) == "string" and each ~= "none" then return true end
  end
  return false
end

return this
