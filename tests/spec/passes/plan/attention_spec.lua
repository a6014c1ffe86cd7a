-- plan_attention_spec: blocks and cuts of attention against a mask written out pair by pair:
-- every visible pair is in a block, no block is empty, and cuts keep exactly what is visible.
local helper = require("tests.spec.helper")
local attention = require("passes.plan.attention")
local targets = require("data.targets")

local function region(queries, keys, mask, parameters)
  local p = {}
  for name, value in pairs(targets.by_name.avx512.rule) do p[name] = value end
  for name, value in pairs(parameters or {}) do p[name] = value end
  local scores = { result = { shape = { 1, 1, queries, keys } }, operands = { q = { type = "f32" } },
    attributes = { heads = 1, causal = mask.causal or false, left = mask.left or -1, right = mask.right or -1,
      prefix = mask.prefix, offset = mask.offset, extra = mask.extra } }
  return attention.blocks(scores, p, mask.in_chunks), p
end

local function visible(mask, i, j)
  if mask.prefix and j < mask.prefix then return true end
  return not (mask.causal and j > i) and not (mask.left and j < i - mask.left)
    and not (mask.right and j > i + mask.right)
end

-- Compares a region's blocks with the mask, pair by pair.
local function verify(size, mask, parameters)
  local r, p = region(size, size, mask, parameters)
  local next_query = 0
  for _, block in ipairs(r.blocks) do
    local what = ("%d queries from %d"):format(block.count, block.first)
    assert(block.first == next_query, what)
    assert(block.count >= 1 and block.count <= p.query_block, what)
    local range = block.ranges[1]
    assert(#block.ranges == 1 and range.column == 0 and range.keys == block.keys, what)
    assert(range.first_key >= 0 and range.first_key + range.keys <= size and range.keys <= r.tile_columns, what)
    next_query = next_query + block.count
    local seen, cut_away = 0, 0
    for row = 0, block.count - 1 do
      local i = block.first + row
      for j = 0, size - 1 do
        local column = j - range.first_key
        local inside = column >= 0 and column < range.keys
        local kept = inside and (not range.cut or (range.cut.lo + row <= column and column < range.cut.hi + row)
          or (range.cut.keep ~= nil and column < range.cut.keep))
        if kept ~= visible(mask, i, j) then
          error(("query %d, key %d: kept %s, visible %s"):format(i, j, tostring(kept), tostring(visible(mask, i, j))))
        end
        if inside then
          if kept then seen = seen + 1 else cut_away = cut_away + 1 end
        end
      end
    end
    assert(seen > 0, what .. " see nothing")
    assert((cut_away > 0) == (range.cut ~= nil), what .. ": a cut where nothing is cut")
    -- The key blocks cover the block's keys in order, none beyond its panel, none that is masked whole.
    local key = range.first_key
    for _, key_block in ipairs(range.key_blocks) do
      assert(key_block.first == key and key_block.panel == key // p.key_block, what)
      assert(key_block.count >= 1 and (key_block.first + key_block.count - 1) // p.key_block == key_block.panel, what)
      if p.key_align == 16 then
        local any = false
        for i = block.first, block.first + block.count - 1 do
          for j = key_block.first, key_block.first + key_block.count - 1 do any = any or visible(mask, i, j) end
        end
        assert(any, what .. ": a key block that is masked whole")
      end
      key = key + key_block.count
    end
    assert(key == range.first_key + range.keys, what)
  end
  assert(next_query == size)
end

describe("a block's chunks", function()
  it("are of a softmax that nothing else reads, and that gives zeros where a row has no key", function()
    local function come(more)
      more.seq, more.plan = 40, { tile_bytes = 64, softmax_block = 16, piece_rows = 17 }
      for _, section in ipairs(helper.tiny(more, "plan").plan.segments[1].sections) do
        for _, each in ipairs(section.regions) do
          if each.kind == "attention" then return each.blocks[#each.blocks].chunks ~= nil end
        end
      end
    end
    assert.is_true(come {})
    assert.is_true(come { mask = "causal", positions = "alibi" })
    for _, more in ipairs { { fully_masked = "nan" }, { bias_kv = true }, { weighting = "relu" },
      { head_mask = "input" }, { attention_output = "heads" },
      { mask = "key_padding" } } do
      assert.is_false(come(more))
    end
  end)

  local small = { tile_bytes = 64, query_block = 24, piece_rows = 24, softmax_block = 32, key_block = 16 }

  it("keep what the block keeps, key by key, in stretches of softmax_block", function()
    for _, mask in ipairs { {}, { causal = true }, { left = 40, right = 50 }, { causal = true, prefix = 40 },
      { causal = true, left = 70 } } do
      mask.in_chunks = true
      local blocks, in_chunks = region(129, 129, mask, small).blocks, 0
      for _, block in ipairs(blocks) do
        local key = block.ranges[1].first_key
        if block.chunks then in_chunks = in_chunks + 1 end
        for _, chunk in ipairs(block.chunks or {}) do
          local range = chunk.ranges[1]
          assert.same({ key, 0, block.first, block.count, range.keys },
            { range.first_key, range.column, chunk.first, chunk.count, chunk.keys })
          assert.is_true(range.keys <= 32)
          key = key + range.keys
          for row = 0, block.count - 1 do
            for column = 0, range.keys - 1 do
              local kept = not range.cut or (range.cut.lo + row <= column and column < range.cut.hi + row)
                or column < (range.cut.keep or 0)
              assert.equal(visible(mask, block.first + row, range.first_key + column), kept)
            end
          end
        end
        if block.chunks then assert.equal(block.ranges[1].first_key + block.keys, key) end
      end
      assert.is_true(in_chunks > 0)
    end
  end)

  it("are none where all rows fit, or the keys are few", function()
    local function chunks(parameters)
      return region(129, 129, { in_chunks = true }, parameters).blocks[1].chunks
    end
    assert.is_nil(chunks {})
    assert.is_nil(chunks { tile_bytes = 64, softmax_block = 144 })
    assert.equal(5, #chunks(small))
  end)
end)

describe("attention's blocks", function()
  local sizes = { 1, 2, 15, 16, 17, 31, 33, 64, 65, 100, 129 }

  it("keep all without a mask, and have no cut", function()
    for _, size in ipairs(sizes) do verify(size, {}) end
    for _, block in ipairs(region(129, 129, {}).blocks) do assert.is_nil(block.ranges[1].cut) end
  end)

  it("keep exactly what a causal mask leaves", function()
    for _, size in ipairs(sizes) do verify(size, { causal = true }) end
  end)

  it("keep exactly what a window leaves", function()
    for _, size in ipairs(sizes) do
      for _, window in ipairs { { 0, 0 }, { 1, 0 }, { 0, 1 }, { 5, 5 }, { 16, 16 }, { 40, 3 }, { 200, 200 } } do
        verify(size, { left = window[1], right = window[2] })
      end
    end
  end)

  it("keep exactly what a causal window leaves", function()
    for _, size in ipairs(sizes) do
      for _, left in ipairs { 0, 1, 7, 16, 33, 200 } do verify(size, { causal = true, left = left, right = 9 }) end
    end
  end)

  it("do so for other tile parameters", function()
    for _, parameters in ipairs { { query_block = 16, key_block = 16, window_block = 8 },
      { query_block = 7, key_align = 1 },
      { query_block = 1, window_block = 1 }, { query_block = 4096, key_block = 4096, window_block = 4096,
        key_align = 5 } } do
      for _, mask in ipairs { {}, { causal = true }, { left = 3, right = 4 },
        { causal = true, left = 12, right = 0 } } do
        for _, size in ipairs { 1, 17, 50, 80 } do verify(size, mask, parameters) end
      end
    end
  end)

  it("keep a prefix too, wherever it ends", function()
    for _, size in ipairs(sizes) do
      for _, prefix in ipairs { 1, 15, 16, 40, 200 } do verify(size, { causal = true, prefix = prefix }) end
    end
  end)

  it("know where the first query stands, and set apart keys that all see", function()
    local blocks = region(32, 52, { causal = true, offset = 18, extra = 2 }).blocks
    assert.equal(1, #blocks)
    assert.same({ lo = -32, hi = 19 }, blocks[1].ranges[1].cut) -- row 0 is position 18
    assert.same({ 50, 2, 50 }, { blocks[1].ranges[2].first_key, blocks[1].ranges[2].keys, blocks[1].ranges[2].column })
    assert.is_nil(blocks[1].ranges[2].cut)
    assert.equal(52, blocks[1].keys)
  end)

  it("of a causal mask of 128 by 64 leave a quarter out", function()
    local blocks = region(128, 128, { causal = true }, { query_block = 64 }).blocks
    assert.same({ { 0, 64 }, { 0, 128 } }, { { blocks[1].ranges[1].first_key, blocks[1].keys },
      { blocks[2].ranges[1].first_key, blocks[2].keys } })
    assert.same({ lo = -128, hi = 1 }, blocks[1].ranges[1].cut) -- row 0 sees key 0
    assert.same({ lo = -128, hi = 65 }, blocks[2].ranges[1].cut) -- row 0 is query 64
  end)

  it("of a narrow window are small and begin on the alignment", function()
    local blocks = region(128, 128, { left = 8, right = 8 }).blocks
    assert.equal(4, #blocks) -- window_block is 32
    -- Queries 32 to 63 see keys 24 to 71: from 16, which the alignment allows, 56 keys, rounded up to 64.
    assert.same({ 32, 32, 16, 64 }, { blocks[2].first, blocks[2].count, blocks[2].ranges[1].first_key, blocks[2].keys })
  end)

  it("never cost more than the square", function()
    for _, mask in ipairs { { causal = true }, { left = 4, right = 4 } } do
      local n = 0
      for _, block in ipairs(region(256, 256, mask).blocks) do n = n + block.count * block.keys end
      assert.is_true(n <= (mask.causal and 0.65 or 0.35) * 256 * 256)
    end
  end)

  it("are in the dump, a line each", function()
    local text = require("passes.plan").dump(helper.tiny({ mask = "causal" }, "plan"))
    assert.matches("queries %[0:8%] keys %[0:8%] row r keeps columns %[%-8 %+ r:1 %+ r%]\n", text)
  end)
end)

describe("the heads of a sequence's one query", function()
  local function planned(more)
    local description = { name = "writer", d_model = 48, heads = 4, layers = 1, context = 100, mask = "causal",
      target = "avx512", input = { stage = "tokens", vocab = 9 }, output = { { stage = "vocabulary" } } }
    for key, value in pairs(more) do description[key] = value end
    for each in require("passes.common.regions")(helper.state(description, "plan").plan.segments) do
      if each.open then return each.open end
    end
  end

  local function together(more) return planned(more).together end

  it("are computed together if they share keys, and need no steps of their own", function()
    assert.equal(1, together {})
    assert.equal(2, together { kv_heads = 2 })
    assert.equal(4, together { kv_heads = 1, precision = "bf16" })
    assert.equal(4, together { kv_heads = 1, positions = "alibi" })
    assert.equal(2, together { kv_heads = 2, mask = { window = { 9, 0 } } })
  end)

  it("share their keys among workers only if there are fewer groups than workers", function()
    local function shares(heads, kv_heads, threads)
      return planned({ heads = heads, kv_heads = kv_heads, threads = threads }).shares
    end
    assert.is_nil(shares(4, 4, 2))
    assert.is_nil(shares(6, 3, 1))
    assert.is_nil(shares(6, 3, 2))
    assert.equal(2, shares(4, 1, 2))
    assert.equal(4, shares(4, 1, 4))
    assert.equal(3, shares(4, 2, 3))
  end)
end)
