-- sounds_spec: the key `sound`: what its fields allow, by themselves and together.
local helper = require("tests.spec.helper")
local words = require("common.words")

local MELS = { rate = 16000, mels = 16, length = 400, hop = 160 }

local function refusal(sound)
  local d = helper.description { seq = { any = 8 }, mask = "padding", input = { stage = "hidden" }, sound = sound }
  return table.concat(helper.refusals(d), "\n")
end

local function expect(more, text) assert.equal(text, refusal(words.merged(MELS, more))) end

-- Returns a sound of `count` convolutions.
local function convolutions(count, stride)
  local list = {}
  for i = 1, count do list[i] = { width = 16, kernel = 3, stride = stride } end
  return { rate = 16000, convolutions = list }
end

describe("the key sound", function()
  it("has mels within the frequencies of its rate", function()
    expect({}, "")
    expect({ rate = 1000 }, "")
    expect({ rate = 33 }, "sound.rate: 33, but an integer from 1000 to 768000 is allowed")
    expect({ fft = 399 }, "sound.fft: 399, but a frame has 400 samples")
    expect({ high = 8001 }, "sound.high: 8001, but a number above low, 0, up to rate / 2, 8000, is allowed")
    expect({ low = 7999 }, "sound.fft: 400: no frequency of its bins is between low and high")
  end)

  it("has no more rows than a sequence", function()
    expect({ rows = 8 }, "")
    expect({ rows = 9 }, "sound.rows: 9, but a sequence has at most 8")
  end)

  it("has convolutions whose rows are made of a bounded number of samples", function()
    assert.equal("", refusal(convolutions(7, 2)))
    for _, count in ipairs { 6, 11, 64 } do
      assert.matches("^sound: 8 rows are made of %d+ samples, which is too many: use smaller strides or widths$",
        refusal(convolutions(count, 64)))
    end
    local late = convolutions(2, 2)
    late.convolutions[2].norm = "group"
    assert.equal("sound.convolutions.2.norm: group goes with the first convolution", refusal(late))
  end)

  it("has a norm of groups that divide the channels", function()
    for text, fields in pairs {
      [""] = { norm = "group", groups = 8, activation = "tanh", activation_first = true },
      ["sound.convolutions.1.groups: 3, which does not divide width 16"] = { norm = "group", groups = 3 },
      ["sound.convolutions.1.groups: goes with norm = \"group\""] = { norm = "layer", groups = 2 },
      ["sound.convolutions.1.activation_first: goes with a norm"] = { activation_first = true },
      ["sound.convolutions.1.groups: 2048, but 1 to 1024 are allowed with an activation before the norm or a kernel "
        .. "over 64"] = { width = 2048, norm = "group", kernel = 65 },
    } do
      local sound = convolutions(2, 2)
      sound.convolutions[1] = words.merged(sound.convolutions[1], fields)
      assert.equal(text, refusal(sound))
    end
  end)
end)
