-- pictures.lua: reads how a folder prepares pictures: preprocessor_config.json, or the image_processor of
-- processor_config.json.
-- Keys and defaults are transformers 5.23's. If a step is not supported, the model takes no pictures, and a note
-- says why: its arrays are right all the same.
local faults = require("common.faults")
local json = require("common.json")
local known = require("common.known")
local words = require("common.words")

local pictures = {}

local HALF = { 0.5, 0.5, 0.5 }
local IMAGENET_MEAN, IMAGENET_STD = { 0.485, 0.456, 0.406 }, { 0.229, 0.224, 0.225 }
local CLIP_MEAN, CLIP_STD = { 0.48145466, 0.4578275, 0.40821073 }, { 0.26862954, 0.26130258, 0.27577711 }

-- The defaults of a processor, by the beginning of its class's name. resample: the number of Pillow's filter;
-- fractions: it resizes floats; pads = false: it never pads; patches: the most patches that it makes of a picture of
-- any shape.
local bit = { resample = 3, mean = CLIP_MEAN, std = CLIP_STD, size = { shortest_edge = 224 }, crop = 224, edge = true }
local processors = {
  ViT = { resample = 2, mean = HALF, std = HALF, size = { height = 224, width = 224 } },
  DeiT = { resample = 3, mean = HALF, std = HALF, size = { height = 256, width = 256 }, crop = 224 },
  CLIP = bit, Bit = bit,
  Blip = { resample = 3, mean = CLIP_MEAN, std = CLIP_STD, size = { height = 384, width = 384 } },
  Siglip = { resample = 3, mean = HALF, std = HALF, size = { height = 224, width = 224 }, edge = true },
  DINOv3ViT = { resample = 2, mean = IMAGENET_MEAN, std = IMAGENET_STD, size = { height = 224, width = 224 },
    fractions = true },
  Siglip2 = { resample = 2, mean = HALF, std = HALF, patches = 256 },
  LayoutLMv3 = { pads = false, resample = 2, mean = HALF, std = HALF, size = { height = 224, width = 224 } },
}

-- Pillow's filters by their numbers.
local filters = { [0] = "nearest", "lanczos", "bilinear", "bicubic", "box", "hamming" }

local function is_count(value) return math.type(value) == "integer" and value >= 1 end

-- Returns the defaults of the class, and a function that returns the value of a key, or a default if it is missing; or
-- nil and what is not supported.
local function processor_of(config)
  local class = json.given(config, "image_processor_type", config.feature_extractor_type)
  if type(class) ~= "string" then return nil, "no image_processor_type" end
  local stem = class:match("^(%w-)ImageProcessor%w*$") or class:match("^(%w-)FeatureExtractor$")
  if not processors[stem] then return nil, ("image_processor_type: %s is not supported"):format(faults.quote(class)) end
  return processors[stem], function(key, default) return json.stated(config, key, default) end
end

-- The keys of a size, and those that go with each.
local SIZES = { height = "width", width = "height", longest_edge = "shortest_edge", shortest_edge = false,
  max_height = "max_width", max_width = "max_height" }

-- Returns a size { height, width }, { shortest_edge }, { shortest_edge, longest_edge } or { max_height, max_width }, or
-- nil. edge: true if a number is the shortest edge.
local function size_of(value, edge)
  if is_count(value) then return edge and { shortest_edge = value } or { height = value, width = value } end
  if type(value) ~= "table" then return nil end
  if is_count(value[1]) and is_count(value[2]) and #value == 2 then return { height = value[1], width = value[2] } end
  local sides = {}
  for name, each in pairs(value) do
    if each ~= json.null then
      if SIZES[name] == nil or not is_count(each) then return nil end
      sides[name] = each
    end
  end
  for name in pairs(sides) do if SIZES[name] and not sides[SIZES[name]] then return nil end end
  local kinds = (sides.shortest_edge and 1 or 0) + (sides.height and 1 or 0) + (sides.max_height and 1 or 0)
  return kinds == 1 and sides or nil
end

-- Returns three numbers, or nil.
local function planes_of(value)
  if type(value) == "number" then return { value, value, value } end
  if type(value) ~= "table" or #value ~= 3 then return nil end
  for i = 1, 3 do if type(value[i]) ~= "number" or value[i] ~= value[i] then return nil end end
  return { value[1], value[2], value[3] }
