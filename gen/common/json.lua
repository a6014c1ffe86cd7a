-- json.lua: reads JSON from untrusted files strictly.
-- A scan comes first. It refuses anything beyond RFC 8259, a key that occurs twice, and more depth or bytes than a
-- checkpoint's files have. Then dkjson reads the text.
local dkjson = require("dkjson")
local faults = require("common.faults")

local json = {}

local DEEPEST, MOST_BYTES = 64, 256 << 20

-- dkjson is twice as fast with lpeg, and works without it.
local has_lpeg, with_lpeg = pcall(dkjson.use_lpeg)
local decode = has_lpeg and with_lpeg.decode or dkjson.decode

--- A value for null, for readers that distinguish null from a missing value.
json.null = setmetatable({}, { __tostring = function() return "null" end })

local Reader = {}
Reader.__index = Reader

function Reader:refuse(what) error({ json = ("byte %d: %s"):format(self.at, what) }, 0) end

function Reader:skip_space() self.at = self.text:find("[^ \t\n\r]", self.at) or #self.text + 1 end

-- Returns the position after a \u escape whose four digits begin at `at`, or nil if they are not digits. A character
-- may take two such escapes, a surrogate pair. Half of a pair is refused.
function Reader:unit(at)
  local digits = self.text:match("^%x%x%x%x", at)
  if not digits then return nil end
  local is_whole = not digits:match("^[dD][89abAB]") or self.text:match("^\\u[dD][c-fC-F]%x%x", at + 4)
  if not is_whole or digits:match("^[dD][c-fC-F]") then
    self.at = at - 2
    self:refuse(("\\u%s is a surrogate without its other half"):format(digits))
  end
  return at + (digits:match("^[dD][89abAB]") and 10 or 4)
end

-- Reads a string. Returns the text between its quotes, with its escapes.
function Reader:string()
  if self.text:sub(self.at, self.at) ~= '"' then self:refuse("a string is expected") end
  local from = self.at + 1
  local at = from
  while true do
    local stop = self.text:find('["\\%c]', at)
    local c = stop and self.text:sub(stop, stop)
    if not stop then self:refuse("a string does not end") end
    if c == '"' then
      self.at = stop + 1
      return self.text:sub(from, stop - 1)
    elseif c == "\\" then
      local escape = self.text:match('^["\\/bfnrt]()', stop + 1)
        or self.text:sub(stop + 1, stop + 1) == "u" and self:unit(stop + 2)
      if not escape then self:refuse("an unknown escape in a string") end
      at = escape
    elseif c == "\127" then
      at = stop + 1
    else
      self:refuse("a control character in a string")
    end
  end
end

