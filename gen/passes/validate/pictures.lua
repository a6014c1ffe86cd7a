-- pictures.lua: reads the key `pictures` of a description: how the pixels of a picture become the model's image.
-- The steps are the same as in transformers' image processors (runtime/picture/prepare.c).
local values = require("passes.validate.values")

local PLANES = 3

local pictures, read = {}, values.read

function read.planes(say, field, value)
  if type(value) ~= "table" or #value ~= PLANES then
    return say(field.key, "%s, but a list of %d numbers is allowed", values.show(value), PLANES)
  end
  return values.members(say, field.key, value, function(_, key, number)
    return read.number(say, { key = key, min = field.min, max = field.max }, number)
  end)
end

local function check_size(say, key, given)
  if (given.height == nil) ~= (given.width == nil) then
    say(key, "height and width go together")
  elseif given.height and given.shortest_edge then
    say(key, "shortest_edge does not go with height and width")
  end
  if (given.max_height == nil) ~= (given.max_width == nil) then
    say(key, "max_height and max_width go together")
  elseif given.max_height and (given.height or given.shortest_edge) then
    say(key, "max_height and max_width do not go with other sizes")
  end
  if given.longest_edge and not given.shortest_edge then say(key, "longest_edge goes with shortest_edge") end
  if given.crop and given.pad then say(key, "crop does not go with pad") end
  if given.fractions and given.filter ~= "bilinear" and given.filter ~= "bicubic" then
    say(key, "fractions goes with bilinear and bicubic")
  end
end

--- Reads the key: a table with all fields but the size's, which may be missing; false for false.
pictures.reader = values.table_reader({
  height = { type = "integer", min = 1, max = 65536 },
  width = { type = "integer", min = 1, max = 65536 },
  shortest_edge = { type = "integer", min = 1, max = 65536 },
  longest_edge = { type = "integer", min = 1, max = 65536 },
  max_height = { type = "integer", min = 1, max = 65536 },
  max_width = { type = "integer", min = 1, max = 65536 },
  filter = { type = "word", words = { "nearest", "box", "bilinear", "hamming", "bicubic", "lanczos" },
    default = "bilinear" },
  fractions = { type = "boolean", default = false },
  crop = { type = "boolean", default = false },
  pad = { type = "boolean", default = false },
  scale = { type = "number", min = 1e-9, max = 1e6, default = 1.0 },
  mean = { type = "planes", min = -1e6, max = 1e6, default = { 0.0, 0.0, 0.0 } },
  std = { type = "planes", min = 1e-6, max = 1e6, default = { 1.0, 1.0, 1.0 } },
}, "{ height = 224, width = 224 }", true, check_size)

-- Checks the key of a model that reads rows of patches.
local function check_patches(say, given, input)
  local side = math.tointeger((input.from / PLANES) ^ 0.5)
  if not side then
    say("pictures", "goes with rows of square patches of %d channels, but rows have %d numbers", PLANES, input.from)
  end
  if given.height or given.shortest_edge or given.max_height or given.crop or given.pad or given.fractions then
    say("pictures", "sizes, crop, pad and fractions do not go with patches of the whole picture")
  end
end

local function of_pictures(spec)
  local memory = spec.memory
  return memory and (spec.context or memory.joined) and memory.encoder or spec
end

--- Checks that the key fits the model's input.
function pictures.check(say, spec)
  local given, input = spec.pictures, of_pictures(spec).input
  if not given then return end
  if input.grid then return check_patches(say, given, input) end
  if input.stage ~= "image" then return say("pictures", "goes with input = image { ... }") end
  if input.channels and input.channels ~= PLANES then
    return say("pictures", "goes with %d channels, but the image has %d", PLANES, input.channels)
  end
  if not given.height or not given.width or given.crop then return end
  local is_other = given.height ~= input.height or given.width ~= input.width
  local is_larger = given.height > input.height or given.width > input.width
  if given.pad and is_larger or not given.pad and is_other then
    say("pictures", "height %d and width %d, but without crop they must be %s, %d and %d", given.height, given.width,
      given.pad and "at most the image's" or "the image's", input.height, input.width)
  end
end

return pictures
