-- json.lua: reads JSON from untrusted files strictly.
-- A scan comes first. It refuses anything beyond RFC 8259, a key that occurs twice, and more depth or bytes than a
-- checkpoint's files have. Then dkjson reads the text.
local dkjson = require("dkjson")
local faults = require("common.faults")
local lpeg = require("lpeg")

local json = {}

local DEEPEST, MOST_BYTES = 64, 256 << 20
local C, Carg, Cmt, P, R, S, V = lpeg.C, lpeg.Carg, lpeg.Cmt, lpeg.P, lpeg.R, lpeg.S, lpeg.V

lpeg.setmaxstack(64 * DEEPEST)
local decode = dkjson.use_lpeg().decode -- in half of the time

--- A value for null, for readers that distinguish null from a missing value.
json.null = setmetatable({}, { __tostring = function() return "null" end })

local function refuse_at(at, what) error({ json = ("byte %d: %s"):format(at, what) }, 0) end

-- Returns a pattern that refuses a text at the place where it is.
local function refuse(what) return P(function(_, at) refuse_at(at, what) end) end

-- A character may take two \u escapes, a surrogate pair. Half of a pair is refused.
local hex = R("09", "af", "AF")
local high, low = S "dD" * S "89abAB" * hex * hex, S "dD" * R("cf", "CF") * hex * hex
local unit = hex * hex * hex * hex
local escape = "\\" * (S '"\\/bfnrt' + "u" * (high * "\\u" * low + (unit - (high + low))))
local inside = (1 - (S '"\\' + R "\0\31") + escape) ^ 0
local string_ = '"' * inside * '"'

-- Says why a text that begins with a quote is no string.
local no_string = P(function(text, at)
  local stop = lpeg.match('"' * inside, text, at)
  local half, letter = lpeg.match("\\u" * C(unit), text, stop), text:sub(stop, stop)
  if half then refuse_at(stop, ("\\u%s is a surrogate without its other half"):format(half)) end
  refuse_at(at, letter == "" and "a string does not end" or letter == "\\" and "an unknown escape in a string"
    or "a control character in a string")
end)

local digits = R "09" ^ 1
local number = P "-" ^ -1 * ("0" + R "19" * R "09" ^ 0) * ("." * digits) ^ -1 * (S "eE" * S "+-" ^ -1 * digits) ^ -1
  * (#(R("az", "AZ", "09") + S ".+-") * refuse("a malformed number") + true)

-- The argument of the grammar has a set of keys for each level that is open, and `null`, the value for it or nil.
local level = Cmt(Carg(1), function(_, at, levels)
  if #levels == DEEPEST then refuse_at(at, ("nests deeper than %d levels"):format(DEEPEST)) end
  levels[#levels + 1] = {}
  return true
end)
local end_level = Cmt(Carg(1), function(_, _, levels) return table.remove(levels) ~= nil end)

local member_key = Cmt('"' * C(inside) * '"' * Carg(1), function(_, at, name, levels)
  local keys = levels[#levels]
  if name:find("\\", 1, true) then name = dkjson.decode('"' .. name .. '"') end
  if keys[name] then refuse_at(at, ("the key \"%s\" occurs twice"):format(name:sub(1, 60):gsub("%c", "?"))) end
  keys[name] = true
  return true
end) + #P '"' * no_string + refuse("a string is expected")

local null_in_array = Cmt("null" * Carg(1), function(_, at, levels)
  return levels.null ~= nil or refuse_at(at - #"null", "null in an array, which is not supported")
end)

local space = S " \t\n\r" ^ 0

-- Returns the pattern of an object or array.
local function list(opening, closing, member)
  return #P(opening) * level * opening * space * (closing + member * space * ("," * space * member * space) ^ 0
    * (closing + refuse(("',' or '%s' is expected"):format(closing)))) * end_level
end

local grammar = P { space * V "value" * space * (-P(1) + refuse("nothing more is expected")),
  value = string_ + number + V "object" + V "array" + P "true" + "false" + "null" + #P '"' * no_string
    + refuse("a value is expected"),
  object = list("{", "}", member_key * space * (":" + refuse("':' is expected")) * space * V "value"),
  array = list("[", "]", null_in_array + V "value"),
}

--- Returns the value of a text, or nil and a message. The value consists of tables, strings, numbers and booleans.
--- null becomes the given value; without one, it is left out of objects, and an array may not have it.
function json.decode(text, null)
  if #text > MOST_BYTES then return nil, ("has more than %d MiB"):format(MOST_BYTES >> 20) end
  if not utf8.len(text) then return nil, "is not UTF-8" end
  if text:find("^\xef\xbb\xbf") then return nil, "begins with a byte order mark, which JSON does not have" end
  local ok, value = pcall(function()
    grammar:match(text, 1, { null = null })
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
