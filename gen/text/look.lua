-- look.lua: reads the members of a JSON value and collects all their faults.
-- Each reader adds a line with the path, the value and what is allowed, and goes on, so that all faults are reported at
-- once.
local common_words = require("common.words")
local faults = require("common.faults")
local json = require("common.json")

local Look = {}
Look.__index = Look

local MOST_FAULTS = 20

--- Returns a reader. file: the file's name in messages.
local function new(file) return setmetatable({ file = file, lines = {}, warnings = {} }, Look) end

function Look:fault(path, what)
  if #self.lines >= MOST_FAULTS then return end
  self.lines[#self.lines + 1] = ("%s: %s: %s"):format(self.file, path, what:gsub("[%c\128-\255]", "?"):sub(1, 400))
end

function Look:warn(what) self.warnings[#self.warnings + 1] = ("%s: warning: %s"):format(self.file, what) end

--- Raises the faults that were found, if any.
function Look:settle() if #self.lines > 0 then faults.raise("format", self.lines) end end

local function said(value)
  if value == nil then return "nothing" end
  if type(value) == "table" then return "an " .. json.kind(value) end
  if type(value) == "string" then return faults.quote(value) end
  return tostring(value)
end

local function expect(kind, words, fits)
  Look[kind] = function(self, object, path, key, default)
    local value = object[key]
    if value == nil and default ~= nil then return default end
    if fits(value) then return value end
    self:fault(path .. "." .. key, ("%s; %s is expected"):format(said(value), words))
    return nil
  end
end

expect("boolean", "true or false", function(value) return type(value) == "boolean" end)
expect("text", "a string", function(value) return type(value) == "string" and utf8.len(value) ~= nil end)
expect("count", "a whole number, 0 to 4294967294", function(value)
  return math.type(value) == "integer" and value >= 0 and value < 0xffffffff
end)
expect("array", "an array", function(value)
  return json.kind(value) == "array" or type(value) == "table" and not next(value)
end)
expect("texts", "an array of strings", json.is_texts)
expect("object", "an object", function(value) return json.kind(value) == "object" end)

--- Returns a string, or nil for null.
function Look:maybe_text(object, path, key)
  if object[key] == nil then return nil end
  return self:text(object, path, key)
end

--- Returns the value that a table gives for the member's word. A word that is not in the table is a fault.
function Look:choice(object, path, key, choices, default)
  local value = object[key]
  if value == nil then value = default end
  if type(value) == "string" and choices[value] then return choices[value] end
  self:fault(path .. "." .. key, ("%s is not supported; supported: %s"):format(said(value),
    table.concat(common_words.sorted_keys(choices), ", ")))
  return nil
end

return { new = new }
