-- pictures_spec.lua: preprocessor_config.json becomes the key `pictures`, or a note says why not.
require("tests.spec.helper")
local json = require("common.json")
local pictures = require("checkpoints.pictures")

local function read(config, sides)
  local notes = {}
  return pictures.of(config and { file = "p.json", config = config }, sides or { 224, 224 }, notes), notes
end

local HALF = { 0.5, 0.5, 0.5 }

describe("checkpoints.pictures", function()
  it("says that pictures are missing, unless the key is overridden", function()
    local pipeline = require("pipeline")
    local helper = require("tests.spec.helper")
    local function notes(overrides)
      return table.concat(pipeline.run(helper.root, helper.root .. "/tests/hf/goldens/vit_model", overrides,
        "validate").notes, "\n")
    end
    assert.equal(helper.root .. "/tests/hf/goldens/vit_model/preprocessor_config.json: missing: the model takes "
      .. "arrays, and no pictures", notes {})
    assert.equal("", notes { "pictures=false" })
    assert.equal("", notes { "pictures={height=8,width=8}" })
  end)

  it("are prepared as processor_config.json says, else preprocessor_config.json", function()
    local folder, made = require("checkpoints.folder"), require("tests.spec.checkpoints.made")
    local one, other = '{"size":1}', '{"image_processor":{"size":2}}'
    for _, case in ipairs { { one, nil, 1 }, { nil, other, 2 }, { one, other, 2 }, { nil, "{}", nil },
      { one, '{"processor_class":"x"}', 1 }, { one, '{"image_processor":null}', 1 } } do
      local found = folder.read(made.checkpoint(nil, nil, { ["preprocessor_config.json"] = case[1],
        ["processor_config.json"] = case[2] })).preprocessor
      assert.equal(case[3], found and found.config.size)
    end
  end)

  it("takes no wrong number for a step", function()
    for _, wrong in ipairs { { image_std = { 0.5, 0, 0.5 } }, { image_std = 0 / 0 }, { image_mean = { 1e300, 0, 0 } },
      { image_mean = {} }, { rescale_factor = 0 / 0 }, { rescale_factor = "1" }, { resample = {} }, { size = "big" },
      { size = { height = 1 << 40, width = 1 << 40 } }, { size = { height = 0.5, width = 224 } }, { size = {} },
      { size = json.null }, { rescale_factor = json.null }, { resample = json.null }, { image_std = json.null },
      { do_pad = true, pad_size = 30 }, { do_center_crop = true, crop_size = { height = 1 << 62, width = 1 } } } do
      wrong.image_processor_type = wrong.image_processor_type or "ViTImageProcessor"
      local made, said = read(wrong)
      assert.is_nil(made, next(wrong))
      assert.matches("^p%.json: .*: the model takes arrays, and no pictures$", said[1])
    end
    for _, wrong in ipairs { {}, { image_processor_type = 5 }, { image_processor_type = "" } } do
      assert.is_nil((read(wrong)))
    end
  end)

  it("has the defaults of each processor", function()
    assert.same({ filter = "bilinear", height = 224, width = 224, scale = 1 / 255, mean = HALF, std = HALF },
      read { image_processor_type = "ViTImageProcessorFast" })
    local clip = read { image_processor_type = "CLIPImageProcessor" }
    assert.equal(224, clip.shortest_edge)
    assert.is_true(clip.crop)
    assert.equal("bicubic", clip.filter)
    assert.same({ 224, true }, { read({ feature_extractor_type = "CLIPFeatureExtractor", size = 224 }).shortest_edge,
      read({ feature_extractor_type = "DeiTFeatureExtractor" }).crop })
    assert.equal(224, read({ feature_extractor_type = "ViTFeatureExtractor", size = 224 }).height)
    local dino = read { image_processor_type = "DINOv3ViTImageProcessorFast", do_center_crop = json.null }
    assert.same({ true, 224, "bilinear", 0.456 }, { dino.fractions, dino.height, dino.filter, dino.mean[2] })
    assert.is_nil(dino.crop)
  end)

  it("reads all keys", function()
    local result, notes = read({ image_processor_type = "BitImageProcessor", size = { shortest_edge = 30 },
      crop_size = { height = 20, width = 16 }, resample = 2, rescale_factor = 0.5, image_mean = 0.25,
      image_std = { 1, 2, 3 }, do_convert_rgb = true, do_pad = json.null, odd = 1 }, { 20, 16 })
    assert.same({ shortest_edge = 30, crop = true, filter = "bilinear", scale = 0.5, mean = { 0.25, 0.25, 0.25 },
      std = { 1, 2, 3 } }, result)
    assert.same({ "p.json: \"odd\": not known: results may differ from transformers'" }, notes)
    for _, none in ipairs { false, json.null } do
      assert.same({}, read { image_processor_type = "CLIPImageProcessor", do_resize = none, do_rescale = none,
        do_normalize = none, do_center_crop = none })
    end
  end)

  it("interpolates positions from the square of a number of patches", function()
    local function grid(image)
      local import = { facts = { image = image, patch = { 4, 4 } }, folder = {}, names = {},
        family = { image = { any_size = true, positions = "table" }, prefixes = { "" } } }
      pictures.set_size(import)
      return (import.names["input.positions.weight"] or {}).grid
    end
    assert.is_nil(grid { 9, 11 })
    assert.same({ 2, 2 }, grid { 18, 4 })
    assert.same({ "config.json: image_size: 4 x 2 patches, but positions are interpolated from the square of a number "
      .. "of patches" }, require("tests.spec.helper").fault(grid, { 16, 8 }).lines)
  end)

  it("makes patches for models that take pictures of any shape, and for no others", function()
    local config = { image_processor_type = "Siglip2ImageProcessorFast", max_num_patches = 100, patch_size = 14 }
    local notes = {}
    assert.same({ filter = "bilinear", scale = 1 / 255, mean = HALF, std = HALF },
      pictures.of({ file = "p.json", config = config }, nil, notes, nil, 14))
    assert.same({ {}, 100, 256, 256 }, { notes, pictures.patches { config = config }, pictures.patches(nil),
      pictures.patches { config = { max_num_patches = "many" } } })
    local more = ": the model takes arrays, and no pictures"
    for _, each in ipairs {
      { config, 16, "patch_size: other than the model's patch_size" },
      { { image_processor_type = "Siglip2ImageProcessor", do_resize = false }, 16,
        "do_resize: only true is supported" },
      { { image_processor_type = "Siglip2ImageProcessor", resample = 6 }, 16,
        "resample: 6 is not supported; 0 to 5 are" },
      { { image_processor_type = "SiglipImageProcessor" }, 16,
        "image_processor_type: other than Siglip2ImageProcessor" },
      { { image_processor_type = "Siglip2ImageProcessor" }, nil,
        "image_processor_type: patches do not go with this model" },
    } do
      local said = {}
      assert.is_nil(pictures.of({ file = "p.json", config = each[1] }, not each[2] and { 224, 224 } or nil, said, nil,
        each[2]))
      assert.same({ "p.json: " .. each[3] .. more }, said)
    end
  end)

  it("resizes between and within lengths, and pads", function()
    local function steps(size, more)
      local config = { image_processor_type = "ViTImageProcessor", size = size, do_normalize = false,
        do_rescale = false }
      for key, value in pairs(more or {}) do config[key] = value end
      return (read(config))
    end
    assert.same({ shortest_edge = 200, longest_edge = 224, filter = "bilinear", pad = true },
      steps({ shortest_edge = 200, longest_edge = 224 }, { do_pad = true, pad_size = 224 }))
    assert.same({ max_height = 224, max_width = 224, filter = "nearest" },
      steps({ max_height = 224, max_width = 224 }, { do_pad = true, resample = 0 }))
    assert.same({ max_height = 9, max_width = 8, filter = "hamming", crop = true },
      steps({ max_height = 9, max_width = 8 }, { resample = 5, do_center_crop = true, crop_size = 224, do_pad = true,
        pad_size = { height = 224, width = 224 } }))
    assert.same({ 28, 14 }, pictures.sides { config = { image_processor_type = "BitImageProcessor", do_pad = true,
      do_center_crop = false, size = { height = 20, width = 9 }, pad_size = { height = 28, width = 14 } } })
    local pages = { image_processor_type = "LayoutLMv3ImageProcessor", do_pad = true, pad_size = 999 }
    assert.is_nil(read(pages).pad)
  end)

  it("says why a model takes no pictures", function()
    local more, sizes = ": the model takes arrays, and no pictures", "height and width, shortest_edge, also with "
      .. "longest_edge, or max_height and max_width, are supported"
    for _, each in ipairs {
      { nil, "preprocessor_config.json: missing" },
      { {}, "p.json: no image_processor_type" },
      { { image_processor_type = "OwlViTImageProcessor" },
        'p.json: image_processor_type: "OwlViTImageProcessor" is not supported' },
      { { image_processor_type = "ViTImageProcessor", resample = json.null },
        "p.json: resample: null is not supported; 0 to 5 are" },
      { { image_processor_type = "DINOv3ViTImageProcessorFast", resample = 1 },
        "p.json: resample: 1 is not supported; 2 and 3 are" },
      { { image_processor_type = "DINOv3ViTImageProcessorFast", do_pad = true, pad_size = 224 },
        "p.json: do_pad: is not supported with this processor" },
      { { image_processor_type = "DINOv3ViTImageProcessorFast", do_rescale = false },
        "p.json: do_rescale: only true is supported, as integers are resized otherwise" },
      { { image_processor_type = "ViTImageProcessor", do_pad = true, pad_size = 230 },
        "p.json: pad_size: other than the model's image_size" },
      { { image_processor_type = "ViTImageProcessor", size = 200 }, "p.json: size: other than the model's image_size" },
      { { image_processor_type = "ViTImageProcessor", size = 230, do_pad = true, pad_size = 224 },
        "p.json: size: other than the model's image_size" },
      { { image_processor_type = "ViTImageProcessor", size = { longest_edge = 3 } },
        "p.json: size: " .. sizes },
      { { image_processor_type = "ViTImageProcessor", size = { height = json.null, width = 3 } },
        "p.json: size: " .. sizes },
      { { image_processor_type = "ViTImageProcessor", size = "large" },
        "p.json: size: " .. sizes },
      { { image_processor_type = "ViTImageProcessor", image_mean = { 1, json.null, 2 } },
        "p.json: image_mean, image_std: lists of 3 numbers are supported" },
      { { image_processor_type = "CLIPImageProcessor", crop_size = 200 },
        "p.json: crop_size: other than the model's image_size" },
      { { image_processor_type = "ViTImageProcessor", image_std = { 0, 1, 1 } },
        "p.json: image_mean, image_std: numbers up to 1e6 are supported, and deviations from 1e-6 on" },
      { { image_processor_type = "ViTImageProcessor", rescale_factor = "x" },
        "p.json: rescale_factor: a number from 1e-9 to 1e6 is supported" },
    } do
      local result, notes = read(each[1])
      assert.is_nil(result)
      assert.same({ each[2] .. more }, notes)
    end
  end)
end)
