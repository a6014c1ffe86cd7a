-- ahead_spec: the strips of a product ask for all lines of a panel ahead.
require("tests.spec.helper")
local ahead_of = require("passes.plan.ahead").of
local forms = require("kernels.forms")
local targets = require("data.targets")
local types = require("data.types")

describe("what a product of few queries asks for ahead", function()
  local near = require("passes.plan.ahead").near

  it("is `near` bytes of the keys or values that it reads next, of any type", function()
    assert.same({ near = 16 }, near("f32", 64, 4096))
    assert.same({ near = 16 }, near("bf16", 64, 4096))
    assert.same({ near = 8 }, near("bf16", 64, 2048))
    assert.same({ near = 1 }, near("f32", 4096, 4096))
  end)

  it("is nothing where that is 0", function()
    assert.is_nil(near("bf16", 64, 0))
  end)
end)

describe("what a product of open rows asks for ahead", function()
  local function by_strips(parameters, stream_rows, more, type)
    local product = { n = 64, k = 768, lda = 16, types = types.product(type or "q8", "x8"),
      strips = { form = type and "bf16_pairs" or "scaled", groups = { { count = 1, size = 1 } },
        strips = { { count = 1, size = 8 } } } }
    for name, value in pairs(more or {}) do product.strips[name] = value end
    return require("passes.plan.ahead").by_strips(product, parameters, 16, stream_rows)
  end

  it("depends on the number of strips, up to that of its most rows", function()
    local all = by_strips({ fetch = 1, stream = 3072 }, 2)
    assert.equal(8, #all.by_strips)
    assert.equal(3072, all.by_strips[1].from)
    assert.equal(768 // 64 * 1088, all.by_strips[2].from)
    assert.equal(3, #by_strips({ fetch = 1, stream = 3072 }, 2, { many_rows = 17 }).by_strips)
  end)

  it("is for strips of `stream_rows` rows or more", function()
    assert.equal(2, by_strips({ fetch = 1, stream = 3072 }, 2).least)
    assert.equal(2, by_strips({ fetch = 1, stream = 3072 }, 8).least) -- of scale blocks, not more
    assert.equal(8, by_strips({ fetch = 1, stream = 3072 }, 8, nil, "bf16").least)
    assert.equal(1, by_strips({ fetch = 1, stream = 3072 }, 1).least)
    assert.is_nil(by_strips({ fetch = 1, stream = 3072 }, 9, nil, "bf16")) -- no strip has so many
    assert.is_nil(by_strips({ fetch = 0, stream = 0 }, 1))
  end)
end)

describe("what strips of scale blocks ask for ahead", function()
  local function ahead(type, k, strips)
    return ahead_of({ k = k, lda = 16, types = types.product(type) }, { form = "scaled",
      groups = { { count = 1, size = 1 } }, strips = { { count = strips, size = 8 } } },
      { fetch = 1, stream = 10240 }, 16)
  end

  it("is a pair of blocks in every pair, where one strip reads them", function()
    assert.same({ from = 10240, each = 12 * 576, every = 64, pace = 64, lines = 9, nth = 1 }, ahead("q4", 768, 1))
    assert.same({ from = 10240, each = 12 * 1088, every = 64, pace = 64, lines = 17, nth = 1 }, ahead("q8", 768, 1))
  end)

  it("is all of the next panel, whatever its inputs and strips", function()
    for _, type in ipairs(types.scaled) do
      for _, k in ipairs { 64, 100, 576, 2048 } do
        for strips = 2, 33 do
          local of, panel = ahead(type.name, k, strips), types.panel_bytes(k, 16, type.name)
          local asked = (k + of.every - 1) // of.every * of.lines * 64
          assert.same({ panel, asked }, { of.from, of.each })
          assert.is_true(strips * asked >= panel, ("%s %d %d"):format(type.name, k, strips))
          local requests = (k + 63) // 64 * of.lines -- of a strip: each is for the line of its byte
          assert.is_true(of.pace <= 64 and requests * of.pace >= asked and requests * (of.pace - 1) < asked)
        end
      end
    end
  end)

  it("is nothing for a single strip of one pair whose units are more than a line", function()
    local function single(k)
      return ahead_of({ k = k, lda = 32, n = 1, types = types.product("q4k", "x8") }, { form = "scaled",
        groups = { { count = 1, size = 2 } }, strips = { { count = 1, size = 1 } } }, { fetch = 1, stream = 10240 }, 16)
    end
    assert.is_false(single(64))
    assert.equal(2 * 19 * 64, single(128).each)
  end)
end)

describe("what a product asks for ahead", function()
  -- ahead.lua for a panel of k rows, `lda` floats each; groups and rows: shares of strips.
  local function ahead(k, lda, groups, rows, more)
    local p = { fetch = 1, stream = 8192 }
    for name, value in pairs(more or {}) do p[name] = value end
    return ahead_of({ k = k, lda = lda, types = types.f32_product }, { form = "f32", groups = groups, strips = rows },
      p, 16)
  end

  it("is the panel that is `fetch` ahead, a share a strip", function()
    -- 768 rows of 3 lines, 16 strips: 144 lines each, in 192 requests: 12 floats after each other.
    assert.same({ from = 768 * 48 * 4, each = 144 * 64, every = 4, lines = 1, pace = 12, nth = 1 },
      ahead(768, 48, { { count = 1, size = 3 } }, { { count = 16, size = 8 } }))
    assert.equal(3 * 768 * 48 * 4,
      ahead(768, 48, { { count = 1, size = 3 } }, { { count = 16, size = 8 } }, { fetch = 3 }).from)
  end)

  it("is what lies `stream` bytes ahead in the same weights where one strip reads them once", function()
    assert.same({ from = 8192, each = 768 * 3 * 64, every = 4, lines = 12, pace = 192, nth = 1 },
      ahead(768, 48, { { count = 1, size = 3 } }, { { count = 1, size = 8 } }))
    assert.equal(4096, ahead(768, 48, { { count = 1, size = 3 } }, { { count = 1, size = 8 } },
      { fetch = 0, stream = 4096 }).from)
  end)

  it("is also what is 5 KB further, if `stream` is less than a page", function()
    local function far(stream, rows)
      return ahead(768, 48, { { count = 1, size = 3 } }, { { count = rows, size = 8 } }, { stream = stream }).far
    end
    assert.equal(5120, far(3072, 1))
    assert.is_nil(far(3072, 9)) -- the next panel, which is asked for at once
    assert.is_nil(far(4096, 1))
  end)

  it("comes into the first-level cache 10 KB ahead, if each step of a single strip of words prefetches", function()
    local function first(type, form, stream, rows)
      local of = ahead_of({ k = 768, lda = 32, types = types.product(type) }, { form = form,
        groups = { { count = 1, size = 2 } }, strips = { { count = 1, size = rows } } },
        { fetch = 1, stream = stream }, 16)
      return { of.far or 0, of.nth }
    end
    assert.same({ -1, 1 }, first("bf16", "bf16_pairs", 10240, 4))
    assert.same({ -1, 1 }, first("i8", "int8_quads", 10240, 12))
    assert.same({ 0, 2 }, first("bf16", "bf16_pairs", 8192, 4))
    assert.same({ 5120, 1 }, first("i8", "int8_quads", 3072, 12))
    assert.same({ 0, 1 }, first("f32", "f32", 10240, 8))
  end)

  it("is nothing where a single strip has fewer rows than a target's `stream_rows`", function()
    local function asked(rows, count)
      return ahead_of({ k = 768, lda = 48, types = types.f32_product },
        { form = "f32", groups = { { count = 1, size = 3 } }, strips = { { count = count, size = rows } } },
        { fetch = 1, stream = 3072 }, 16, 4)
    end
    assert.is_false(asked(3, 1))
    assert.equal(3072, asked(4, 1).from)
    assert.equal(768 * 48 * 4, asked(2, 2).from)
  end)

  it("is one line of each pair where a single strip of two lines or more has few rows", function()
    local function asked(type, lda, rows)
      local of = types.product(type)
      local found = ahead_of({ k = 768, lda = lda, types = of },
        { form = forms.of(of, targets.by_name.avx512bf16).name, groups = { { count = 1, size = lda // 16 } },
          strips = { { count = 1, size = rows } } }, { fetch = 1, stream = 3072 }, 16)
      if found.nth == 2 then
        assert.is_nil(found.far)
        assert.is_true(lda == 32 or found.lines % 2 == 0)
      end
      return found.nth
    end
    for type, most in pairs { f32 = { 6, 4 }, bf16 = { 5, 5 }, i8 = { 4, 4 } } do
      for i, lda in ipairs { 48, 32 } do -- a step of panels of 32 reads one pair
        assert.equal(2, asked(type, lda, 1))
        assert.equal(2, asked(type, lda, most[i]))
        assert.equal(1, asked(type, lda, most[i] + 1))
      end
      assert.equal(1, asked(type, 16, 1))
    end
    assert.equal(1, ahead(768, 48, { { count = 3, size = 1 } }, { { count = 1, size = 2 } }).nth)
  end)

  it("is, of an open product, chosen by its number of strips, and where its rows are few", function()
    local shape = { n = 30, k = 768, lda = 48, types = types.f32_product,
      strips = { form = "f32", groups = { { count = 1, size = 3 } }, strips = { { count = 1, size = 8 } } } }
    local function found(stream)
      return require("passes.plan.ahead").by_strips(shape, { fetch = 1, stream = stream }, 16, 1)
    end
    local list = found(3072)
    assert.equal(4, #list.by_strips)
    assert.same({ 6, 2, 3072, 5120, 768 * 48 * 4 },
      { list.few_rows, list.few.nth, list.few.from, list.by_strips[1].far, list.by_strips[2].from })
    list = found(0)
    assert.is_nil(list.few)
    assert.is_false(list.by_strips[1])
  end)

  it("is, of a tall strip, a third of the next panel, and is known for each number of rows", function()
    local plan, panel = require("passes.plan.ahead"), 768 * 48 * 4
    local shape = { n = 64, k = 768, lda = 48, types = types.f32_product,
      strips = require("passes.plan.registers").open_panel(48, 768, targets.by_name.avx512, 4096, types.f32_product) }
    shape.fetch = plan.by_strips(shape, { fetch = 1, stream = 3072 }, 16, 2)
    local function asked(rows)
      local each = plan.of_rows(shape, rows)
      return each and { each.from, panel / each.each, each.nth }
    end
    assert.is_false(asked(1))
    assert.same({ 3072, 1, 2 }, asked(6))
    assert.same({ 3072, 1, 1 }, asked(9))
    assert.same({ panel, 3, 1 }, asked(10))
    assert.same({ panel, 3, 1 }, asked(16))
    assert.same({ panel, 3, 1 }, asked(17))
    assert.same({ panel, 4, 1 }, asked(25))
    shape.fetch = plan.by_strips(shape, { fetch = 0, stream = 3072 }, 16, 2)
    assert.is_false(asked(10))
  end)

  it("is, in tiles, at several places of the panel that is `fetch` ahead, also of a single strip", function()
    local function of_tiles(count)
      return ahead_of({ k = 768, lda = 32, types = types.product("bf16") },
        { groups = { { count = 1, size = 2 } }, strips = { { count = count, size = 32 } }, step = 32 },
        { fetch = 1, stream = 8192 }, 16)
    end
    -- 768 lines, 24 steps a strip: 8 or 32 lines a step, at 16 places at most.
    assert.same({ from = 49152, each = 24 * 64, every = 32, lines = 8, run = 1, apart = 96 * 64 }, of_tiles(4))
    assert.same({ from = 49152, each = 48 * 64, every = 32, lines = 16, run = 2, apart = 48 * 64 }, of_tiles(1))
  end)

  it("is nothing where the parameter is 0", function()
    assert.is_false(ahead(768, 48, { { count = 1, size = 3 } }, { { count = 16, size = 8 } }, { fetch = 0 }))
    assert.is_false(ahead(768, 48, { { count = 1, size = 3 } }, { { count = 1, size = 8 } }, { stream = 0 }))
  end)

  it("leaves no line out, whatever the strips, and asks for few twice", function()
    for _, k in ipairs { 4, 7, 19, 64, 100, 768, 3072 } do
      for _, lines in ipairs { 1, 2, 3, 5, 8 } do
        for vectors = 1, 5 do
          for groups = 1, 3 do
            for _, strips in ipairs { 1, 2, 5, 16, 39 } do
              local found = ahead(k, 16 * lines, { { count = groups, size = vectors } },
                { { count = strips, size = 5 } })
              local share, panel, times = found.each // 64, k * lines, k // found.every
              local function wrong(how)
                error(("k %d, %d lines, %d x %d vectors, %d strips: %s"):format(k, lines, groups, vectors, strips, how))
              end
              if share * groups * strips < panel or times * found.pace < 16 * share
                or 16 * found.lines < found.pace then wrong("leaves lines out") end
              if times * (found.pace - 1) >= 16 * share or 16 * (found.lines - 1) >= found.pace then
                wrong("asks for too many")
              end
              if found.lines < 1 or found.every ~= 4 then wrong("asks never") end
            end
          end
        end
      end
    end
  end)

  it("is nothing where a strip of f32 has fewer inputs than there are between two requests", function()
    assert.is_false(ahead(3, 48, { { count = 1, size = 3 } }, { { count = 16, size = 8 } }))
  end)

  it("counts cache lines of other numbers, and asks at whole groups of inputs", function()
    for _, of in ipairs { types.product("bf16"), types.product("i8") } do
      for _, k in ipairs { 5, 64, 767, 768 } do
        local shape = { k = k, lda = 48, types = of }
        local found = ahead_of(shape, { form = forms.of(of, targets.by_name.avx512bf16).name,
          groups = { { count = 1, size = 3 } }, strips = { { count = 16, size = 8 } } }, { fetch = 1, stream = 8192 },
          16)
        local panel, group = types.panel_bytes(k, 48, of.a), types.group(of.a)
        assert.equal(panel, found.from)
        assert.equal(0, found.every % group)
        local asks = math.max(1, (k // group * group + found.every - 1) // found.every)
        assert.is_true(16 * asks * found.lines * 64 >= panel)
      end
    end
  end)

  it("is, in paced forms of bf16 and int8, all lines of a panel, asked for before every four groups", function()
    for form, of in pairs { bf16_floats = types.product("bf16", "f32"), int8_signs = types.product("i8") } do
      for _, k in ipairs { 16, 64, 767, 768 } do
        for _, strips in ipairs { 1, 2, 9 } do
          local found = ahead_of({ k = k, lda = 16, types = of }, { form = form, groups = { { count = 1, size = 2 } },
            strips = { { count = strips, size = 5 } } }, { fetch = 1, stream = 3072 }, 8)
          local every, bytes = 4 * types.group(of.a), types.bytes(found.pace, of.a)
          assert.equal(every, found.every)
          assert.is_true(strips * found.each >= types.panel_bytes(k, 16, of.a))
          assert.is_true(k // every * bytes >= found.each and 64 * found.lines >= bytes)
          assert.is_true(64 * (found.lines - 1) < bytes)
        end
      end
    end
  end)
end)
