-- text.lua: a drawn description as the text of a description file: sorted keys, stages by
-- their constructors, so that what is printed for a failure reads like a model's file.
local stages = require("data.stages")
local words = require("common.words")

local text = {}

local function key_text(key)
  if type(key) == "string" and key:match("^[%a_][%w_]*$") then return key .. " = " end
  return ("[%s] = "):format(type(key) == "string" and ("%q"):format(key) or tostring(key))
end

local function number_text(value)
  if math.type(value) == "integer" then return tostring(value) end
  local short = ("%.15g"):format(value)
  return tonumber(short) == value and short or ("%.17g"):format(value)
end

--- A plain value as Lua: { stage = "linear", to = 3 } is written as linear { to = 3 }.
function text.value(value)
  if type(value) == "string" then return ("%q"):format(value) end
  if type(value) == "number" then return number_text(value) end
  if type(value) ~= "table" then return tostring(value) end
  local parts, length = {}, #value
  for i = 1, length do parts[i] = text.value(value[i]) end
  for _, key in ipairs(words.sorted_keys(value)) do
    local listed = math.type(key) == "integer" and key >= 1 and key <= length
    local constructor = key == "stage" and stages.constructors[value.stage]
    if not listed and not constructor then parts[#parts + 1] = key_text(key) .. text.value(value[key]) end
  end
  local braces = #parts == 0 and "{}" or "{ " .. table.concat(parts, ", ") .. " }"
  return stages.constructors[value.stage] and value.stage .. " " .. braces or braces
end

--- The whole file: a key a line.
function text.description(description)
  local lines = { "return {" }
  for _, key in ipairs(words.sorted_keys(description)) do
    lines[#lines + 1] = "  " .. key_text(key) .. text.value(description[key]) .. ","
  end
  lines[#lines + 1] = "}\n"
  return table.concat(lines, "\n")
end

return text
