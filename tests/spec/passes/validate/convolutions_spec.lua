-- convolutions_spec: the keys of convolutions along the rows: what goes with them and what does not.
local helper = require("tests.spec.helper")

local function refusal(more) return table.concat(helper.refusals(helper.description(more)), "\n") end

local function expect(cases)
  for _, case in ipairs(cases) do assert.is_truthy(refusal(case[1]):find(case[2], 1, true), refusal(case[1])) end
end

describe("a convolution after the first layer", function()
  it("has an odd number of rows, a norm, and lengths", function()
    expect {
      { { conv_kernel = 4 }, "conv_kernel: 4, but an odd number is allowed" },
      { { conv_kernel = 3, norm = "none" }, "conv_kernel: goes with a norm" },
      { { conv_kernel = 3, mask = "key_padding" }, 'conv_kernel: does not go with mask = "key_padding"' },
      { { input = { stage = "tokens", vocab = 9, dropped = 9 } }, "input.dropped: 9, but ids are below vocab, 9" },
      { { input = { stage = "tokens", vocab = 9, dropped = 1 }, past = 2 }, "input.dropped: does not go with past" },
      { { input = { stage = "tokens", vocab = 9, dropped = 1 }, mask = "attention_mask" },
        'input.dropped: does not go with mask = "attention_mask"' },
      { { conv_kernel = 3, past = 2 }, "conv_kernel: does not go with past" },
    }
    assert.equal("", refusal { conv_kernel = 3, mask = "padding" })
  end)
end)

describe("a linear layer of several rows, and a pool that leaves some out", function()
  it("go with rows that no mask hides", function()
    local function output(stage)
      return { output = { { stage = "linear", to = 4, kernel = 3 }, stage } }
    end
    local deviation = { stage = "pool", over = { "mean", "deviation" }, cut = 2 }
    assert.equal("", refusal(output(deviation)))
    expect {
      { output { stage = "linear", to = 4, kernel = 4 }, "output.2.kernel: 4, but an odd number is allowed" },
      { output { stage = "linear", to = 4, dilation = 4 }, "output.2.dilation: goes with kernel" },
      { output { stage = "pool", over = "max", cut = 1 }, 'output.2.cut: goes with over = "mean" and "deviation"' },
      { { output = { deviation }, mask = "key_padding" }, "output.1: cut and deviation do not go with a mask of rows" },
      { { output = { deviation, { stage = "linear", to = 4, kernel = 3 } } },
        "output.2.kernel: the rows were pooled before" },
    }
  end)
end)

describe("frames of features", function()
  it("have no padding and no rows before the first", function()
    local frames = { stage = "frames", from = 4 }
    for _, mask in ipairs { "padding", "key_padding" } do
      expect { { { input = frames, mask = mask }, "mask: the sequences of input = frames { ... } have no padding" } }
    end
    expect {
      { { input = frames, past = 2 }, "past: does not go with input = frames" },
      { { input = frames, seq = { any = 8 } }, "input: frames, whose convolutions read the rows after the last: not "
        .. "supported with seq = any(N)" },
    }
    assert.equal("", refusal { input = frames })
  end)
end)

describe("positions of a convolution", function()
  local function with(more)
    local all = { positions = "convolution", position_groups = 4 }
    for key, value in pairs(more) do all[key] = value end
    return all
  end

  it("have groups that divide the width, and lengths", function()
    expect {
      { with { position_groups = 5 }, "position_groups: 5, which does not divide d_model 16" },
      { with { input = { stage = "tokens", vocab = 9, width = 6 } }, "position_groups: 4, which does not divide "
        .. "input.width 6" },
      { with { position_kernel = 1025 }, "position_kernel" },
      { with { mask = "attention_mask" }, 'positions: convolution does not go with mask = "attention_mask": give '
        .. '"padding", whose lengths say where rows end' },
      { with { past = 2 }, "positions: convolution does not go with past: it needs the rows before the first" },
      { with { input = { stage = "qkv" } }, "positions: convolution does not go with input = qkv()" },
      { with { context = 32, mask = "causal", input = { stage = "tokens", vocab = 9 } },
        "positions: a convolution does not go with a context: it needs the rows after the last" },
    }
    assert.equal("", refusal(with { mask = "padding" }))
  end)
end)
