-- pictures_spec.lua: the key `pictures` of a description.
local helper = require("tests.spec.helper")

local function description(pictures, more)
  local result = { name = "tiny", d_model = 16, heads = 2, layers = 1, target = "avx2", pictures = pictures,
    input = { stage = "image", height = 8, width = 8, patch = 4 } }
  for key, value in pairs(more or {}) do result[key] = value end
  return result
end

local function refusals(pictures, more) return helper.refusals(description(pictures, more)) end

describe("passes.validate.pictures", function()
  it("reads every field, and has defaults", function()
    local all = { height = 10, width = 12, filter = "bicubic", fractions = true, crop = true, pad = false, scale = 0.5,
      mean = { 1, 2, 3.5 },
      std = { 1, 1, 2 } }
    assert.same(all, helper.state(description(all), "validate").spec.pictures)
    assert.same({ filter = "bilinear", fractions = false, crop = false, pad = false, scale = 1.0,
      mean = { 0.0, 0.0, 0.0 }, std = { 1.0, 1.0, 1.0 } }, helper.state(description({}), "validate").spec.pictures)
    assert.is_false(helper.state(description(false), "validate").spec.pictures)
    assert.same({}, refusals { shortest_edge = 9, crop = true })
  end)

  it("says what is wrong", function()
    assert.same({
      'pictures: no field "crops" (did you mean crop?)',
      "pictures.filter: \"cubic\", but nearest, box, bilinear, hamming, bicubic or lanczos is allowed (did you mean "
        .. "bicubic?)",
      "pictures.mean: a table, but a list of 3 numbers is allowed",
      "pictures.std.2: 0, but a number from 1e-06 to 1e+06 is allowed",
    }, refusals { crops = true, filter = "cubic", mean = { 1, 2 }, std = { 1, 0, 1 } })
    assert.same({ "pictures: true, but false or a table such as { height = 224, width = 224 } is allowed" },
      refusals(true))
    assert.same({ "pictures: height and width go together" }, refusals { height = 8 })
    assert.same({ "pictures: shortest_edge does not go with height and width" },
      refusals { height = 8, width = 8, shortest_edge = 8 })
    assert.same({}, refusals { max_height = 8, max_width = 8, pad = true })
    for said, given in pairs {
      ["max_height and max_width go together"] = { max_height = 8 },
      ["max_height and max_width do not go with other sizes"] = { max_height = 8, max_width = 8, shortest_edge = 8 },
      ["longest_edge goes with shortest_edge"] = { longest_edge = 8 },
      ["crop does not go with pad"] = { crop = true, pad = true },
      ["fractions goes with bilinear and bicubic"] = { fractions = true, filter = "box" },
    } do assert.same({ "pictures: " .. said }, refusals(given)) end
    assert.same({ "pictures: height 9 and width 8, but without crop they must be the image's, 8 and 8" },
      refusals { height = 9, width = 8 })
    assert.same({ "pictures: height 7 and width 9, but without crop they must be at most the image's, 8 and 8" },
      refusals { height = 7, width = 9, pad = true })
    assert.same({ "pictures: goes with 3 channels, but the image has 1" },
      refusals({}, { input = { stage = "image", height = 8, width = 8, patch = 4, channels = 1 } }))
    assert.same({ "pictures: goes with input = image { ... }" },
      refusals({}, { seq = 4, input = { stage = "hidden" } }))
  end)

  it("makes rows of patches of pictures of any shape", function()
    local function of(input, pictures, more)
      local all = { seq = 6, mask = "padding", input = { stage = "linear", from = 48, grid = 3 } }
      for key, value in pairs(input) do all.input[key] = value end
      for key, value in pairs(more or {}) do all[key] = value end
      return refusals(pictures or {}, all)
    end
    assert.same({}, of({}, { filter = "bicubic", mean = { 1, 2, 3 } }, { output = { { stage = "attend" } } }))
    local sizes = "pictures: sizes, crop, pad and fractions do not go with patches of the whole picture"
    assert.same({ sizes }, of({}, { shortest_edge = 9 }))
    assert.same({ sizes }, of({}, { fractions = true }))
    assert.same({ "pictures: goes with rows of square patches of 3 channels, but rows have 36 numbers" },
      of({ from = 36 }))
    assert.same({ 'input.grid: goes with positions = "learned"' }, of({}, nil, { positions = "none" }))
    assert.same({ "input: a grid of positions, which each sequence resizes: not supported with seq = any(N)" },
      of({}, nil, { seq = { any = 6 } }))
  end)

  it("goes before a pool by attention, where that is allowed", function()
    local attend = { { stage = "attend", name = "pooled" } }
    assert.same({}, refusals({}, { output = attend }))
    assert.same({ "output.1: does not go with attention_output" },
      refusals({}, { output = attend, attention_output = "heads" }))
    assert.same({ "output.2: the rows are 4 wide, but d_model is expected" },
      refusals({}, { output = { { stage = "linear", to = 4 }, attend[1] } }))
    assert.same({ "output.1: goes with a feed-forward, but d_ff is 0" }, refusals({}, { output = attend, d_ff = 0 }))
    assert.same({ "output.2: the rows were pooled before; one pool is allowed" },
      refusals({}, { output = { attend[1], { stage = "pool", over = "first" } } }))
  end)
end)
