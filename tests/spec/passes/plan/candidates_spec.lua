-- candidates_spec: the tiles that are worth trying: distinct, whole, and, walked as bound_product.c walks
-- them, the very calls of tile.lua.
require("tests.spec.helper")
local candidates = require("passes.plan.candidates")
local divide = require("passes.common.divide")
local tile = require("passes.plan.tile")

local products = {
  { outputs = 768, inputs = 768, rows = 128, ldc = 784, pad = 1 },
  { outputs = 80, inputs = 521, rows = 33, ldc = 80, pad = 8 },
  { outputs = 3, inputs = 5, rows = 1, ldc = 16, pad = 8 },
  { outputs = 300, inputs = 200, rows = 300, ldc = 304, pad = 4 },
}

-- The calls of one tile as the runtime makes them: nested loops over what follows each other, no division but the
-- share of a K panel's lines.
local function walked(tiles, block, ld)
  local list, first = {}, 0
  for _, k_panel in ipairs(tiles.k_panels) do
    for _ = 1, k_panel.count do
      local calls, number, done, row = 0, 0, 0, 0
      for _, strip in ipairs(block.strips) do
        for _, run in ipairs(k_panel.runs) do calls = calls + strip.count * run.count end
      end
      for _, strip in ipairs(block.strips) do
        for _ = 1, strip.count do
          local input = first
          for _, run in ipairs(k_panel.runs) do
            for _ = 1, run.count do
              number = number + 1
              local call = { row = row, rows = strip.rows, first = input, size = run.size, blocks = run.blocks,
                beta = input > 0 and 1 or 0 }
              local upto = k_panel.inputs * ld // 16 * number // calls
              if tiles.ahead > 0 and upto > done then
                call.fetch = { from = 4 * (first + tiles.ahead) * ld + 64 * done, lines = upto - done }
                done = upto
              end
              list[#list + 1] = call
              input = input + run.blocks * run.size
            end
          end
          row = row + strip.rows
        end
      end
      first = first + k_panel.inputs
    end
  end
  return list
end

describe("candidates", function()
  it("are distinct, and not too many", function()
    for _, product in ipairs(products) do
      local list, seen = candidates.of(product), {}
      assert.is_true(#list >= 1 and #list <= 256)
      for _, choice in ipairs(list) do
        local signature = candidates.signature(product, choice)
        assert.is_nil(seen[signature])
        seen[signature] = true
      end
    end
  end)

  it("cover their product", function()
    for _, product in ipairs(products) do
      for _, choice in ipairs(candidates.of(product)) do
        local tiles = candidates.tiles(product, choice)
        local outputs, rows, inputs, column = 0, 0, 0, 0
        for _, panel in ipairs(tiles.panels) do
          outputs = outputs + panel.count * panel.width
          column = column + (panel.count - 1) * panel.width
          assert.is_true(panel.outputs >= panel.width and panel.outputs <= panel.ld)
          assert.is_true(column + panel.outputs <= product.ldc)
          column = column + panel.width
        end
        for _, block in ipairs(tiles.blocks) do
          rows = rows + block.count * block.rows
          local strips = 0
          for _, strip in ipairs(block.strips) do strips = strips + strip.count * strip.rows end
          assert.equal(block.rows, strips)
        end
        for _, k_panel in ipairs(tiles.k_panels) do inputs = inputs + k_panel.count * k_panel.inputs end
        assert.same({ product.outputs, product.rows, product.inputs }, { outputs, rows, inputs })
        assert.is_true(#tiles.panels <= 3 and #tiles.blocks <= 2 and #tiles.k_panels <= 3)
        for _, k_panel in ipairs(tiles.k_panels) do assert.is_true(#k_panel.runs <= 2) end
      end
    end
  end)

  it("are the calls of the tiles that the plan emits", function()
    for _, product in ipairs(products) do
      for _, choice in ipairs(candidates.of(product)) do
        local tiles = candidates.tiles(product, choice)
        local k = divide.k_blocks(product.inputs, choice.k_block)
        for _, block in ipairs(tiles.blocks) do
          assert.same(tile.calls(block.rows, tiles.panels[1].ld, k, choice, "f32"),
            walked(tiles, block, tiles.panels[1].ld), tiles.text)
        end
      end
    end
  end)

  it("say what they are", function()
    local product = { outputs = 40, inputs = 100, rows = 50, ldc = 48, pad = 1 }
    local function text(choice) return candidates.tiles(product, choice).text end
    assert.equal("panel 40, K 1 x 100, 50 tokens", text { panel = 48, k_block = 64, k_order = "outer",
      token_block = 64, call_rows = 4096, k_panel = 8192, fetch = 0 })
    assert.equal("panel 40, K 2 x 50 outer, 50 tokens by 9, fetched ahead", text { panel = 48, k_block = 40,
      k_order = "outer", token_block = 64, call_rows = 9, k_panel = 100, fetch = 1 })
  end)
end)
