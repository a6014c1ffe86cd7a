-- joined_spec: memories whose rows follow the sequence's own, and what does not go with them.
local helper = require("tests.spec.helper")
local words = require("common.words")

local function page(more, of_memory)
  local image = { stage = "image", height = 4, width = 6, patch = 2 }
  local memory = words.merged({ stage = "encoder", joined = true, layers = 0, input = image }, of_memory)
  return words.merged({ name = "page", seq = 8, d_model = 32, heads = 4, layers = 2, mask = "padding",
    positions = { "learned", "t5" }, box_buckets = 8, box_distance = 20, memory = memory,
    input = { stage = "tokens", vocab = 9, boxes = 30, place_width = 5 } }, more)
end

local function faults(more, of_memory) return table.concat(helper.refusals(page(more, of_memory)), "\n") end

describe("a joined memory", function()
  it("is the picture of a page", function()
    assert.equal("", faults())
  end)

  it("is refused with what reads other rows", function()
    for _, case in ipairs {
      { { mask = "causal" }, "mask: only \"padding\" goes with a joined memory" },
      { { positions = "rope" }, "positions: \"learned\", \"sinusoidal\", \"none\", or one of these with \"t5\"" },
      { { positions = "learned" }, "box_buckets: goes with \"t5\" among positions where the memory is joined" },
      { { bias_kv = true }, "bias_kv: learned keys: not supported with a joined memory" },
      { { past = 3 }, "past: past keys: not supported with a joined memory" },
      { { layers = { {}, { d_ff = 9 } } }, "layers: a list of layers: not supported with a joined memory" },
      { { seq = { any = 8 } }, "memory: a memory: not supported with seq = any(N)" },
      { { precision = { attention = "int8" } }, "memory: a joined memory: not supported with precision.attention" },
      { { output = { { stage = "pool", over = "max", mask = true } } }, "output.1: reads a number of each token" },
      { {}, "memory.joined: 1, but true or false is allowed", { joined = 1 } },
      { {}, "memory.d_model: 16, but rows that are joined must be as wide as d_model, 32",
        { d_model = 16, heads = 2 } },
      { {}, "memory.input: a joined memory takes image { ... } with the class token",
        { input = { stage = "image", height = 4, width = 6, patch = 2, class_token = false } } },
    } do
      local text = faults(case[1], case[3])
      assert.is_truthy(text:find(case[2], 1, true), case[2] .. "\n" .. text)
    end
  end)
end)
