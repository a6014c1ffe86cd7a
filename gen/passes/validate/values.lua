-- values.lua: reads single values of a description, and tables of fields, for the readers of its keys (readers.lua).
local faults = require("common.faults")
local hints = require("data.hints")
local reserved = require("data.reserved")
local words = require("common.words")

local values = {}

--- Readers by type: read[type](say, field, value); see readers.lua, which has more of them.
local read = {}
values.read = read

local function show(value)
  if type(value) == "string" then return faults.quote(value) end
  if type(value) == "number" or type(value) == "boolean" then return tostring(value) end
  if value == nil then return "nothing" end
  return "a " .. type(value)
end

--- Returns words as a message lists them.
function values.one_of(list)
  if #list == 1 then return list[1] end
  return table.concat(list, ", ", 1, #list - 1) .. " or " .. list[#list]
end

--- Returns " (did you mean X?)" for a word that `known` has or a candidate resembles, else "". known: a table of
--- data.hints, or nil. The result is also "" once `say` records no more lines: a description may hold a thousand
--- unknown keys, and finding the nearest word takes long.
local function suggestion(say, word, candidates, known)
  if type(word) ~= "string" or not say() then return "" end
  local hint = known and hints.text(known, word)
  if hint then return hint end
  local near = words.nearest(word, candidates)
  return near and (" (did you mean " .. near .. "?)") or ""
end

function read.integer(say, field, value)
  local n = math.type(value) == "float" and math.tointeger(value) or value
  if math.type(n) ~= "integer" or n < field.min or n > field.max then
    return say(field.key, "%s, but an integer from %d to %d is allowed%s", show(value), field.min, field.max,
      type(value) == "string" and hints.text(hints.values[field.key] or {}, value) or "")
  end
  return n
end

function read.number(say, field, value)
  if type(value) ~= "number" or value ~= value or value < field.min or value > field.max then
    return say(field.key, "%s, but a number from %g to %g is allowed", show(value), field.min, field.max)
  end
  return value + 0.0
end

function read.boolean(say, field, value)
  if type(value) ~= "boolean" then return say(field.key, show(value) .. ", but true or false is allowed") end
  return value
end

function read.word(say, field, value)
  if type(value) == "string" then
    for _, word in ipairs(field.words) do if word == value then return value end end
  end
  return say(field.key, "%s, but %s is allowed%s", show(value), values.one_of(field.words),
    suggestion(say, value == true and "true" or value, field.words, hints.values[field.key]))
end

read.target = read.word -- one target; targets_of.lua reads lists

function read.name(say, field, value)
  local is_name = type(value) == "string" and #value <= 40 and value:match("^[a-z][a-z0-9_]*$")
  if not is_name or (field.of_model and reserved.keywords[value]) then
    return say(field.key, "%s, but a name is 1 to 40 of a-z, 0-9 and _, begins with a letter%s", show(value),
      field.of_model and " and is not a word of C or C++" or "")
  end
  if field.of_model and reserved.of_model(value) then
    return say(field.key,
      show(value) .. ", but that is the name of a header, of a library or of functions that programs are built with")
  end
  return value
end

function read.path(say, field, value)
  if value == false then return false end
  if type(value) == "string" and value ~= "" and #value < 4096 and not value:find("%z") then return value end
  return say(field.key, show(value) .. ", but a path or false is allowed")
end

local MOST_TEXT = 10000 -- bytes

function read.text(say, field, value)
  if type(value) == "string" and #value <= MOST_TEXT and utf8.len(value) and not value:find("%z") then
    return value ~= "" and value or nil
  end
  return say(field.key, "%s, but a text of at most %d bytes without NUL is allowed", show(value), MOST_TEXT)
end

--- As read.text, with the empty text.
function read.any_text(say, field, value) return value == "" and "" or read.text(say, field, value) end

--- True if a table is a list without holes; reports a fault otherwise.
function values.is_list(say, key, value, what)
  local count, first, last = 0, 1, 0
  for each in pairs(value) do
    if math.type(each) ~= "integer" then return say(key, "a list of %s has no key %s", what, show(each)) end
    count, first, last = count + 1, math.min(first, each), math.max(last, each)
  end
  if first ~= 1 or last ~= count then return say(key, "the list of %s has holes", what) end
  return true
end

--- Returns a table's fields, each read by its type: { type, required, default, meaning, .. } by name; other fields are
--- faults. of: what the table describes, for messages, or nil; known: as of suggestion.
function values.fields(say, key, value, fields, of, known)
  local names, result = words.sorted_keys(fields), {}
  for _, name in ipairs(words.sorted_keys(words.merged(fields, value))) do
    local field, own = fields[name], ("%s.%s"):format(key, name)
    if not field then
      say(key, "%sno field %s%s", of and of .. " has " or "", show(name), suggestion(say, name, names, known))
    elseif value[name] ~= nil then
      result[name] = read[field.type](say, words.merged(field, { key = own }), value[name])
    elseif field.required then
      say(own, "missing" .. (field.meaning and ": " .. field.meaning or ""))
    else
      result[name] = field.default
    end
  end
  return result
end

--- Returns the reader of a key that is a table of fields, or false if `optional`. example: such a table
--- check: nil, or check(say, key, result) reports what the fields say of each other
function values.table_reader(fields, example, optional, check)
  return function(say, field, value)
    if value == false and optional then return false end
    if type(value) ~= "table" then
      return say(field.key, "%s, but %sa table such as %s is allowed", show(value), optional and "false or " or "",
        example)
    end
    local result = values.fields(say, field.key, value, fields)
    if check then check(say, field.key, result) end
    return result
  end
end

--- Returns the members of a list, each read by read_one(say, key, member), or nil after a fault.
function values.members(say, key, list, read_one)
  local result = words.map(list, function(member, i) return read_one(say, ("%s.%d"):format(key, i), member) end)
  return #result == #list and result or nil
end

--- Reads a word for all parts of a model, or a table of words by part: { all = a word, by_part = part -> word }.
--- of: { words, none = the word of parts without one, is_part, parts = the parts as messages name them, note = what
--- messages say of these, words_of = part -> its words, if they are others }
function values.by_part(say, field, value, of)
  local function word(key, each, list) return read.word(say, { key = key, words = list or of.words }, each) end
  if type(value) ~= "table" then
    local all = word(field.key, value)
    return all and { all = all, by_part = {} }
  end
  local result = { all = of.none, by_part = {} }
  for _, key in ipairs(words.sorted_keys(value)) do
    if key == 1 then
      result.all = word(field.key, value[key])
    elseif type(key) ~= "string" or not of.is_part(key) then
      say(field.key, "no part %s; the parts are %s%s%s", show(key), values.one_of(of.parts), of.note or "",
        suggestion(say, key, of.parts))
    else
      result.by_part[key] = word(field.key .. "." .. key, value[key], of.words_of and of.words_of[key])
    end
  end
  return result.all and result
end

values.show, values.suggestion = show, suggestion

return values
