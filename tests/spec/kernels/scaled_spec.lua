-- scaled_spec: strips of weights in scale blocks: each sum once a block, the places of scales, minima and integers, and
-- what a type's record says about the text.
local helper = require("tests.spec.helper")
local scaled = require("kernels.scaled")
local ahead = require("passes.plan.ahead")
local divide = require("passes.common.divide")
local each_strip = require("kernels.product").each_strip
local registers = require("passes.plan.registers")
local targets = require("data.targets")
local types = require("data.types")

assert(helper)

local function count(text, pattern)
  local _, n = text:gsub(pattern, "")
  return n
end

-- The bits of the integers that are multiplied: values of a table and 5 or 6 bits become 8.
local function width(block) return (block.values or block.bits > 4) and 8 or 4 end

local function text_of(type, rows, vectors, fetches)
  return scaled.text { rows = rows, vectors = vectors, types = types.product(type), fetches = fetches }
end

describe("a strip of scale blocks", function()
  it("adds every four inputs of a pair to each row's integers once, for each vector", function()
    for _, type in ipairs(types.scaled) do
      local text = text_of(type.name, 3, 2)
      assert.equal(2 * 8 * 3 * 2, count(text, ("= attn2c_scaled%d_add%%("):format(width(type.block))), type.name)
      for number = 0, 7 do
        assert.equal(2 * 3 * 2, count(text, ("%%.x %%+ %d,"):format(4 * number)), type.name)
      end
    end
  end)

  it("has the code of the rows that its constant says", function()
    for _, type in ipairs(types.scaled) do
      local block, lines = type.block, {}
      local text = scaled.text { rows = 4, least = 2, vectors = 2, types = types.product(type.name) }
      for row in text:gmatch("if %(rows > (%d)%)") do lines[row] = (lines[row] or 0) + 1 end
      -- Sums that C has; for each part of a block and vector: the row read again, a start, its fours, scales; stores.
      local of_row = 2 + 2 * 2 * (block.scales * 3 + 8)
      assert.same({ ["2"] = of_row, ["3"] = of_row }, lines, type.name)
    end
  end)

  it("adds every four fine inputs to two integers of each row, from the same words of weights", function()
    for _, type in ipairs(types.scaled) do
      local shape = { rows = 3, vectors = 2, types = types.product(type.name, types.fine) }
      local text, block = scaled.text(shape), type.block
      assert.equal("strip_x2_" .. type.name .. "_fine", scaled.name(shape))
      for number = 0, 7 do
        local pattern = "attn2c_fine%d_add%%(w, b%%d%%[%%d%%].x, %d, &s%%d, &t%%d, rows > 1%%);"
        assert.equal(2 * 3 * 2, count(text, pattern:format(width(block), number)), type.name)
      end
      local zero = width(block) == 8 and (block.scales == 2 and "zero4_half" or "zero8") or block.minimum and "0"
        or "zero4"
      local splats = count(text, "= attn2c_integers_splat%(b?%d?%[?%d?%]?%.?" .. zero)
      assert.equal(2 * 3 * 2 * block.scales, splats, type.name)
      assert.equal(2 * 3 * 2 * block.scales, count(text, "attn2c_to_floats%(attn2c_fine_end%(s%d, t%d%)%)"), type.name)
      assert.equal(count(text_of(type.name, 1, 2), "attn2c_words_load"), count(text, "attn2c_words_load"), type.name)
    end
  end)

  it("multiplies each sum of integers by its scales, and adds the minimum if there is one", function()
    for _, type in ipairs(types.scaled) do
      local text, block = text_of(type.name, 2, 1), type.block
      assert.equal(2 * 2 * block.scales, count(text, "scale %* attn2c_splat%("), type.name)
      assert.equal(block.minimum and 2 * 2 * block.scales or 0, count(text, "attn2c_multiply_add%(least,"), type.name)
      local units = block.unit and "units + i / 256 * " .. 16 * block.unit_bytes or "NULL"
      local loads = 0
      for unit, least in text:gmatch("attn2c_scales_load%(facts, [^,]+, [^,]+, ([^,]+), &scale, ([&%a]+)%)") do
        assert.same({ units, block.minimum and "&least" or "NULL" }, { unit, least }, type.name)
        loads = loads + 1
      end
      assert.equal(2 * block.scales, loads, type.name)
    end
  end)

  it("becomes int8 as the type says", function()
    for _, type in ipairs(types.scaled) do
      local text, block = text_of(type.name, 1, 1), type.block
      assert.equal(block.values and 16 or 0, count(text, "attn2c_values%(values, "), type.name)
      local added = text:match("%+ (0x%x%x)u %* 0x01010101u")
      assert.equal(not block.values and block.bits > 4 and block.bits < 8 and 128 - (block.minimum and 0
        or 1 << block.bits - 1) or nil, added and tonumber(added), type.name)
      assert.equal(block.planes[2] > 0 and 16 or 0, count(text, "attn2c_plane%(high, "), type.name)
      -- each part of a block loads the words that it reads
      assert.equal(block.planes[2] > 0 and 2 * math.max(block.scales, block.planes[2]) or 0,
        count(text, "high = attn2c_words_load"), type.name)
    end
  end)

  it("reads every byte of a pair of blocks, and integers of two parts of it twice at most", function()
    for _, type in ipairs(types.scaled) do
      local text, block, seen = text_of(type.name, 1, 1), type.block, {}
      local function mark(at, bytes, most)
        for i = at, at + bytes - 1 do
          seen[i] = (seen[i] or 0) + 1
          assert.is_true(seen[i] <= most, ("%s: byte %d"):format(type.name, i))
        end
      end
      for at in text:gmatch("attn2c_words_load%(a([^)]*)%)") do
        mark(tonumber(at:match("%d+") or 0), 64, block.planes[2] > 0 and block.scales or 1)
      end
      for scale, least in text:gmatch("attn2c_scales_load%(facts, a([^,]*), ([^,]+),") do
        mark(tonumber(scale:match("%d+") or 0), block.scale_bytes * 16, 1)
        if least ~= "NULL" then mark(tonumber(least:match("%d+") or 0), block.scale_bytes * 16, 1) end
      end
      local pair = types.pair_bytes(16, type.name)
      assert.equal(pair, #seen + 1, type.name)
      assert.truthy(text:find(("a += %d, b0 += 2"):format(pair), 1, true))
    end
  end)

  it("prefetches if its product does: the lines of a pair, at equal distances", function()
    for _, type in ipairs(types.scaled) do
      for vectors = 1, 2 do
        local text, lines, most = text_of(type.name, 1, vectors, true), 0, 0
        for number in text:gmatch("ahead = attn2c_ask_share%(ahead, (%d+), pace%);") do
          lines, most = lines + tonumber(number), math.max(most, tonumber(number))
        end
        assert.equal(types.pair_lines(16, type.name), lines, type.name)
        assert.is_true(most <= (lines + 16 * vectors - 1) // (16 * vectors), type.name)
        local several = text_of(type.name, 2, vectors, true) -- each holds back the next, or gcc puts them together
        assert.equal(count(several, "attn2c_ask_share"), count(several, "ATTN2C_HOLD_BOTH%(w, ahead%)"), type.name)
      end
    end
    assert.falsy(text_of("q4", 1, 1):find("ahead", 1, true))
    assert.equal("strip_x1_q4_ahead",
      scaled.name { rows = 1, vectors = 1, types = types.product("q4"), fetches = true })
  end)

  it("takes both of two panels at a time where it is joint, and loads four inputs of a row once for both", function()
    for _, type in ipairs(types.scaled) do
      for _, rows in ipairs { "x8", "x15" } do
        local shape = { rows = 3, vectors = 2, joint = true, types = types.product(type.name, rows) }
        local text, block, is_fine = scaled.text(shape), type.block, rows == types.fine
        assert.equal(2 * 8 * 3 * (is_fine and 2 or 1), count(text, "x = attn2c_words_splat%("), type.name)
        for vector = 0, 1 do
          for _, sum in ipairs { "s", is_fine and "t" or nil } do
            local pattern = ("(%s%%d_%d) = attn2c_int8_quads%%(x, w_%d, %%1%%);"):format(sum, vector, vector)
            assert.equal(2 * 8 * 3, count(text, pattern), type.name)
          end
          local sum = ("(c%%d_%d) = attn2c_multiply_add%%(attn2c_to_floats%%([^;]*s%%d_%d[^;]*, %%1%%);"):format(vector,
            vector)
          assert.equal(2 * 3 * block.scales, count(text, sum), type.name)
          local least = ("(c%%d_%d) = attn2c_multiply_add%%(least_%d, [^;]*, %%1%%);"):format(vector, vector)
          assert.equal(block.minimum and 2 * 3 * block.scales or 0, count(text, least), type.name)
        end
      end
    end
  end)

  it("reads the same bytes of two panels where it is joint, and those of one vector as another strip", function()
    for _, type in ipairs(types.scaled) do
      local joint = scaled.text { rows = 1, vectors = 2, joint = true, types = types.product(type.name) }
      local function places(text, is_second)
        local list = {}
        for place in text:gmatch("[%(,] ?(%l[%w /%*%+]*)%f[,%)]") do
          local bytes, apart = place:match("^([au].*) %+ (apart)$")
          if not bytes then bytes = place:match("^a$") or place:match("^a %+ %d+$") or place:match("^units %+ .*$") end
          if bytes and (apart ~= nil) == is_second then list[#list + 1] = bytes end
        end
        return list
      end
      local one = places(text_of(type.name, 1, 1), false)
      assert.is_true(#one >= 10, type.name)
      assert.same(one, places(joint, false), type.name)
      assert.same(one, places(joint, true), type.name)
      local apart = joint:match("const ptrdiff_t apart = ([^;]*);")
      assert.equal(("(k + 63) / 64 * %d%s"):format(types.pair_bytes(16, type.name), type.block.unit
        and " + attn2c_units_bytes(facts, (k + 31) / 32) * ATTN2C_SCALED_PANEL" or ""), apart)
    end
  end)

  it("takes two whole panels of int4 at a time where vpdpbusd has vectors of a panel", function()
    local function widths(outputs, type, target)
      local panels = divide.panels(outputs, 16, type)
      local taken = scaled.panels(panels, targets.by_name[target])
      assert.equal(taken.widths[1] > 16 and panels or nil, taken.pairs_of)
      return table.concat(taken.widths, " ")
    end
    assert.equal("32 32 16", widths(80, "q4", "avx512bf16"))
    assert.equal("32 16 4", widths(52, "q4k", "avx512vnni"))
    assert.equal("32 4", widths(36, "q4m", "avx512bf16"))
    assert.equal("16 4", widths(20, "q4f", "avx512bf16"))
    for _, target in ipairs(targets.list) do
      for _, type in ipairs(types.scaled) do
        local is_joint = (target.name == "avx512bf16" or target.name == "avx512vnni")
          and ({ q4 = true, q4m = true, q4f = true, q4k = true })[type.name]
        assert.equal(is_joint and "32" or "16 16", widths(32, type.name, target.name), target.name .. type.name)
      end
    end
  end)

  it("has rows whose sums and integers fit the registers", function()
    for _, target in ipairs(targets.list) do
      for _, rows in ipairs { types.coarse, types.fine } do
        local vectors, integers = types.SCALE_PANEL // target.vector, rows == types.fine and 2 or 1
        for _, type in ipairs(types.scaled) do
          local most = scaled.most_rows(target, rows, false, type.name)
          assert.is_true(most * vectors + integers * most + 4 <= target.registers, target.name)
          if target.name:find("^avx512") then
            most = scaled.most_rows(target, rows, true, type.name)
            assert.is_true(most * 2 + integers * most * 2 + 4 <= target.registers, target.name)
          end
        end
      end
    end
  end)

  it("reads integers of 8 bits once up to 12 rows, with vpdpbusd", function()
    local function most(target, word, rows)
      return scaled.most_rows(targets.by_name[target], rows or types.coarse, false, word)
    end
    assert.same({ 12, 12, 12, 12, 12 }, { most("avx512bf16", "q8"), most("avx512vnni", "q5m"),
      most("avx512bf16", "v4"), most("avx512bf16", "q8h"), most("avx512bf16", "v3") })
    assert.same({ 8, 8, 8, 8, 8, 8 }, { most("avx512bf16", "q6k"), most("avx512bf16", "q3k"), most("avx512bf16", "q4"),
      most("avx512", "q8"), most("amx", "q8"), most("avx512bf16", "q8", types.fine) })
  end)

  it("takes both vectors of a panel at a time from three rows on, on AVX2", function()
    local function shape(target, rows, of)
      local strips = registers.strips(16, rows, 64, targets.by_name[target], 4096, false, of or types.product("q4"))
      local found
      each_strip({ m = 16, n = rows, k = 64, types = of or types.product("q4"), strips = strips },
        function(each) found = each end)
      return found
    end
    local found = shape("avx2", 3)
    assert.same({ true, "strip_x2_q4_together" }, { found.together, scaled.name(found) })
    local text = scaled.text(found)
    for row = 0, 2 do -- the inputs of a row are loaded once for both vectors, of each of 16 groups of a pair
      local _, loads = text:gsub(("x = attn2c_words_splat%%(b%d%%["):format(row), "")
      local _, sums = text:gsub(("s%d_1 = attn2c_scaled4_words%%(w_1, x, s%d_1,"):format(row, row), "")
      assert.same({ 16, 16 }, { loads, sums })
    end
    for _, each in ipairs { shape("avx2", 2), shape("avx2", 4, types.product("q4", types.fine)), shape("avxvnni", 4),
      shape("avx512", 4), shape("x86_64", 2) } do
      assert.is_nil(scaled.name(each):find("together"))
    end
  end)

  it("takes the panels one after the other in products of few rows", function()
    local target, of = targets.by_name.avx512bf16, types.product("q4")
    local open = registers.open_strips(32, 64, target, 4096, false, of)
    assert.same({ true, { { count = 1, size = 2 } }, 6, 3, { { count = 2, size = 1 } }, 4, 1, 0 }, { open.joint,
      open.groups, open.strips[1].size, open.strips[#open.strips].size, open.tall.groups, open.tall.strips[1].size,
      open.tall.strips[#open.tall.strips].size, open.tall.above })
    for n = 5, 100 do -- each number of rows of a strip has one
      local strips = (n + 5) // 6
      assert.is_true(n // strips >= 3, n)
    end
    local function of_rows(n) return registers.strips(32, n, 64, target, 4096, false, of) end
    assert.same({ nil, { { count = 2, size = 1 } }, { { count = 1, size = 4 } } }, { of_rows(4).joint,
      of_rows(4).groups, of_rows(4).strips })
    assert.same({ true, { { count = 1, size = 2 } }, { { count = 1, size = 5 }, { count = 1, size = 4 } } },
      { of_rows(9).joint, of_rows(9).groups, of_rows(9).strips })
    local fine = types.product("q4", types.fine)
    assert.equal(4, registers.strips(32, 64, 64, target, 4096, false, fine).strips[1].size)
    assert.equal(2, registers.open_strips(32, 64, target, 4096, false, fine).tall.strips[1].size)
    local function fetch(m, strips)
      local product = { m = m, n = 512, k = 2048, lda = m, types = of, strips = strips }
      return ahead.by_strips(product, { fetch = 1, stream = 10240 }, 16, 1)
    end
    local single = fetch(16, registers.open_strips(16, 2048, target, 4096, false, of))
    assert.same(single.by_strips[1], fetch(32, open).tall[1]) -- as much as a product of one panel
    local panel = types.panel_bytes(2048, 32, "q4") -- a joint strip prefetches the next two, alone or not
    assert.same({ panel, panel }, { fetch(32, open).by_strips[1].from, fetch(32, open).by_strips[2].from })
    assert.equal(2 * single.by_strips[3].each, fetch(32, open).by_strips[3].each)
  end)
end)
