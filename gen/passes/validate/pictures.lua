-- pictures.lua: reads the key `pictures` of a description: how the pixels of a picture become the model's image.
-- The steps are the same as in transformers' image processors (runtime/picture/prepare.c).
local words = require("common.words")

local PLANES = 3

-- Fields: a type of readers, and what restricts its value.
local fields = {
  height = { "integer", min = 1, max = 65536 },
  width = { "integer", min = 1, max = 65536 },
  shortest_edge = { "integer", min = 1, max = 65536 },
  filter = { "word", words = { "bilinear", "bicubic" }, default = "bilinear" },
  crop = { "boolean", default = false },
  scale = { "number", min = 1e-9, max = 1e6, default = 1.0 },
  mean = { "planes", min = -1e6, max = 1e6, default = { 0.0, 0.0, 0.0 } },
  std = { "planes", min = 1e-6, max = 1e6, default = { 1.0, 1.0, 1.0 } },
}

local pictures = {}

--- Returns the reader of the key: a table with all fields but the size's, which may be missing; false for false.
function pictures.reader(tools, read)
  local function read_planes(say, field, value)
    if type(value) ~= "table" or #value ~= PLANES then
      return say(field.key, ("%s, but a list of %d numbers is allowed"):format(tools.show(value), PLANES))
    end
    local list = {}
    for i = 1, PLANES do
      list[i] = read.number(say, { key = ("%s.%d"):format(field.key, i), min = field.min, max = field.max }, value[i])
    end
    return #list == PLANES and list or nil
  end

  return function(say, field, value)
    if value == false then return false end
    if type(value) ~= "table" then
      return say(field.key, tools.show(value)
        .. ", but false or a table such as { height = 224, width = 224 } is allowed")
    end
    local names, result = words.sorted_keys(fields), {}
    for name, declared in pairs(fields) do result[name] = declared.default end
    for _, name in ipairs(words.sorted_keys(value)) do
      local declared = fields[name]
      if not declared then
        say(field.key, ("no field %s%s"):format(tools.show(name), tools.suggestion(say, name, names)))
      else
        local reader = declared[1] == "planes" and read_planes or read[declared[1]]
        result[name] = reader(say, { key = field.key .. "." .. name, min = declared.min, max = declared.max,
          words = declared.words }, value[name])
      end
    end
    if (result.height == nil) ~= (result.width == nil) then
      say(field.key, "height and width go together")
    elseif result.height and result.shortest_edge then
      say(field.key, "shortest_edge does not go with height and width")
    end
    return result
  end
end

--- Checks that the key fits the model's input.
function pictures.check(say, spec)
  local given, input = spec.pictures, (spec.context and spec.memory and spec.memory.encoder or spec).input
  if not given then return end
  if input.stage ~= "image" then return say("pictures", "goes with input = image { ... }") end
  if input.channels ~= PLANES then
    return say("pictures", ("goes with %d channels, but the image has %d"):format(PLANES, input.channels))
  end
  local is_other = given.height ~= input.height or given.width ~= input.width
  if given.height and given.width and not given.crop and is_other then
    say("pictures", ("height %d and width %d, but without crop they must be the image's, %d and %d"):format(
      given.height, given.width, input.height, input.width))
  end
end

return pictures
