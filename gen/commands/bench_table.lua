-- bench_table.lua: joins the benches of several variants into one table.
-- Each program's rows are kept as printed. Columns in front of them name the keys that vary, unless the program prints
-- them itself.
local words = require("common.words")

local bench_table = {}

local join = {}

-- Returns the keys that vary and that a header does not have.
local function missing(results, has)
  local keys = {}
  for i, each in ipairs(results[1].varied) do if not has(each.key) then keys[#keys + 1] = i end end
  return keys
end

local function lines_of(text)
  local list = words.list(text, "([^\n]*)\n?")
  if list[#list] == "" then list[#list] = nil end
  return list
end

local function front(result, keys, before, between)
  local text = ""
  for _, i in ipairs(keys) do text = text .. before .. result.varied[i].value .. between end
  return text
end

local function names(result, keys)
  return words.map(keys, function(i) return result.varied[i].key end)
end

-- Joins the first tables of all results into one. The texts below them follow, each under its variant's values.
function join.md(results)
  local first = lines_of(results[1].text)
  local keys = missing(results, function(key) return first[1]:find("| " .. key .. " ", 1, true) end)
  local titles, rule = "", ""
  for _, name in ipairs(names(results[1], keys)) do
    titles, rule = titles .. "| " .. name .. " ", rule .. "|--:"
  end
  local lines, below = { titles .. first[1], rule .. first[2] }, {}
  for _, result in ipairs(results) do
    local varied = words.map(result.varied, function(each) return each.key .. "=" .. each.value end)
    local list, i = lines_of(result.text), 3
    while list[i] and list[i]:sub(1, 1) == "|" do
      lines[#lines + 1] = front(result, keys, "| ", " ") .. list[i]
      i = i + 1
    end
    if list[i] then
      below[#below + 1] = "\n" .. table.concat(varied, " ")
      table.move(list, i, #list, #below + 1, below)
    end
  end
  table.move(below, 1, #below, #lines + 1, lines)
  return table.concat(lines, "\n") .. "\n"
end

-- Returns a field of csv, in quotes if it needs them.
local function field(value) return value:find('[,"\n]') and '"' .. value:gsub('"', '""') .. '"' or value end

-- Returns the tables of a text as lists of lines. Empty lines separate tables.
local function blocks_of(text)
  local blocks = { {} }
  for _, line in ipairs(lines_of(text)) do
    local last = blocks[#blocks]
    if line ~= "" then last[#last + 1] = line elseif #last > 0 then blocks[#blocks + 1] = {} end
  end
  return blocks
end

-- Joins the n-th tables of all results into one. The first table has a line for each call, the tables of a profile a
-- line for each operation.
function join.csv(results)
  local first = blocks_of(results[1].text)
  local blocks = {}
  for b, block in ipairs(first) do
    local keys = missing(results, function(key) return ("," .. block[1] .. ","):find("," .. key .. ",", 1, true) end)
    local header = ""
    for _, name in ipairs(names(results[1], keys)) do header = header .. field(name) .. "," end
    local lines = { header .. block[1] }
    for _, result in ipairs(results) do
      local values = ""
      for _, i in ipairs(keys) do values = values .. field(result.varied[i].value) .. "," end
      local own = blocks_of(result.text)[b] or {}
      for i = 2, #own do lines[#lines + 1] = values .. own[i] end
    end
    blocks[b] = table.concat(lines, "\n") .. "\n"
  end
  return table.concat(blocks, "\n")
end

local function json_value(value)
  if value:match("^%-?%d+%.?%d*$") and tonumber(value) and not value:match("^%-?0%d") and not value:match("%.$") then
    return value
  end
  return '"' .. value:gsub('[%c"\\]', function(c) return ("\\u%04x"):format(c:byte()) end) .. '"'
end

-- Adds the values of a variant as members to each object. A program prints one object per line.
function join.json(results)
  local keys = missing(results, function(key) return results[1].text:find('"' .. key .. '": ', 1, true) end)
  local list = {}
  for _, result in ipairs(results) do
    local members = words.map(keys, function(i)
      return ('"%s": %s, '):format(result.varied[i].key, json_value(result.varied[i].value))
    end)
    for _, line in ipairs(lines_of(result.text)) do
      list[#list + 1] = (line:gsub("^%s*{%s*", function() return "{" .. table.concat(members) end))
    end
  end
  return "[\n" .. table.concat(list, ",\n") .. "\n]\n"
end

--- Returns one text for results { { text, varied = { { key, value } } } } in a format: md, csv or json.
function bench_table.join(form, results) return join[form](results) end

return bench_table
