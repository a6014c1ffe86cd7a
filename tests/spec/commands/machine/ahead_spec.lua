-- ahead_spec: which measured times make few rows prefetch, or do so into the first-level cache, and where this is used.
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
    assert.same({ bf16_ahead = 10240, int8_ahead = 10240 }, chosen(RULE, "51 51 52 52 70 140",
      RULE, "50 48 50 54 70 140"))
  end)

  it("come as the rule says where that is slower with one number of rows, or no faster", function()
    assert.same({ int8_ahead = 10240 }, chosen(RULE, "78 50 52 52 70 140", RULE, "50 48 50 54 70 140"))
    assert.same({}, chosen(RULE, "58 59 60 61 70 140", RULE, "50 48 50 54 70 147"))
  end)

  it("are asked for from one row on with AVX2 where that is faster with one row and with two", function()
    -- Times without and with requests, of one row and of two: of bf16, of int8, of weights in scale blocks.
    local function of_avx2(...) return ahead.chosen(targets.by_name.avx2, table.concat({ ... }, "\n")) end
    assert.same({ bf16_least = 1, scaled_least = 1 }, of_avx2("60 60", "50 50", "60 60", "60 60", "90 90", "70 92"))
    assert.same({}, of_avx2("60 60", "50 62", "60 60", "59 59", "90 90", "91 91"))
  end)

  it("are those of all candidates of the timed library", function()
    assert.truthy(ahead.text(target):find("candidate_count = 24;", 1, true))
    local text = ahead.text(targets.by_name.avx2)
    assert.truthy(text:find("candidate_count = 12;", 1, true))
    -- The two choices of a type are different functions.
    for _, name in ipairs { "bf16_floats", "int8", "q4" } do
      assert.truthy(text:find("case 1: strip_x%d_" .. name .. "%("), name)
      assert.truthy(text:find("case 1: strip_x%d_" .. name .. "_ahead"), name)
    end
  end)

  it("are asked for as measured for `host`, except where the rule has its own rows", function()
    local function least(type, measured, plan)
      local state = { spec = { target = "avx2", plan = plan or {}, kernels = "c",
        symbols = { rows = { is_open = true } } }, measured = measured }
      return tuning.parameters(state).of(" n 512 ", { shape = { 768, 768 }, type = type }).stream_rows
    end
    local here = { avx2 = { bf16_least = 1, scaled_least = 1 } }
    assert.same({ 1, 3, 3, 1, 1 }, { least("bf16", here), least("i8", here), least("f32", here), least("q4", here),
      least("q8h", here) })
    assert.same({ 3, 3, 2 }, { least("bf16"), least("q4"), least("q4", here, { stream_rows = 2 }) })
    local function are_read(...) return targets.are_facts_read(...) end
    assert.is_true(are_read("avx2", { f32 = true, int8 = true }) and are_read("avx512bf16", { f32 = true }))
    assert.is_false(are_read("avx2", { f32 = true }) or are_read("avx512", { bf16 = true }))
    assert.is_false(are_read("avxvnni", { int8 = true }))
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