end

-- Returns a size as of size_of in the proportion of two images.
local function scaled(size, from, to)
  local high, wide = to[1] / from[1], to[2] / from[2]
  local result = {}
  for name, length in pairs(size) do
    local factor = name:find("height") and high or name:find("width") and wide or math.max(high, wide)
    result[name] = math.max(1, math.floor(length * factor + 0.5))
  end
  return result
end

-- Sets the filter, or returns nil and what is not supported.
local function set_filter(result, given, defaults)
  local resample = given("resample", defaults.resample)
  result.filter = filters[resample]
  if not result.filter or defaults.fractions and not result.filter:find("^bi") then
    return nil, ("resample: %s is not supported; %s are"):format(resample and tostring(resample) or "null",
      defaults.fractions and "2 and 3" or "0 to 5")
  end
  return result
end

-- Sets the steps that make patches of a picture of any shape, or returns nil and what is not supported.
local function set_patches(result, given, defaults, patch)
  if type(patch) == "table" then return nil, "image_processor_type: patches do not go with this model" end
  if not given("do_resize", true) then return nil, "do_resize: only true is supported" end
  if given("max_num_patches", 1) == false then return nil, "max_num_patches: null is not supported" end
  if given("patch_size", 16) ~= patch then return nil, "patch_size: other than the model's patch_size" end
  return set_filter(result, given, defaults)
end

-- Returns the size that a folder pads pictures to, as it is written, or a false value.
local function padded_of(given, defaults)
  return defaults.pads ~= false and given("do_pad", false) and given("pad_size")
end

-- Sets the sizes that a picture gets, or returns nil and what is not supported. As in steps_of.
local function set_sizes(result, given, defaults, sides, from)
  if type(sides) ~= "table" then return nil, "image_processor_type: other than Siglip2ImageProcessor" end
  local edge = given("default_to_square", not defaults.edge) == false
  if given("do_resize", true) then
    local size = size_of(given("size", defaults.size), edge)
    if not size then
      return nil, "size: height and width, shortest_edge, also with longest_edge, or max_height and max_width, are "
        .. "supported"
    end
    local made, reason = set_filter(result, given, defaults)
    if not made then return nil, reason end
    if from then size = scaled(size, from, sides) end
    result.fractions = defaults.fractions
    for name, length in pairs(size) do result[name] = length end
  end
  local padded = padded_of(given, defaults)
  if padded then
    local size = size_of(padded, false)
    if defaults.fractions then return nil, "do_pad: is not supported with this processor" end
    if not size or size.height ~= (from or sides)[1] or size.width ~= (from or sides)[2] then
      return nil, "pad_size: other than the model's image_size"
    end
    result.pad = true
  end
  if given("do_center_crop", defaults.crop ~= nil) then
    local size = size_of(given("crop_size", defaults.crop), false)
    local expected = from or sides
    if not size or size.height ~= expected[1] or size.width ~= expected[2] then
      return nil, "crop_size: other than the model's image_size"
    end
    result.crop, result.pad = true, nil
  elseif result.height and (result.height ~= sides[1] or result.width ~= sides[2])
    and not (result.pad and result.height <= sides[1] and result.width <= sides[2]) then
    return nil, "size: other than the model's image_size"
  end
  return result
end

-- Returns the value of `pictures` for an image of `sides` { height, width }, or nil and what is not supported. from:
-- the sides that the folder's steps are for, if the image has others. patch: the side of a patch of a model that takes
-- pictures of any shape, without sides.
local function steps_of(config, sides, from, patch)
  local defaults, given = processor_of(config)
  if not defaults then return nil, given end -- the reason
  local set, result = defaults.patches and set_patches or set_sizes, {}
  local made, reason = set(result, given, defaults, patch or sides, from)
  if not made then return nil, reason end
  if result.fractions and not given("do_rescale", true) then
    return nil, "do_rescale: only true is supported, as integers are resized otherwise"
  end
  if given("do_rescale", true) then
    result.scale = given("rescale_factor", 1 / 255)
    if type(result.scale) ~= "number" or not (result.scale >= 1e-9 and result.scale <= 1e6) then
      return nil, "rescale_factor: a number from 1e-9 to 1e6 is supported"
    end
  end
  if given("do_normalize", true) then
    result.mean, result.std = planes_of(given("image_mean", defaults.mean)), planes_of(given("image_std", defaults.std))
    if not result.mean or not result.std then return nil, "image_mean, image_std: lists of 3 numbers are supported" end
    for i = 1, 3 do
      if not (math.abs(result.mean[i]) <= 1e6 and result.std[i] >= 1e-6 and result.std[i] <= 1e6) then
        return nil, "image_mean, image_std: numbers up to 1e6 are supported, and deviations from 1e-6 on"
      end
    end
  end
  return result