function Reader:plain()
  local text, at = self.text, self.at
  if text:sub(at, at) == '"' then return self:string() end
  for _, word in ipairs { "true", "false", "null" } do
    if text:sub(at, at + #word - 1) == word then
      self.at = at + #word
      return nil
    end
  end
  local stop = text:match("^%-?0()", at) or text:match("^%-?[1-9]%d*()", at)
  if not stop then self:refuse("a value is expected") end
  stop = text:match("^%.%d+()", stop) or stop
  self.at = text:match("^[eE][+-]?%d+()", stop) or stop
  if text:find("^[%w.+-]", self.at) then self:refuse("a malformed number") end
end

-- Reads up to the next member, and in an object also its key. Returns 1 if a member follows.
function Reader:member(level)
  self:skip_space()
  local c = self.text:sub(self.at, self.at)
  if c == level.closing then
    self.at = self.at + 1
    return false
  end
  if level.members > 0 then
    if c ~= "," then self:refuse(("',' or '%s' is expected"):format(level.closing)) end
    self.at = self.at + 1
    self:skip_space()
  end
  level.members = level.members + 1
  if level.closing == "}" then
    local key = self:string()
    if key:find("\\", 1, true) then key = dkjson.decode('"' .. key .. '"') end
    if level.keys[key] then self:refuse(("the key \"%s\" occurs twice"):format(key:sub(1, 60):gsub("%c", "?"))) end
    level.keys[key] = true
    self:skip_space()
    if self.text:sub(self.at, self.at) ~= ":" then self:refuse("':' is expected") end
    self.at = self.at + 1
  end
  return true
end

-- Patterns of the members that most of a large file consists of: a plain string and a number in an object, a plain
-- string in a list. Each follows another member.
local plain_members = {
  ["}"] = '^[ \t\n\r]*,[ \t\n\r]*"([^"\\%c]*)"[ \t\n\r]*:[ \t\n\r]*[1-9]%d*()[ \t\n\r]*[,}]',
  ["]"] = '^[ \t\n\r]*,[ \t\n\r]*"([^"\\%c]*)"()',
}

-- Skips such members. `member` and `plain` read the others.
function Reader:skip_plain(level)
  local pattern, keys = plain_members[level.closing], level.closing == "}" and level.keys
  while level.members > 0 do
    local text, after = self.text:match(pattern, self.at)
    if not text or keys and keys[text] then return end
    if keys then keys[text] = true end
    self.at = after
  end
end

function Reader:look_through()
  local levels = {}
  repeat
    local level = levels[#levels]
    if level then self:skip_plain(level) end
    if level and not self:member(level) then
      levels[#levels] = nil
    else
      self:skip_space()
      local c = self.text:sub(self.at, self.at)
      if c == "{" or c == "[" then
        if #levels == DEEPEST then self:refuse(("nests deeper than %d levels"):format(DEEPEST)) end
        self.at = self.at + 1
        levels[#levels + 1] = { closing = c == "{" and "}" or "]", members = 0, keys = {} }
      else
        local at = self.at
        self:plain()
        if not self.null and level and level.closing == "]" and self.text:sub(at, at) == "n" then
          self.at = at
          self:refuse("null in an array, which is not supported")
        end
      end
    end
  until #levels == 0
  self:skip_space()
  if self.at <= #self.text then self:refuse("nothing more is expected") end
end

--- Returns the value of a text, or nil and a message. The value consists of tables, strings, numbers and booleans.
--- null becomes the given value; without one, it is left out of objects, and an array may not have it.
function json.decode(text, null)
  if #text > MOST_BYTES then return nil, ("has more than %d MiB"):format(MOST_BYTES >> 20) end
  if not utf8.len(text) then return nil, "is not UTF-8" end
  if text:find("^\xef\xbb\xbf") then return nil, "begins with a byte order mark, which JSON does not have" end
  local ok, value = pcall(function()
    setmetatable({ text = text, at = 1, null = null }, Reader):look_through()
    return (decode(text, 1, null))
  end)
  if ok and value == nil then return nil, "null, where a value is expected" end
  if ok then return value end
  if type(value) == "table" and value.json then return nil, value.json end
  error(value, 0)
end

--- Returns the kind that a value had in its text: "object", "array", or Lua's type.
function json.kind(value)
  if type(value) ~= "table" then return type(value) end
  local meta = getmetatable(value)
  return meta and meta.__jsontype or (#value > 0 and "array" or "object")
end

--- Return a table as a value of the kind "object", or "array".
function json.object(value) return setmetatable(value, { __jsontype = "object" }) end
function json.array(value) return setmetatable(value, { __jsontype = "array" }) end

--- Returns the member of an object, or the default if it is missing or null.
function json.given(object, key, default)
  local value = object[key]
  if value == nil or value == json.null then return default end
  return value
end

--- Returns the value of a key, or `default` only if it is missing: null is false. So transformers' classes that prepare
--- pictures and sounds take it.
function json.stated(object, key, default)
  local value = object[key]
  if value == nil then return default end
  return value ~= json.null and value
end

--- True for an array of strings, also an empty one.
function json.is_texts(value)
  if json.kind(value) ~= "array" then return false end
  for _, each in ipairs(value) do if type(each) ~= "string" then return false end end
  return true
end

--- Returns a value as a message names it: a string in quotes, "an array", "an object".
function json.shown(value)
  if value == json.null or type(value) ~= "table" then
    return type(value) == "string" and faults.quote(value) or tostring(value)
  end
  return "an " .. json.kind(value)
end

return json
