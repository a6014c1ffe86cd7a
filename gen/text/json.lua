-- json.lua: JSON from strangers, by dkjson: within a size, without a traceback, nothing behind it. null is nil.
local json = {}

local MOST_BYTES = 256 * 1024 * 1024

local function load_dkjson()
  local dkjson = require("dkjson")
  -- With lpeg it is twice as fast; it works without.
  local ok, faster = pcall(dkjson.use_lpeg)
  return ok and faster or dkjson
end

--- The value of a text; nil and what is wrong with it.
function json.decode(text)
  if #text > MOST_BYTES then return nil, "is larger than 256 MB" end
  if not utf8.len(text) then return nil, "is not UTF-8" end
  local ok, value, after, problem = pcall(load_dkjson().decode, text)
  if not ok then return nil, "is no JSON that can be read: nested too deeply" end
  if problem or value == nil then
    local reason = tostring(problem or "nothing in it"):gsub("[%c\128-\255]", "?")
    return nil, "is no JSON: " .. reason
  end
  if type(after) == "number" and text:find("[^ \t\r\n]", after) then
    return nil, "is no JSON: there is more behind it"
  end
  return value
end

--- "object", "array", or Lua's type.
function json.kind(value)
  if type(value) ~= "table" then return type(value) end
  local meta = getmetatable(value)
  return meta and meta.__jsontype or (#value > 0 and "array" or "object")
end

return json
