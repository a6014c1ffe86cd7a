-- overrides.lua: the KEY=VALUE words of a command line: each key once, lists of values for bench,
-- and the folder of a variant.
local faults = require("common.faults")
local hash = require("common.hash")

local overrides = {}

local MOST_LABEL = 60   -- characters of a folder's name that are for readers
local MOST_VARIANTS = 64

local closing = { ["("] = ")", ["["] = "]", ["{"] = "}" }

--- The parts of a text between its commas; those within quotes or brackets separate nothing.
function overrides.split(text)
  local parts, first, open, quote, i = {}, 1, {}, nil, 1
  while i <= #text do
    local c = text:sub(i, i)
    if quote then
      if c == "\\" then i = i + 1 elseif c == quote then quote = nil end
    elseif c == '"' or c == "'" then
      quote = c
    elseif closing[c] then
      open[#open + 1] = closing[c]
    elseif c == open[#open] then
      open[#open] = nil
    elseif c == "," and #open == 0 then
      parts[#parts + 1] = text:sub(first, i - 1)
      first = i + 1
    end
    i = i + 1
  end
  parts[#parts + 1] = text:sub(first)
  return parts
end

-- key and value of a word; nil where it is none, which the describe pass says better.
local function parse(word) return word:match("^([^=]*)=(.*)$") end

-- A value that is twice in a list would be measured twice; nil where there is none.
local function repeated(values)
  local seen = {}
  for _, value in ipairs(values) do
    local plain = value:match("^%s*(.-)%s*$")
    if seen[plain] then return plain end
    seen[plain] = true
  end
  return nil
end

-- Whether a list has a place without a value.
local function has_gap(values)
  for _, value in ipairs(values) do if #values > 1 and not value:find("%S") then return true end end
  return false
end

--- Refuses a key that is given twice, a value that is twice in a list or missing there, and, but where `lists` are
--- taken, more than one.
function overrides.check(list, lists)
  local seen = {}
  for _, word in ipairs(list) do
    local key, value = parse(word)
    if key then
      if seen[key] then faults.raise("usage", ("%s: the key is given twice"):format(faults.quote(key))) end
      seen[key] = true
      local values = overrides.split(value)
      if not lists and #values > 1 and key ~= "target" then -- whose list is one value
        faults.raise("usage", ("%s: a list of values, which only bench and report take"):format(faults.quote(word)))
      end
      if has_gap(values) then
        faults.raise("usage", ("%s: a value is missing beside a comma"):format(faults.quote(word)))
      end
      local twice = repeated(values)
      if twice then
        faults.raise("usage", ("%s: the value %s is given twice"):format(faults.quote(key), faults.quote(twice)))
      end
    end
  end
end

--- All combinations of listed values, the last key changing fastest: { { overrides, varied = { { key, value } } } }.
function overrides.combinations(list)
  local all = { { overrides = {}, varied = {} } }
  for _, word in ipairs(list) do
    local key, value = parse(word)
    local values = key and overrides.split(value) or { value }
    local longer = {}
    for _, each in ipairs(all) do
      for i = 1, math.max(1, #values) do
        local new = { overrides = table.move(each.overrides, 1, #each.overrides, 1, {}),
          varied = table.move(each.varied, 1, #each.varied, 1, {}) }
        new.overrides[#new.overrides + 1] = #values > 1 and key .. "=" .. values[i] or word
        if #values > 1 then new.varied[#new.varied + 1] = { key = key, value = values[i] } end
        longer[#longer + 1] = new
      end
    end
    all = longer
    if #all > MOST_VARIANTS then
      faults.raise("usage", ("more than %d combinations of values"):format(MOST_VARIANTS))
    end
  end
  return all
end

--- The folder in which a command other than `build` builds a variant of a model. The same overrides, in any order,
--- have the same folder. others: texts of what else tells variants apart.
function overrides.folder(name, list, others)
  local sorted = table.move(list, 1, #list, 1, {})
  table.sort(sorted)
  local label = table.concat(sorted, ","):gsub("[^%w_.,=-]+", "_"):sub(1, MOST_LABEL)
  if label == "" then label = "as_described" end
  for _, text in ipairs(others or {}) do sorted[#sorted + 1] = text end
  return ("out/%s.variants/%s-%s"):format(name, label, hash.content(table.concat(sorted, "\n")):sub(1, 10))
end

return overrides