end

--- Returns height and width of the pictures that a folder's processor gives to the model, or nil if it does not say.
function pictures.sides(preprocessor)
  if not preprocessor then return nil end
  local defaults, given = processor_of(preprocessor.config)
  if not defaults then return nil end
  local size
  if given("do_center_crop", defaults.crop ~= nil) then
    size = size_of(given("crop_size", defaults.crop), false)
  elseif padded_of(given, defaults) then
    size = size_of(padded_of(given, defaults), false)
  elseif given("do_resize", true) then
    size = size_of(given("size", defaults.size), given("default_to_square", not defaults.edge) == false)
  end
  return size and size.height and { size.height, size.width } or nil
end

--- Returns the most patches that a folder's processor makes of a picture of any shape.
function pictures.patches(preprocessor)
  local most = preprocessor and json.given(preprocessor.config, "max_num_patches")
  return is_count(most) and math.min(most, 32768) or processors.Siglip2.patches
end

local NO_PICTURES = ": the model takes arrays, and no pictures"

--- True if a note says that the folder gives no pictures.
function pictures.is_note(note) return note:sub(-#NO_PICTURES) == NO_PICTURES end

--- Returns the value of the key `pictures` of a description, or nil. preprocessor: { file, config } of the folder, or
--- nil; sides: height and width of the model's image; notes: a list that lines for the user are added to; from: the
--- sides that the folder states, if the model's image has others. Pictures are then resized in the same proportion.
--- patch: the side of a patch of a model that takes pictures of any shape, without sides.
function pictures.of(preprocessor, sides, notes, from, patch)
  return known.read(preprocessor, "preprocessor_config.json", notes, NO_PICTURES, function(config)
    return steps_of(config, sides, from, patch)
  end)
end

--- Returns the stage of rows of patches that come in, and sets what import.lua has of the inputs and of pictures.
function pictures.rows(import)
  local f = import.facts
  import.inputs = { features = "pixel_values", shapes = "spatial_shapes" }
  import.pictures = pictures.of(import.folder.preprocessor, nil, import.notes, nil, f.patch[1])
  return { stage = "linear", from = f.features, grid = f.grid }
end

--- Decides the size of the image: the one that is asked for, or that of the processor in families whose models take any
--- size, or that of the configuration. If it is another one than the configuration's, positions are interpolated.
--- asked: { height, width } or nil.
function pictures.set_size(self, asked)
  local f, rule = self.facts, self.family.image
  if rule.features then f.channels, f.image = 1, { f[rule.features[1]], f[rule.features[2]] } end
  local usual = rule.any_size and pictures.sides(self.folder.preprocessor) or f.image
  f.sides = { asked and asked.height or usual[1], asked and asked.width or usual[2] }
  if f.sides[1] ~= usual[1] or f.sides[2] ~= usual[2] then f.resized_from = usual end
  local rows, columns = f.image[1] // f.patch[1], f.image[2] // f.patch[2]
  local is_same = f.sides[1] == f.image[1] and f.sides[2] == f.image[2] and (rows == columns or not rule.any_size)
  if is_same and not f.registers or not rule.positions then return end
  local side = math.tointeger((rows * columns) ^ 0.5) -- transformers takes every table as that of a square
  if not side then
    faults.raise("usage", "config.json: image_size: %d x %d patches, but positions are interpolated from the square of "
      .. "a number of patches", rows, columns)
  end
  local names = words.map(self.family.prefixes, function(prefix) return prefix .. rule.positions end)
  names[#names + 1] = rule.other_positions
  names.grid = { side, side }
  names.tokens = rule.position_tokens
  names.smooth = (rule.smooth or {})[f.model_type]
  self.names["input.positions.weight"] = names
end

return pictures
