-- ahead_spec: which measured times make few rows prefetch into the first-level cache, and where this is used.
local helper = require("tests.spec.helper")
local ahead = require("commands.machine.ahead")
local targets = require("data.targets")
local tuning = require("passes.common.tuning")

local RULE = "58 60 60 62 70 140"
local target = targets.by_name.avx512bf16

describe("weights of few rows", function()
  -- The choice by times of the rule and of 10 KB ahead, with 4, 5, 8, 12, 16 and 32 rows: of bf16, then of int8.
  local function chosen(...) return ahead.chosen(target, table.concat({ ... }, "\n")) end

  it("come into the first-level cache where that is faster with each number of rows", function()
    assert.same({ bf16 = 10240, int8 = 10240 }, chosen(RULE, "51 51 52 52 70 140",
      RULE, "50 48 50 54 70 140"))
  end)

  it("come as the rule says where that is slower with one number of rows, or no faster", function()
    assert.same({ int8 = 10240 }, chosen(RULE, "78 50 52 52 70 140", RULE, "50 48 50 54 70 140"))
    assert.same({}, chosen(RULE, "58 59 60 61 70 140", RULE, "50 48 50 54 70 147"))
  end)

  it("are those of all candidates of the timed library", function()
    assert.truthy(ahead.text(target):find("candidate_count = 24;", 1, true))
  end)

  it("come as measured for `host`, except where the rule has its own bytes", function()
    local function stream(type, measured, plan)
      local state = { spec = { target = "avx512bf16", plan = plan or {}, kernels = "c",
        symbols = { rows = { is_open = true } } }, measured = measured }
      return tuning.parameters(state).of(" n 512 ", { shape = { 768, 768 }, type = type }).stream
    end
    local here = { avx512bf16 = { bf16_ahead = 10240 } }
    assert.equal(10240, stream("bf16", here))
    assert.equal(3072, stream("i8", here))
    assert.equal(3072, stream("f32", here))
    assert.equal(3072, stream("bf16", { avx512 = here.avx512bf16 }))
    assert.equal(3072, stream("bf16"))
    assert.equal(64, stream("bf16", here, { stream = 64 }))
    assert.equal(10240, stream("q8"))
  end)

  it("come likewise in the emitted C of a build for this machine", function()
    local function kernels(more)
      local state = { root = helper.root, file = "tiny.lua", notes = {}, overrides = {}, wanted = {},
        description = helper.description { target = "host", precision = "bf16", d_model = 256, seq = 8 },
        host = function() return "avx512bf16" end, measured = more }
      local pipeline = require("pipeline")
      for _, name in ipairs(pipeline.passes) do
        if name ~= "describe" then pipeline.step(state, name) end
      end
      for _, file in ipairs(state.files) do if file.name == "tiny_kernels.c" then return file.text end end
    end
    assert.truthy(kernels({ avx512bf16 = { bf16_ahead = 10240 } }):find(", -1, 1);", 1, true))
    assert.falsy(kernels():find(", -1, 1);", 1, true))
  end)
end)
