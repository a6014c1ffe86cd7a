-- registers_spec: how products are cut into strips: they cover every row and output once, in shares as equal as can
-- be, and never hold more than the target has registers; the tiles that are known to be best are found.
require("tests.spec.helper")
local registers = require("passes.plan.registers")
local targets = require("data.targets")
local forms = require("kernels.forms")
local types = require("data.types")

local function sum_of(shares)
  local sum = 0
  for _, share in ipairs(shares) do sum = sum + share.count * share.size end
  return sum
end

-- "2 x 9, 1 x 8" of shares.
local function text_of(shares)
  local list = {}
  for i, share in ipairs(shares) do list[i] = ("%d x %d"):format(share.count, share.size) end
  return table.concat(list, ", ")
end

local function strips(target, m, n, k, most)
  return registers.strips(m, n, k or 768, targets.by_name[target], most or 4096)
end

local products = {}
for _, target in ipairs(targets.list) do
  for _, n in ipairs { 1, 2, 3, 5, 8, 9, 10, 13, 31, 97 } do
    for _, m in ipairs { 1, 3, 4, 8, 15, 16, 17, 24, 33, 48, 63, 64, 80, 128, 200, 256 } do
      for _, k in ipairs { 1, 17, 768 } do
        for _, most in ipairs { 1, 5, 4096 } do
          local is_cut = m % target.vector > 0 and k ~= 17
          products[#products + 1] = { target, m, n, registers.strips(m, n, k, target, most, is_cut), most, is_cut }
        end
      end
    end
  end
end

-- Calls visit(target, m, n, strips, most, is_cut) for products of all kinds.
local function each_product(visit)
  for _, product in ipairs(products) do visit(table.unpack(product)) end
end

describe("the strips of a product", function()
  it("cover all rows and outputs once", function()
    each_product(function(target, m, n, found)
      assert.equal(n, sum_of(found.strips))
      assert.equal((m + target.vector - 1) // target.vector, sum_of(found.groups))
    end)
  end)

  it("are as equal as can be, the larger first", function()
    each_product(function(_, _, _, found)
      for _, shares in ipairs { found.strips, found.groups } do
        assert.is_true(#shares == 1 or #shares == 2 and shares[1].size == shares[2].size + 1, text_of(shares))
        for _, share in ipairs(shares) do assert.is_true(share.count >= 1 and share.size >= 1) end
      end
    end)
  end)

  it("have no more rows than are allowed", function()
    each_product(function(_, _, n, found, most)
      assert.is_true(found.strips[1].size <= math.min(most, n))
    end)
    assert.equal("2 x 3", text_of(strips("avx512", 48, 6, 768, 4).strips))
  end)

  it("never need more registers than there are", function()
    local held = {}
    each_product(function(target, m, n, found, _, is_cut)
      -- The sums; what stays in registers beside them: vectors of A, or floats of B; one of the other; without fused
      -- multiply-adds, the product before it is added; the mask of a cut vector where that is a vector, too.
      for _, rows in ipairs(found.strips) do
        for _, group in ipairs(found.groups) do
          local beside = found.rows_held and rows.size or group.size
          local used = rows.size * group.size + beside + 1 + (target.has_fma and 0 or 1)
            + (is_cut and target.name ~= "avx512" and 1 or 0)
          if used > target.registers then
            error(("%s: m %d n %d: %d x %d need %d"):format(target.name, m, n, rows.size, group.size, used))
          end
        end
      end
      if found.rows_held then held[target.name] = true end
    end)
    assert.is_true(held.avx512 and held.avx2 and held.x86_64)
  end)

  it("keep rows in registers only where there are more vectors than rows", function()
    each_product(function(_, _, _, found)
      assert.is_true(not found.rows_held or found.groups[1].size > found.strips[1].size)
    end)
  end)

  it("are the best that are known", function()
    local function all(target, m, n)
      local found = strips(target, m, n)
      return text_of(found.strips) .. " rows by " .. text_of(found.groups)
    end
    assert.equal("16 x 8 rows by 1 x 3", all("avx512", 48, 128))
    assert.equal("6 x 8, 6 x 7 rows by 1 x 3", all("avx512", 48, 90))
    assert.equal("1 x 8 rows by 1 x 3", all("avx512", 48, 8))
    assert.equal("1 x 6 rows by 1 x 2", all("avx2", 16, 6))
    assert.equal("16 x 6 rows by 1 x 2", all("avx2", 16, 96))
    assert.equal("14 x 6, 4 x 5 rows by 1 x 2", all("avx2", 16, 104))
  end)

  it("have few sums only where nothing better fits", function()
    local function all(m, n, k)
      local found = strips("avx2", m, n, k)
      return text_of(found.strips) .. " rows by " .. text_of(found.groups) .. (found.rows_held and ", held" or "")
    end
    -- 10 sums, 2 rows by 5 vectors, were slower than 12 and 8.
    assert.equal("8 x 4 rows by 1 x 3, 1 x 2", all(40, 32, 128))
    -- Rows of 6 and 5 were slower than 3 in registers, which take all of them; a loop that is unrolled wants one more.
    assert.equal("10 x 3, 1 x 2 rows by 1 x 4, held", all(32, 32, 16))
    assert.equal("2 x 6, 4 x 5 rows by 2 x 2", all(32, 32, 15))
  end)

  it("of one row keep enough sums under way", function()
    -- One row of 256 outputs: a strip of one vector would wait for each multiply-add.
    for _, target in ipairs(targets.list) do
      local found = registers.strips(256, 1, 768, target, 4096)
      assert.is_true(found.groups[1].size >= math.min(6, target.registers // 2 - 2), target.name)
    end
  end)

  it("of bf16 and int8 never need more registers than there are, and have enough sums under way", function()
    for _, target in ipairs(targets.list) do
      for _, of in ipairs { types.product("bf16"), types.product("bf16", "f32"), types.product("i8") } do
        for _, vectors in ipairs { 1, 2, 3, 4, 8 } do
          for _, n in ipairs { 1, 4, 9, 64 } do
            local form = forms.of(of, target)
            local inputs = target.has_tiles and 31 or 768 -- fewer than tiles have
            local found = registers.strips(vectors * target.vector, n, inputs, target, n, false, of)
            local is_split = form.split and target.registers == 16 and vectors == 2 and n == 64
            if is_split then form = forms.all[form.split.form] end
            assert.equal(form.name, found.form)
            local rows, group = found.strips[1].size, found.groups[1].size
            local beside = found.rows_held and rows + form.factors or group * form.factors + 1
            local more = target.registers == 16 and form.few_registers or form.registers
            assert.is_true(rows * group + beside + more <= target.registers)
            if n == 64 then assert.is_true(rows * group >= 8, target.name .. " " .. form.name) end
          end
        end
      end
    end
    assert.equal("8 x 8 rows by 1 x 3", text_of(registers.strips(48, 64, 768, targets.by_name.avx512bf16, 64, false,
      types.product("bf16")).strips) .. " rows by 1 x 3")
  end)
end)

describe("strips in tiles", function()
  local amx = targets.by_name.amx

  local function of(m, n, k, type, most)
    return registers.strips(m, n, k, amx, most or 4096, false, type)
  end

  it("are of products of bf16 and int8 that fill a step, however many rows they have", function()
    for _, n in ipairs { 1, 2, 15, 64 } do
      for k = 1, 130 do
        assert.equal(k >= 32 and "bf16_tiles" or "bf16_pairs", of(48, n, k, types.product("bf16")).form)
        assert.equal(k >= 64 and "int8_tiles" or "int8_quads", of(48, n, k, types.product("i8")).form)
      end
      assert.equal("f32", of(48, n, 768, types.f32_product).form)
      assert.equal("bf16_floats", of(48, n, 768, types.product("bf16", "f32")).form)
    end
  end)

  it("have at most 32 rows by two vectors, and make all", function()
    for _, m in ipairs { 1, 16, 17, 32, 48, 63, 64 } do
      for n = 1, 70 do
        local found, rows, vectors = of(m, n, 96, types.product("bf16"), n % 5 == 0 and 7 or nil), 0, 0
        for _, each in ipairs(found.strips) do
          rows = rows + each.count * each.size
          assert.is_true(each.count >= 1 and each.size >= 1 and each.size <= (n % 5 == 0 and 7 or 32))
        end
        for _, each in ipairs(found.groups) do
          vectors = vectors + each.count * each.size
          assert.is_true(each.size <= 2)
        end
        assert.equal(n, rows)
        assert.equal((m + 15) // 16, vectors)
      end
    end
  end)

  it("take equal steps where these cover all inputs, else whole ones and a rest", function()
    for inputs, step in pairs { [32] = 32, [36] = 18, [38] = 32, [40] = 20, [48] = 24, [64] = 32, [70] = 32, [96] = 32,
      [768] = 32 } do
      assert.equal(step, of(32, 32, inputs, types.product("bf16")).step, inputs)
    end
    for inputs, step in pairs { [64] = 64, [72] = 36, [80] = 40, [96] = 48, [100] = 64, [768] = 64 } do
      assert.equal(step, of(32, 32, inputs, types.product("i8")).step, inputs)
    end
  end)

  it("sum over K blocks where rows and weights of all inputs are too many for a near cache", function()
    for inputs, block in pairs { [100] = 100, [384] = 384, [640] = 640, [768] = 384, [3072] = 512, [1000] = 512,
      [704] = 352 } do
      assert.equal(block, of(32, 64, inputs, types.product("bf16")).block, inputs)
    end
    for inputs, block in pairs { [768] = 768, [3072] = 1024 } do
      assert.equal(block, of(32, 64, inputs, types.product("i8")).block, inputs)
    end
  end)

  it("read rows once if they are of one group of vectors", function()
    for m, once in pairs { [16] = true, [32] = true, [33] = false, [64] = false } do
      assert.equal(once or nil, of(m, 64, 768, types.product("bf16")).once, m)
    end
  end)

  it("of an attention of any length do not depend on the greatest length", function()
    local function open(m, k, sizes)
      return registers.open_tiles(m, k, targets.by_name.amx, types.product("bf16"), sizes)
    end
    for _, most in ipairs { 1, 5, 31, 32, 100, 512 } do
      assert.equal(32, open(64, most, "n k").step, most)
      assert.equal("2 x 2", text_of(open(64, most, "n k").groups))
    end
    for _, most in ipairs { 32, 112, 512 } do assert.equal("1 x 2, 1 x 1", text_of(open(most, 64, "n m").groups)) end
    assert.equal("1 x 1", text_of(open(16, 64, "n m").groups))
    assert.is_nil(open(64, 31, "n m"), "inputs that fill no step")
    assert.is_nil(registers.open_tiles(64, 64, targets.by_name.avx512bf16, types.product("bf16"), "n m"))
  end)
end)

describe("the strips of a panel of open rows", function()
  -- "rows by vectors, rows to rows by vectors" of a panel of f32.
  local function panel(target, m, most, of)
    local s = registers.open_panel(m, 768, targets.by_name[target], most or 4096, of or types.f32_product)
    local tall = s.tall
    return ("%d by %s%s"):format(s.strips[1].size, text_of(s.groups),
      tall and (", %d to %s by %s"):format(tall.above + 1, tall.upto or "all", text_of(tall.groups)) or "")
  end

  it("of open outputs have the most vectors, and each power of two below", function()
    local below = { [1] = {}, [2] = { 1 }, [3] = { 2, 1 }, [4] = { 2, 1 }, [5] = { 4, 2, 1 }, [8] = { 4, 2, 1 } }
    local seen = 0
    for _, target in ipairs(targets.list) do
      for m = 8, 128, 8 do
        for most = 1, 4 do
          local groups = registers.open_strips(m, 64, target, most, false, types.f32_product, true).groups
          local wanted = { { count = 1, size = groups[1].size } }
          for i, size in ipairs(below[groups[1].size] or {}) do wanted[i + 1] = { count = 1, size = size } end
          if below[groups[1].size] then assert.same(wanted, groups) end
          seen = below[groups[1].size] and seen + 1 or seen
        end
      end
    end
    assert.is_true(seen > 100)
  end)

  it("are tall where two usual strips would read a panel twice", function()
    assert.equal("9 by 1 x 3, 10 to 16 by 3 x 1", panel("avx512", 48))
    assert.equal("9 by 1 x 3, 10 to 12 by 3 x 1", panel("avx512", 40, 12))
  end)

  it("have one tall strip of each number of rows", function()
    local tall = registers.open_panel(48, 768, targets.by_name.avx512, 4096, types.f32_product).tall
    for i, each in ipairs(tall.strips) do assert.same({ count = 1, size = 17 - i }, each) end
    assert.equal(7, #tall.strips)
  end)

  it("are not tall if they have few vectors or few rows, or are no single strip, nor in other types", function()
    for _, m in ipairs { 16, 32, 64, 80 } do assert.is_nil(panel("avx512", m):find("to"), m) end
    assert.is_nil(panel("avx512", 48, 9):find("to"))
    assert.is_nil(panel("avx512", 48, nil, types.product("bf16", "f32")):find("to"))
    assert.is_nil(panel("avx512bf16", 32, nil, types.product("bf16")):find("to"))
    for _, m in ipairs { 8, 16, 24 } do assert.is_nil(panel("avx2", m):find("to"), m) end
    for _, each in ipairs(targets.list) do
      assert.is_nil(panel(each.name, 16, nil, types.product("q4", "x8")):find("to"), each.name)
      if each.name ~= "avx2" then
        assert.is_nil(panel(each.name, 16, nil, types.product("i8")):find("to"), each.name)
      end
    end
  end)

  it("split panels of int8 on AVX2, of two vectors, many rows and not too many inputs", function()
    local target, of = targets.by_name.avx2, types.product("i8")
    assert.equal("10 by 2 x 1, 20 to all by 1 x 2", panel("avx2", 16, nil, of))
    assert.is_nil(panel("avx2", 32, nil, of):find("to"))
    local function form(m, n, k, is_cut) return registers.strips(m, n, k, target, 4096, is_cut, of).form end
    assert.same({ "int8_split", "int8_split", "int8_signs", "int8_signs", "int8_signs", "int8_signs" }, {
      form(16, 20, 3072), form(12, 128, 5), form(16, 19, 768), form(8, 64, 768), form(16, 64, 3073),
      form(12, 64, 768, true) })
    assert.same({ { count = 2, size = 5 }, { count = 3, size = 4 } }, registers.strips(16, 22, 64, target, 4096, false,
      of).strips)
  end)
end)
