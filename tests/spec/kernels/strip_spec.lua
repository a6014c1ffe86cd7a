-- strip_spec: the C function of a strip: its name says what tells it from others, its sums are variables
-- of their own, each of which gets one multiply-add a step, and only its last vectors may be cut.
require("tests.spec.helper")
local strip = require("kernels.strip")

local function shape(rows, vectors, rows_held, fetches)
  return { rows = rows, vectors = vectors, rows_held = rows_held or false, fetches = fetches or false }
end

local function count(text, pattern)
  local n = 0
  for _ in text:gmatch(pattern) do n = n + 1 end
  return n
end

local SHAPES = {}
for _, size in ipairs { { 1, 1 }, { 9, 3 }, { 6, 2 }, { 2, 7 }, { 1, 16 } } do
  for held = 0, 1 do
    for fetches = 0, 1 do SHAPES[#SHAPES + 1] = shape(size[1], size[2], held == 1, fetches == 1) end
  end
end

describe("a strip", function()
  it("has a name for all that its text depends on", function()
    local texts = {}
    for _, each in ipairs(SHAPES) do
      local name, text = strip.name(each), strip.text(each)
      assert.is_nil(texts[name], name)
      texts[name] = text
      assert.equal(1, count(text, "ATTN2C_STRIP " .. name .. "%("))
    end
    assert.equal("strip_9x3", strip.name(shape(9, 3)))
    assert.equal("strip_9x3_ahead", strip.name(shape(9, 3, false, true)))
    assert.equal("strip_1x16_held_ahead", strip.name(shape(1, 16, true, true)))
  end)

  it("has a sum for each row and vector: begun, added to, multiplied into once a step, and stored", function()
    for _, each in ipairs(SHAPES) do
      local text = strip.text(each)
      for row = 0, each.rows - 1 do
        for vector = 0, each.vectors - 1 do
          local sum = ("c%d_%d"):format(row, vector)
          assert.equal(1, count(text, sum .. " = attn2c_zero%(%)"))
          assert.equal(1, count(text, sum .. " = attn2c_load[_first]*%(c %+ " .. row .. " %* ldc %+ " .. vector .. " "))
          local stored = "attn2c_store[_first]*%%(c %%+ %d %%* ldc %%+ %d %%* ATTN2C_LANES, %s[,%%)]"
          assert.equal(1, count(text, stored:format(row, vector, sum)))
          local w, x = each.rows_held and "w" or "w" .. vector, each.rows_held and "x" .. row or "x"
          assert.equal(1, count(text, ("%s = attn2c_multiply_add%%(%s, %s, %s%%);"):format(sum, w, x, sum)))
        end
      end
      assert.equal(each.rows * each.vectors, count(text, "attn2c_multiply_add"))
    end
  end)

  it("reads each vector of A and each float of B once a step", function()
    for _, each in ipairs(SHAPES) do
      local text = strip.text(each)
      for vector = 0, each.vectors - 1 do
        assert.equal(1, count(text, "= attn2c_load[_first]*%(a %+ " .. vector .. " %* ATTN2C_LANES"))
      end
      for row = 0, each.rows - 1 do
        assert.equal(1, count(text, "attn2c_splat%(b%[" .. row .. " %* ldb%]%)"))
      end
      assert.equal(each.rows_held and each.rows or each.vectors, count(text, "ATTN2C_HOLD"))
    end
  end)

  it("cuts the last vector alone, of A by a_lanes, of C by c_lanes", function()
    for _, each in ipairs(SHAPES) do
      local text, last = strip.text(each), each.vectors - 1
      assert.equal(1 + each.rows, count(text, "attn2c_load_first"))
      assert.equal(each.rows, count(text, "attn2c_store_first"))
      assert.equal(1, count(text, "attn2c_load_first%(a %+ " .. last .. " %* ATTN2C_LANES, a_lanes%)"))
      assert.equal(each.rows, count(text, "attn2c_load_first%(c %+ %d+ %* ldc %+ " .. last
        .. " %* ATTN2C_LANES, c_lanes%)"))
      assert.equal(each.rows, count(text, "ldc %+ " .. last .. " %* ATTN2C_LANES, c%d+_" .. last .. ", c_lanes%)"))
    end
  end)

  it("asks for weights ahead before every `every` inputs, where it is told to", function()
    for _, each in ipairs(SHAPES) do
      local text = strip.text(each)
      assert.equal(each.fetches and 1 or 0, count(text, "ahead = attn2c_ask%(ahead, lines%);"))
      assert.equal(each.fetches and 1 or 0, count(text, "i %+ every < k %? i %+ every : k"))
      assert.equal(each.fetches and 1 or 0, count(text, ", const float %*ahead, int every, int lines%) {"))
    end
  end)
end)
