-- shrink.lua: a failing description made simpler for as long as it fails in the same way:
-- keys, members of lists and of nested tables are dropped one at a time, then numbers are
-- lowered. A description that is not valid does not fail in the same way.
local stages = require("data.stages")
local words = require("common.words")

local shrink = {}

local required = words.set { "name", "seq", "d_model", "heads", "layers" }

local lowest = { layers = 0, d_ff = 0, past = 0, types = 0, panel = 16, key_block = 16 }

local function copy(value)
  if type(value) ~= "table" then return value end
  local result = {}
  for key, member in pairs(value) do result[key] = copy(member) end
  return result
end

-- The table at a path, such as { "output", 2 }.
local function at(description, path)
  local value = description
  for _, key in ipairs(path) do value = value[key] end
  return value
end

-- Adjusts the keys that depend on the numbers of layers and heads.
local function adjust(d)
  local layers = type(d.layers) == "table" and #d.layers or d.layers
  if type(d.head_mask) == "table" then
    for layer = #d.head_mask, 1, -1 do
      if layer > layers then table.remove(d.head_mask) end
    end
    for _, list in ipairs(d.head_mask) do
      while #list > d.heads do table.remove(list) end
    end
  end
  if d.kv_heads and d.heads % d.kv_heads ~= 0 then d.kv_heads = math.min(d.kv_heads, d.heads) end
  for _, layer in ipairs(type(d.layers) == "table" and d.layers or {}) do
    if layer.kv_heads and d.heads % layer.kv_heads ~= 0 then layer.kv_heads = d.heads end
  end
  local list = type(d.attention_output) == "table" and d.attention_output.layers or {}
  for i = #list, 1, -1 do
    if list[i] >= layers then table.remove(list, i) end
  end
end

local function changed(description, path, key, value)
  local result = copy(description)
  local holder = at(result, path)
  if value == nil and math.type(key) == "integer" then table.remove(holder, key) else holder[key] = value end
  if result.layers and result.heads then adjust(result) end
  if type(result.memory) == "table" and result.memory.layers and result.memory.heads then adjust(result.memory) end
  return result
end

-- Whether a table at a depth needs a key.
local function needs(holder, depth, key)
  if depth == 0 then return required[key] end
  local constructor = stages.constructors[holder.stage]
  local field = constructor and constructor.fields[key]
  return key == "stage" or key == "seq" or (field and field.required)
end

-- A path one step longer.
local function below(path, key)
  local result = table.move(path, 1, #path, 1, {})
  result[#result + 1] = key
  return result
end

-- Visits a description's tables, the outermost first: visit(path, table).
local function each_table(description, visit)
  local level = { {} }
  while #level > 0 do
    local next_level = {}
    for _, path in ipairs(level) do
      local holder = at(description, path)
      visit(path, holder)
      for _, key in ipairs(words.sorted_keys(holder)) do
        if type(holder[key]) == "table" then next_level[#next_level + 1] = below(path, key) end
      end
    end
    level = next_level
  end
end

-- Simpler descriptions, the boldest first.
local function candidates(description)
  local list = {}
  local function add(...) list[#list + 1] = changed(description, ...) end
  each_table(description, function(path, holder)
    for _, key in ipairs(words.sorted_keys(holder)) do
      if not needs(holder, #path, key) then add(path, key, nil) end
    end
  end)
  each_table(description, function(path, holder)
    for _, key in ipairs(words.sorted_keys(holder)) do
      local n, least = holder[key], lowest[key] or 1
      if math.type(n) == "integer" and n > least then
        add(path, key, least)
        if n // 2 > least then add(path, key, n // 2) end
        if n - 1 > least then add(path, key, n - 1) end
      end
    end
  end)
  return list
end

--- `fails(description)` tells whether it still fails in the same way; it is asked at most `attempts` times.
--- Returns the simplest description found.
function shrink.run(description, fails, attempts)
  local simpler = true
  while simpler and attempts > 0 do
    simpler = false
    for _, candidate in ipairs(candidates(description)) do
      if attempts == 0 then break end
      attempts = attempts - 1
      if fails(candidate) then
        description, simpler = candidate, true
        break
      end
    end
  end
  return description
end

return shrink
