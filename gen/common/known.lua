-- known.lua: looks the keys of a checkpoint's files up in the table of file_keys.lua.
-- A key that it does not list gets a line; so does one whose value is not supported, or that value is refused.
local faults = require("common.faults")
local file_keys = require("common.file_keys")
local json = require("common.json")
local words = require("common.words")

local known = {}

local MOST_LINES = 20 -- about unknown keys of one object

local made = {} -- the sections that were looked at, by their names

function known.names() return words.sorted_keys(file_keys) end

--- Returns a section: key -> { state = "read", "without effect", "refused" or "told", why, allowed }. Its field
--- `patterns` has the patterns of keys with *, as { pattern, key }. A section that the table lacks is empty.
function known.section(name)
  if made[name] then return made[name].keys, made[name].patterns end
  local given, keys, patterns = file_keys[name] or {}, {}, {}
  local function add(list, state, why)
    for key in list:gmatch("%S+") do keys[key] = { state = state, why = why } end
  end
  add(given.read or "", "read")
  for why, list in pairs(given.without or {}) do add(list, "without effect", why) end
  for _, state in ipairs { "refused", "told" } do
    for why, rules in pairs(given[state] or {}) do
      for key, allowed in pairs(rules) do keys[key] = { state = state, why = why, allowed = allowed } end
    end
  end
  for key, entry in pairs(keys) do
    if key:find("*", 1, true) then
      patterns[#patterns + 1] = { "^" .. key:gsub("%p", "%%%0"):gsub("%%%*", ".*") .. "$", entry }
    end
  end
  made[name] = { keys = keys, patterns = patterns }
  return keys, patterns
end

--- Returns the entry of a key in the first of the sections that has it, or nil. A section is a name, or a set of keys.
function known.entry(key, sections)
  for _, section in ipairs(sections) do
    if type(section) == "table" then
      if section[key] then return { state = "read" } end
    else
      local keys, patterns = known.section(section)
      local entry = keys[key]
      for i = 1, entry and 0 or #patterns do if key:find(patterns[i][1]) then entry = patterns[i][2] end end
      if entry then return entry end
    end
  end
  return nil
end

local function allows(entry, value)
  if not entry.allowed or value == json.null or type(value) == "table" and next(value) == nil then return true end
  return words.any(entry.allowed, function(each) return each == value end)
end

--- Looks at the keys of an object. place: what its lines begin with, such as a file's name; sections: see known.entry;
--- notes: a list that lines are added to; listed: a function of a key, which returns it as the table has it, or nil;
--- refuse: called with a line for a value that is refused. Faults: usage, without `refuse`.
function known.check(object, place, sections, notes, listed, refuse)
  local unknown = {}
  for _, key in ipairs(json.kind(object) == "object" and words.sorted_keys(object) or {}) do
    local value, entry = object[key], known.entry(listed and listed(key) or key, sections)
    if not entry then
      unknown[#unknown + 1] = key
    elseif not allows(entry, value) then
      if entry.state == "told" then
        notes[#notes + 1] = ("%s: %s: %s"):format(place, key, entry.why)
      else
        local shown = type(value) ~= "table" and json.shown(value) or entry.why == "" and "this list"
        local said = shown and { shown .. " is not supported" } or {}
        if entry.why ~= "" then said[#said + 1] = entry.why end
        local line = ("%s: %s: %s"):format(place, key, table.concat(said, ": "))
        if refuse then refuse(line) else faults.raise("usage", line) end
      end
    end
  end
  local by = (file_keys[sections[#sections]] or {}).by or "transformers"
  for i = 1, math.min(#unknown, MOST_LINES) do
    notes[#notes + 1] = ("%s: %s: not known: results may differ from %s'%s"):format(place, faults.quote(unknown[i]), by,
      by:sub(-1) == "s" and "" or "s")
  end
  if #unknown > MOST_LINES then
    notes[#notes + 1] = ("%s: %d more keys are not known"):format(place, #unknown - MOST_LINES)
  end
end

--- Returns make(config) of a folder's preprocessor, { file, config } or nil; or nil, with a note that ends with
--- `without`: the file is missing, has a value that is refused, or make returned nil and why.
function known.read(preprocessor, section, notes, without, make)
  local said, refused = {}, nil
  local function refuse(line) refused = refused or line end
  if preprocessor then
    local result, problem = make(preprocessor.config)
    if problem then refuse(("%s: %s"):format(preprocessor.file, problem)) end
    known.check(preprocessor.config, preprocessor.file, { section }, said, nil, refuse)
    if not refused then
      words.append(notes, said)
      return result
    end
  end
  notes[#notes + 1] = (refused or "preprocessor_config.json: missing") .. without
  return nil
end

return known
