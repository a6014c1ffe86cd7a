-- dump.lua: writes a table as stable text: sorted keys, one line per leaf, list members by number.
local terminal = require("common.terminal")
local words = require("common.words")

local dump = {}

local DEEPEST = 16 -- a description may hold itself,
local MOST_LINES = 10000 -- and more than once

local function add(lines, prefix, value, depth)
  if #lines >= MOST_LINES then
    lines[MOST_LINES] = "..."
    return
  end
  if depth > DEEPEST then
    lines[#lines + 1] = terminal.safe(prefix .. " = ...")
    return
  end
  if type(value) ~= "table" then
    local text = type(value) == "string" and terminal.safe(("%q"):format(value):gsub("\\\n", "\\n")) or tostring(value)
    lines[#lines + 1] = ("%s = %s"):format(prefix, text)
    return
  end
  local keys = words.sorted_keys(value)
  if #keys == 0 then lines[#lines + 1] = prefix .. " = {}" end
  for _, key in ipairs(keys) do
    local shown = terminal.safe(key)
    add(lines, prefix == "" and shown or prefix .. "." .. shown, value[key], depth + 1)
  end
end

--- Returns the text of a tree of plain values.
function dump.table(value)
  local lines = {}
  add(lines, "", value, 0)
  return table.concat(lines, "\n") .. "\n"
end

return dump
