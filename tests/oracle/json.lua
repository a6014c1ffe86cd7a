-- json.lua: prints descriptions as JSON, a line a file, for the definition that is not written in Lua. Lists with
-- keys beside their items, which only masks are, come out flat: the items as the list, the keys beside "mask".
package.path = arg[0]:gsub("[^/]*$", "") .. "../../gen/?.lua;" .. package.path

local describe = require("passes.describe")
local words = require("common.words")

local function json(value)
  if type(value) == "string" then return '"' .. value:gsub('[%c"\\]', "?") .. '"' end
  if type(value) ~= "table" then return math.type(value) == "float" and ("%.17g"):format(value) or tostring(value) end
  local parts = {}
  if #value > 0 then
    for _, item in ipairs(value) do parts[#parts + 1] = json(item) end
    return "[" .. table.concat(parts, ",") .. "]"
  end
  for _, key in ipairs(words.sorted_keys(value)) do parts[#parts + 1] = json(key) .. ":" .. json(value[key]) end
  return "{" .. table.concat(parts, ",") .. "}"
end

local function flatten(description)
  local mask = description.mask
  if type(mask) == "table" then
    for _, bound in ipairs { "window", "prefix" } do
      if mask[bound] ~= nil then
        description[bound] = mask[bound]
        mask[#mask + 1], mask[bound] = bound, nil
      end
    end
  end
  local window = description.window
  if window then description.window = { window[1] or window.left, window[2] or window.right } end
  if type(description.memory) == "table" then flatten(description.memory) end
  return description
end

for _, file in ipairs(arg) do
  local state = { file = file, overrides = {} }
  describe.run(state)
  io.write(json(flatten(state.description)), "\n")
end
