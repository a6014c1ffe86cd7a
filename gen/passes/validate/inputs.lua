-- inputs.lua: reads the key `inputs` of a description: names of inputs in C, in files and in messages.
-- They replace the names that attn2c gives.
local masks = require("data.masks")
local values = require("passes.validate.values")
local words = require("common.words")

local known = { "ids", "token_types", "boxes", "shapes", "lengths", "image", "hidden", "features", "query", "key",
  "value", "memory", "memory_lengths", "memory_key_padding", "head_mask", "pool_mask", "marks", "rows", "source_ids",
  "source_token_types", "source_boxes", "source_shapes", "source_lengths",
  "source_image", "source_hidden", "source_features" }
table.move(masks.members, 1, #masks.members, #known + 1, known)

return function(say, field, value)
  if type(value) ~= "table" then
    return say(field.key, values.show(value) .. ", but a table such as { ids = \"input_ids\" } is allowed")
  end
  local result, taken, set = {}, {}, words.set(known)
  for _, name in ipairs(words.sorted_keys(value)) do
    local key = field.key .. "." .. tostring(name):gsub("%c", "?"):sub(1, 60)
    if not set[name] then
      say(field.key, "no input is called %s%s", values.show(name), values.suggestion(say, name, known))
    else
      local member = values.read.name(say, { key = key }, value[name])
      if member and (taken[member] or (set[member] and value[member] == nil and member ~= name)) then
        say(key, values.show(member) .. " is the name of another input, too")
      end
      if member then taken[member], result[name] = true, member end
    end
  end
  return result
end
