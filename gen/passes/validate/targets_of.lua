-- targets_of.lua: reads the targets of a description: one, or a list for a library for several machines.
-- The library picks one of the list when a model is opened. A list is { "avx512", "avx2" } or "avx512, avx2".
local faults = require("common.faults")
local values = require("passes.validate.values")
local targets = require("data.targets")
local words = require("common.words")

-- Returns the words of a list; nil if the value is no list.
local function words_of(value)
  if type(value) == "string" and value:find(",", 1, true) then
    return words.list(value .. ",", "%s*([^,]-)%s*,")
  end
  return type(value) == "table" and value or nil
end

-- Returns a list, or nil after it reported a fault.
local function read_list(say, field, list)
  local count, seen, first = 0, {}, nil
  for _ in pairs(list) do count = count + 1 end
  for place in pairs(list) do
    if math.type(place) ~= "integer" or place < 1 or place > count then
      return say(field.key, "a list has only names of targets: { \"avx512\", \"avx2\" }")
    end
  end
  if count == 0 then return say(field.key, "an empty list, but the name of a target or a list of them is needed") end
  for _, word in ipairs(list) do
    local name = values.read.word(say, field, word)
    local target = targets.by_name[name]
    if not name then return nil end
    if seen[name] then return say(field.key, "%s is given twice", faults.quote(name)) end
    if count > 1 and not (target and target.machine) then
      return say(field.key, "%s cannot be in a list; a list has targets of one processor: \"avx512, avx2, x86_64\"",
        faults.quote(name))
    end
    if first and target.machine ~= first.machine then
      return say(field.key, "%s and %s are of different processors, but one library is for one",
        faults.quote(first.name), faults.quote(name))
    end
    seen[name], first = true, first or target
  end
  return seen
end

--- Returns the names of a description's targets, those with the most instructions first; the machine's own for f32
--- after a fault. host: state.host; precisions: the set of the products' number types; field: of the table of keys.
return function(say, field, value, host, precisions)
  if value == nil then value = field.default end
  local list = words_of(value)
  local seen = read_list(say, field, list or { value })
  if not seen then return { host { f32 = true } } end
  if seen.host then return { host(precisions) } end
  local names = {}
  for _, target in ipairs(targets.list) do if seen[target.name] then names[#names + 1] = target.name end end
  return names
end
