-- overrides.lua: checks the KEY=VALUE words of a command line, and lists the variants that they describe.
-- A key may be given once. For bench and report its value may be a list.
local faults = require("common.faults")
local hash = require("common.hash")
local words = require("common.words")

local overrides = {}

local MOST_LABEL = 60   -- characters of the readable part of a folder's name
local MOST_VARIANTS = 64

local closing = { ["("] = ")", ["["] = "]", ["{"] = "}" }

--- Returns the parts of a text between its commas, except commas within quotes or brackets.
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

-- Returns the key and value of a word, or nil if it is not KEY=VALUE. The describe pass has a better message for that.
local function parse(word) return word:match("^([^=]*)=(.*)$") end

-- Returns a value that is twice in a list, which would be measured twice, or nil.
local function repeated(values)
  local seen = {}
  for _, value in ipairs(values) do
    local plain = value:match("^%s*(.-)%s*$")
    if seen[plain] then return plain end
    seen[plain] = true
  end
  return nil
end

local function has_gap(values)
  return words.any(values, function(value) return #values > 1 and not value:find("%S") end)
end

--- Refuses a key that is given twice, and a value that is twice in a list or missing in it. Refuses lists of more than
--- one value unless `lists` is true.
function overrides.check(list, lists)
  local seen = {}
  for _, word in ipairs(list) do
    local key, value = parse(word)
    if key then
      if seen[key] then faults.raise("usage", "%s: the key is given twice", faults.quote(key)) end
      seen[key] = true
      local values = overrides.split(value)
      if not lists and #values > 1 and key ~= "target" then -- a list of targets is one value
        faults.raise("usage", "%s: only bench and report take a list of values", faults.quote(word))
      end
      if has_gap(values) then faults.raise("usage", "%s: a value is missing next to a comma", faults.quote(word)) end
      local twice = repeated(values)
      if twice then faults.raise("usage", "%s: the value %s is given twice", faults.quote(key), faults.quote(twice)) end
    end
  end
end

--- Returns combinations of listed values, { { overrides, varied = { { key, value } } } }. The last key changes fastest.
function overrides.combinations(list)
  local all = { { overrides = {}, varied = {} } }
  for _, word in ipairs(list) do
    local key, value = parse(word)
    local values = key and overrides.split(value) or { value }
    local longer = {}
    for _, each in ipairs(all) do
      for i = 1, math.max(1, #values) do
        local new = { overrides = words.append({}, each.overrides), varied = words.append({}, each.varied) }
        new.overrides[#new.overrides + 1] = #values > 1 and key .. "=" .. values[i] or word
        if #values > 1 then new.varied[#new.varied + 1] = { key = key, value = values[i] } end
        longer[#longer + 1] = new
      end
    end
    all = longer
    if #all > MOST_VARIANTS then
      faults.raise("usage", "more than %d combinations of values are not supported", MOST_VARIANTS)
    end
  end
  return all
end

--- Returns the folder in which a command other than `build` builds a variant of a model. The same overrides, in any
--- order, have the same folder. others: texts that distinguish variants with the same overrides.
function overrides.folder(name, list, others)
  local sorted = words.append({}, list)
  table.sort(sorted)
  local label = table.concat(sorted, ","):gsub("[^%w_.,=-]+", "_"):sub(1, MOST_LABEL)
  if label == "" then label = "as_described" end
  for _, text in ipairs(others or {}) do sorted[#sorted + 1] = text end
  return ("out/%s.variants/%s-%s"):format(name, label, hash.content(table.concat(sorted, "\n")):sub(1, 10))
end

return overrides
