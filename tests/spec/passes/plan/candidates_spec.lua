-- candidates_spec: the tiles that are worth trying are distinct, cover their product, and are those of a body.
require("tests.spec.helper")
local candidates = require("passes.plan.candidates")
local libxsmm = require("kernels.libxsmm")
local registers = require("passes.plan.registers")
local target = require("data.targets").by_name.avx512
local types = require("data.types")

local products = {
  { outputs = 768, inputs = 768, rows = 128, ldc = 784, pad = 1 },
  { outputs = 80, inputs = 521, rows = 33, ldc = 80, pad = 8 },
  { outputs = 3, inputs = 5, rows = 1, ldc = 16, pad = 8 },
  { outputs = 300, inputs = 200, rows = 300, ldc = 304, pad = 4 },
}

describe("candidates", function()
  it("are distinct, and not too many", function()
    for i, product in ipairs(products) do
      local list, seen = candidates.of(product, i % 2 == 0 and "c" or "libxsmm"), {}
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
      for _, choice in ipairs(candidates.of(product, "libxsmm")) do
        local tiles = candidates.tiles(product, choice, target)
        local outputs, rows, column = 0, 0, 0
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
        local inputs = tiles.k.count * tiles.k.size + tiles.k.tail
        assert.same({ product.outputs, product.rows, product.inputs }, { outputs, rows, inputs })
        assert.is_true(#tiles.panels <= 3 and #tiles.blocks <= 2)
        for _, block in ipairs(tiles.blocks) do assert.is_true(#block.strips <= 2) end
      end
    end
  end)

  it("have the blocks of inputs of a body by libxsmm", function()
    for _, product in ipairs(products) do
      for _, choice in ipairs(candidates.of(product, "libxsmm")) do
        local tiles = candidates.tiles(product, choice, target)
        local panel = tiles.panels[1]
        local kernel = { m = panel.outputs, n = tiles.blocks[1].rows, k = product.inputs, lda = panel.ld, beta = 0,
          types = types.f32_product, fetch = {}, strips = registers.strips(panel.outputs, tiles.blocks[1].rows,
          product.inputs, target, choice.call_rows, false) }
        if #tiles.blocks == 1 and choice.fetch == 1 then
          assert.same(libxsmm.calls(kernel, true).blocks, tiles.k, tiles.text)
        end
      end
    end
  end)

  it("say what they are", function()
    local product = { outputs = 40, inputs = 100, rows = 50, ldc = 48, pad = 1 }
    local function text(choice) return candidates.tiles(product, choice, target).text end
    assert.equal("panel 40, 50 tokens", text { panel = 48, token_block = 64, call_rows = 4096, fetch = 0 })
    assert.equal("panel 40, 50 tokens, fetched ahead",
      text { panel = 48, token_block = 64, call_rows = 4096, fetch = 1 })
  end)
end)
