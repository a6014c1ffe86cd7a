-- write.lua: writes a description as Lua text for people to edit: one key per line, in order, with remarks.
local words = require("common.words")

local write = {}

local WIDTH = 110

local function number_text(value)
  if math.type(value) == "integer" then return tostring(value) end
  for digits = 1, 17 do
    local text = ("%." .. digits .. "g"):format(value)
    if tonumber(text) == value then return text end
  end
  return value > 0 and "1e999" or value < 0 and "-1e999" or "0 / 0" -- which the validator refuses by the key
end

local function quoted(text)
  local safe = text:gsub('[\\"]', "\\%0"):gsub("[%c\128-\255]", function(c) return ("\\%03d"):format(c:byte()) end)
  return '"' .. safe .. '"'
end

local function key_text(key) return key:match("^[%a_][%w_]*$") and key or ("[%s]"):format(quoted(key)) end

local value_text

-- Returns the members of a table as texts: first the list's members, then the others in the order of their keys.
local function members(value)
  local list = words.map(value, function(each) return value_text(each) end)
  for _, key in ipairs(words.sorted_keys(value)) do
    if type(key) == "string" and key ~= "stage" and key ~= "remark" then
      list[#list + 1] = key_text(key) .. " = " .. value_text(value[key])
    end
  end
  return list
end

-- Returns the text of a value. A table with a `stage` is written as a constructor's call, and so is { any = N }.
function value_text(value)
  if type(value) == "string" then return quoted(value) end
  if type(value) == "number" then return number_text(value) end
  if type(value) ~= "table" then return tostring(value) end
  if value.any then return ("any(%s)"):format(number_text(value.any)) end
  local list = members(value)
  if value.stage and #list == 0 then return value.stage .. "()" end
  local body = #list > 0 and "{ " .. table.concat(list, ", ") .. " }" or "{}"
  return value.stage and value.stage .. " " .. body or body
end

-- Returns the text of a long list, with one member per line.
local function long_text(value)
  local lines = { value.stage and value.stage .. " {" or "{" }
  for _, member in ipairs(members(value)) do lines[#lines + 1] = "    " .. member .. "," end
  lines[#lines + 1] = "  }"
  return table.concat(lines, "\n")
end

--- Returns the text of a remark, made safe for a comment's line.
function write.remark(text) return (text:gsub("[%c\127-\255]", "?")) end

--- Returns the text of a description. head: comment lines; entries: { { key, value, remark } }. An entry whose value is
--- nil is left out.
function write.description(head, entries)
  local lines = words.map(head, function(line) return "-- " .. write.remark(line) end)
  lines[#lines + 1] = "return {"
  for _, entry in ipairs(entries) do
    local key, value, remark = entry[1], entry[2], entry[3]
    if value ~= nil then
      local text = value_text(value)
      if type(value) == "table" and (#text + #key > WIDTH or key == "output" and #value > 1) then
        text = long_text(value)
      end
      lines[#lines + 1] = ("  %s = %s,%s"):format(key, text, remark and " -- " .. write.remark(remark) or "")
    end
  end
  lines[#lines + 1] = "}"
  return table.concat(lines, "\n") .. "\n"
end

return write
