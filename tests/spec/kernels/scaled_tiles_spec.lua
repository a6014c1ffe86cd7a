-- scaled_tiles_spec: products of many rows in scale blocks, in tiles of AMX: which rows have them, the blocks that are
-- widened at a time, and the order of sums, which is that of strips without tiles.
local helper = require("tests.spec.helper")
local registers = require("passes.plan.registers")
local scaled = require("kernels.scaled")
local scaled_tiles = require("kernels.scaled_tiles")
local targets = require("data.targets")
local types = require("data.types")

assert(helper)

local function strips(rows, target, most, is_open)
  local of = is_open and registers.open_strips or registers.strips
  if is_open then return of(16, 64, targets.by_name[target], most, false, types.product("q4")) end
  return of(16, rows, 64, targets.by_name[target], most, false, types.product("q4"))
end

describe("scale blocks in tiles", function()
  it("are for products of at least 16 rows, on targets with tiles", function()
    assert.equal("scaled", strips(15, "amx", 4096).form)
    assert.equal("scaled", strips(64, "avx512vnni", 4096).form)
    local many = strips(37, "amx", 4096)
    assert.same({ "scaled_tiles", { { count = 2, size = 16 }, { count = 1, size = 5 } } }, { many.form, many.strips })
    assert.equal("scaled", strips(37, "amx", 8).form)
    assert.equal("scaled", registers.strips(16, 37, 64, targets.by_name.amx, 4096, false,
      types.product("q8", types.fine)).form)
    local open = strips(nil, "amx", 4096, true)
    assert.same({ "scaled", "scaled_tiles", 16, 8 }, { open.form, open.many, open.many_rows, #open.strips })
    assert.is_nil(strips(nil, "avx512vnni", 4096, true).many)
  end)

  it("widen whole pairs, at most 32 blocks at a time, in equal parts", function()
    for k, expected in pairs { [32] = { 2, 2 }, [576] = { 18, 18 }, [1536] = { 48, 24 }, [2112] = { 66, 22 },
      [8192] = { 256, 32 } } do
      assert.same(expected, { scaled_tiles.blocks(k) })
    end
  end)

  it("add the sums of each row in the order of other strips, from the scales and minima of the same blocks", function()
    for _, type in ipairs(types.scaled) do
      local shape = { rows = 1, vectors = 1, types = types.product(type.name) }
      local function order(text, pattern)
        local list = {}
        for half in text:gmatch(pattern) do list[#list + 1] = half end
        return list
      end
      local text = scaled_tiles.text(shape)
      assert.same(order(scaled.text(shape), "b0%[(%d)%]%.scale%), "),
        order(text:gsub("0 %* ld %+ 1%]", "1]"):gsub("0 %* ld%]", "0]"), "b0%[(%d)%]%.scale%), c0%)"), type.name)
      local parts = order(text, "const attn2c_vector scale = w%[(%d%]%.scale%[%d)%]")
      assert.same(type.block.scales == 1 and { "0].scale[0", "1].scale[0" }
        or { "0].scale[0", "0].scale[1", "1].scale[0", "1].scale[1" }, parts, type.name)
      local _, minima = text:gsub("attn2c_multiply_add%(least,", "")
      assert.equal(type.block.minimum and 2 * type.block.scales * scaled_tiles.ROWS or 0, minima, type.name)
    end
  end)
end)
