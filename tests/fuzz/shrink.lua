-- shrink.lua: a failing description made simpler for as long as it fails in the same way:
-- keys, stages and tile parameters are dropped one at a time, then sizes are lowered.
local words = require("words")

local shrink = {}

local required = words.set { "name", "seq", "d_model", "heads", "layers" }
local lowest = { layers = 0 }

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

local function changed(description, path, key, value)
  local result = copy(description)
  local holder = at(result, path)
  if value == nil and math.type(key) == "integer" then table.remove(holder, key) else holder[key] = value end
  return result
end

-- Simpler descriptions, the boldest first.
local function candidates(description)
  local list = {}
  local function add(...) list[#list + 1] = changed(description, ...) end
  local function drops(path, keep)
    for _, key in ipairs(words.sorted_keys(at(description, path))) do
      if not keep[key] then add(path, key, nil) end
    end
  end
  drops({}, required)
  for _, key in ipairs { "output", "plan", "bias", "mask" } do
    if type(description[key]) == "table" then drops({ key }, {}) end
  end
  for i, stage in ipairs(description.output or {}) do
    drops({ "output", i }, words.set { "stage", "to", "over" })
    if stage.to and stage.to > 1 then add({ "output", i }, "to", stage.to // 2) end
  end
  for _, key in ipairs { "layers", "batch", "seq", "d_model", "heads", "head_dim", "d_ff" } do
    local n, least = description[key], lowest[key] or 1
    if n and n > least then
      add({}, key, least)
      if n // 2 > least then add({}, key, n // 2) end
      if n - 1 > least then add({}, key, n - 1) end
    end
  end
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
