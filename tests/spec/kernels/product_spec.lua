-- product_spec: the body of a product, run as Lua with strips that only say how they were called: together
-- they make each output of each row once, cut what is odd, and ask for each line of the weights ahead.
local helper = require("tests.spec.helper")
local product = require("kernels.product")
local registers = require("passes.plan.registers")
local strip = require("kernels.strip")
local targets = require("data.targets")
local ahead_of = require("passes.plan.ahead").of
local types = require("data.types")
local words = require("common.words")

-- A product of a target; fetch: parameters of ahead.lua, or nil.
local function kernel_of(target, m, n, k, more)
  more = more or {}
  local a_room = more.a_room or m % target.vector == 0
  local kernel = { m = m, n = n, k = k, lda = more.lda or types.whole_lines(m, "f32"), ldb = more.ldb or k + 3,
    ldc = more.ldc or m + 5, beta = 0, types = types.f32_product, a_room = a_room,
    strips = more.strips or registers.strips(m, n, k, target, more.most or n, not a_room) }
  kernel.fetch = more.fetch and ahead_of(kernel, kernel.strips, more.fetch, target.vector) or nil
  return kernel
end

-- The calls of strips in a body: { rows, vectors, suffix, a, b, c, k, lda, ldb, ldc, adds, a_lanes, c_lanes, ahead,
-- every: of f32 the floats from request to request, lines }; offsets in floats.
local function calls_of(kernel, lanes)
  local text = table.concat(product.body(kernel, lanes, 1, "a", "b"), "\n"):gsub(
    "for %(int (%a) = 0; %a < (%d+); %a%+%+%) {", "for %1 = 0, %2 - 1 do"):gsub("}", "end"):gsub(";", "")
  local list = {}
  local env = setmetatable({ a = 0, b = 0, c = 0, ATTN2C_LANES = lanes }, { __index = function(_, name)
    local vectors, suffix = name:match("^strip_x(%d+)(.*)$")
    assert(vectors, name)
    return function(rows, a, b, c, k, lda, ldb, ldc, adds, a_lanes, c_lanes, ahead, every, lines)
      list[#list + 1] = { rows = rows, vectors = tonumber(vectors), suffix = suffix, a = a, b = b, c = c,
        k = k, lda = lda, ldb = ldb, ldc = ldc, adds = adds, a_lanes = a_lanes, c_lanes = c_lanes, ahead = ahead,
        every = every, lines = lines }
    end
  end })
  assert(load(text, "=body", "t", env))()
  return list
end

-- Calls visit(kernel, target) for products of all kinds.
local function each_product(more, visit)
  for _, target in ipairs(targets.list) do
    for _, size in ipairs { { 1, 1, 1 }, { 16, 1, 64 }, { 17, 2, 3 }, { 40, 9, 17 }, { 63, 7, 16 }, { 48, 20, 64 },
      { 65, 3, 127 }, { 127, 17, 5 }, { 128, 1, 96 }, { 36, 64, 33 }, { 48, 4, 100 }, { 80, 40, 64 } } do
      visit(kernel_of(target, size[1], size[2], size[3], more), target)
    end
  end
end

describe("the body of a product", function()
  it("makes each output of each row once, from its own columns of A and rows of B", function()
    for _, most in ipairs { 4, 4096 } do
      each_product({ most = most }, function(kernel, target)
        local made, seen = 0, {}
        for _, call in ipairs(calls_of(kernel, target.vector)) do
          local row, column = call.c // kernel.ldc, call.c % kernel.ldc
          assert.same({ column, row * kernel.ldb, kernel.k, kernel.lda, kernel.ldb, kernel.ldc, 1 },
            { call.a, call.b, call.k, call.lda, call.ldb, call.ldc, call.adds })
          local width = (call.vectors - 1) * target.vector + call.c_lanes
          assert.is_true(row + call.rows <= kernel.n and column + width <= kernel.m)
          for r = row, row + call.rows - 1 do
            for c = column, column + width - 1 do
              assert.is_nil(seen[r * kernel.m + c])
              seen[r * kernel.m + c], made = true, made + 1
            end
          end
        end
        assert.equal(kernel.m * kernel.n, made)
      end)
    end
  end)

  it("reads no more of a row of A than it may, and cuts the last vector of a row alone", function()
    for _, a_room in ipairs { false, true } do
      each_product({ a_room = a_room }, function(kernel, target)
        for _, call in ipairs(calls_of(kernel, target.vector)) do
          local reach = call.a + (call.vectors - 1) * target.vector + call.a_lanes
          assert.is_true(reach <= (kernel.a_room and words.round_up(kernel.m, target.vector) or kernel.m))
          local is_last = call.a + call.vectors * target.vector > kernel.m
          assert.equal(is_last and kernel.m % target.vector or target.vector, call.c_lanes)
          assert.equal(kernel.a_room and target.vector or call.c_lanes, call.a_lanes)
        end
      end)
    end
  end)

  it("uses strips that are declared", function()
    for _, fetch in ipairs { false, { fetch = 1, stream = 4096 } } do
      each_product({ fetch = fetch }, function(kernel, target)
        local declared = {}
        product.each_strip(kernel, function(shape) declared[strip.name(shape) .. shape.rows] = true end)
        for _, call in ipairs(calls_of(kernel, target.vector)) do
          assert.is_true(declared[("strip_x%d%s%d"):format(call.vectors, call.suffix, call.rows)])
          assert.equal(kernel.fetch ~= nil, call.suffix:find("_ahead", 1, true) ~= nil)
        end
      end)
    end
  end)

  it("of open rows in f32 gives a strip what its number of strips asks for", function()
    local list = { { from = 3072, each = 8192, every = 4, pace = 128, lines = 8, far = 5120, nth = 1 }, false,
      { from = 8192, each = 2752, every = 4, pace = 43, lines = 3, nth = 1 } }
    local kernel = { m = 32, n = 64, k = 64, lda = 32, ldb = 64, ldc = 32, beta = 0, types = types.f32_product,
      open = "n", a_room = true, fetch = { by_strips = list, lines = 8 },
      strips = registers.open_strips(32, 64, targets.by_name.avx512, 4096, false, types.f32_product, false) }
    local body = table.concat(product.body(kernel, 16, "0", "a", "b"), "\n")
    local function has(text) assert.truthy(body:find(text, 1, true), text) end
    has("{ { 768, 2048, 128, 8, 1280, 1 }, { 0, 0, 64, 1, 0, 1 }, { 2048, 688, 43, 3, 0, 1 } }")
    has("a + ahead.from + i * ahead.each, ahead.pace, ahead.lines, ahead.far, ahead.nth);")
    has("const size_t strips = n <= 14 ? (n > 0) : (n + 12) / 13;")
    has("const attn2c_ahead ahead = by_strips[strips < 3 ? strips - 1 : 2];")
    kernel.fetch.few_rows = 7
    kernel.fetch.few = { from = 3072, each = 8192, every = 4, pace = 128, lines = 8, nth = 2 }
    body = table.concat(product.body(kernel, 16, "0", "a", "b"), "\n")
    has("by_strips[4] = { { 768, 2048, 128, 8, 0, 2 }, { 768, 2048, 128, 8, 1280, 1 }, ")
    has("const attn2c_ahead ahead = by_strips[n <= 7 ? 0 : strips < 3 ? strips : 3];")
  end)

  it("of open rows takes tall strips between usual ones", function()
    local kernel = { m = 48, n = 64, k = 64, lda = 48, ldb = 64, ldc = 48, beta = 0, types = types.f32_product,
      open = "n", a_room = true,
      strips = registers.open_panel(48, 64, targets.by_name.avx512, 4096, types.f32_product) }
    kernel.fetch = require("passes.plan.ahead").by_strips(kernel, { fetch = 1, stream = 3072 }, 16, 1)
    local body = table.concat(product.body(kernel, 16, "0", "a", "b"), "\n")
    local tall, usual = body:match("^if %(n > 9 && n <= 16%) {\n(.*)\n} else {\n(.*)\n}$")
    assert.truthy(tall, body)
    local strips = table.concat(product.strips { kernel }, "\n")
    for _, each in ipairs { "/* 10 to 16 rows by 1 ", "/* 9 rows by 3 ", "/* 1 to 8 rows by 3 " } do
      assert.truthy(strips:find(each, 1, true), each)
    end
    for name, part in pairs { strips_10_to_16_x1_ahead = tall, strips_1_to_9_x3_ahead = usual } do
      local least, most, vectors = name:match("_(%d+)_to_(%d+)_x(%d)")
      assert.truthy(part:find(name .. "(rows, a", 1, true), part)
      local choice, cases = strips:match("ATTN2C_STRIP " .. name .. "(%b() %b{})"), 0
      for rows, called, given in choice:gmatch("case (%d+): strip_x(%d)[%w_]*%((%d+), a, b, c, k, [%w_, ]+%);") do
        assert.same({ vectors, rows }, { called, given })
        assert.is_true(tonumber(rows) >= tonumber(least) and tonumber(rows) <= tonumber(most))
        cases = cases + 1
      end
      assert.equal(most - least + 1, cases)
    end
    assert.truthy(tall:find("by_strips[1] = { { 3072, 1024, 64, 4, 0, 1 } };", 1, true), tall)
    assert.truthy(tall:find("a + j * 16, b + row * 64, c + row * 48 + j * 16,", 1, true), tall)
    for name in (body .. strips):gmatch("(strips?_[%w_]+)%(") do
      assert.truthy(strips:find("ATTN2C_STRIP " .. name .. "(", 1, true), name)
    end
    kernel.fetch = nil
    assert.truthy(table.concat(product.body(kernel, 16, "0", "a", "b"), "\n"):find("strips_10_to_16_x1(", 1, true))
  end)

  it("of open outputs makes each vector once, whatever their number", function()
    for _, target in ipairs { targets.by_name.avx512, targets.by_name.avx2 } do
      for widest = 1, 8 do
        local strips = registers.open_strips(widest * target.vector, 16, target, 1, false, types.f32_product, true)
        local kernel = { m = 128, n = 1, k = 16, lda = 128, ldb = 16, ldc = 128, beta = 0, types = types.f32_product,
          open = "n m", a_room = true, strips = strips }
        local text = table.concat(product.body(kernel, target.vector, "0", "a", "b"), "\n")
        assert.equal(widest > 1, text:find("rest", 1, true) ~= nil)
        text = text:gsub("const size_t vectors = (.-), rest = (.-);", "local vectors = %1 local rest = %2")
          :gsub("const size_t", "local"):gsub("for %(size_t i = 0.-{", "for i = 0, strips - 1 do local row = 0")
          :gsub("rows = n.-;", ""):gsub("for %(size_t j = 0; j < ([^;]+); j%+%+%) {", "for j = 0, %1 - 1 do")
          :gsub("if %(rest & (%d)%) {", "if rest & %1 ~= 0 then"):gsub("}", "end"):gsub("/", "//")
        for vectors = 1, 17 do
          local made = {}
          local env = setmetatable({ a = 0, b = 0, c = 0, n = 1, m = vectors * target.vector,
            ATTN2C_LANES = target.vector }, { __index = function(_, name)
              local size = tonumber(name:match("^strip_x(%d)$"))
              return function(rows, a, _, c)
                assert.equal(1, rows)
                assert.equal(a, c)
                for i = a // target.vector, a // target.vector + size - 1 do made[i] = (made[i] or 0) + 1 end
              end
            end })
          assert(load(text, "=body", "t", env), text)()
          for i = 0, vectors - 1 do assert.equal(1, made[i], text) end
          assert.is_nil(made[vectors])
        end
      end
    end
  end)

  it("of open rows has strips that ask for nothing where their rows are fewer than the plan says", function()
    for _, of in ipairs { types.f32_product, types.product("bf16"), types.product("q8", "x8") } do
      local kernel = { m = 16, n = 8, k = 64, lda = 16, ldb = 64, ldc = 16, beta = 0, types = of, open = "n",
        a_room = true, strips = registers.open_strips(16, 64, targets.by_name.avx512bf16, 4096, false, of, false),
        fetch = { lines = 8, by_strips = { { from = 3072, each = 8192, every = 64, pace = 64, lines = 8,
          nth = 1 } } } }
      local function asking(least)
        local count, declared = 0, {}
        kernel.fetch.least = least
        product.each_strip(kernel, function(shape)
          declared[shape.rows] = (shape.fetches or shape.streams) and true or false
        end)
        local choice = table.concat(product.strips { kernel }, "\n"):match("\nATTN2C_STRIP strips_[^\n]+\n[^}]*}")
        for rows, suffix, call in choice:gmatch("case (%d+): strip_x1([%w_]*)(%b());") do
          local asks = call:find("ahead", 1, true) ~= nil
          assert.equal(tonumber(rows) >= (least or 1), asks)
          assert.equal(asks, suffix:find("_ahead", 1, true) ~= nil or suffix:find("_stream", 1, true) ~= nil)
          assert.equal(asks, declared[tonumber(rows)])
          count = count + (asks and 0 or 1)
        end
        return count
      end
      assert.same({ 0, 0, 1, 4 }, { asking(nil), asking(1), asking(2), asking(5) })
    end
  end)

  it("of open rows asks in each step, so that its strips leave out no line of the panel", function()
    for form, of in pairs { bf16_halves = "bf16" } do
      for _, k in ipairs { 5, 64, 577, 768 } do
        local list = {}
        for i = 1, 15 do
          local share = (k * 2 + i - 1) // i
          list[i] = { from = 64 * 2 * k, each = 64 * share, every = 1, lines = 2, nth = 1 }
        end
        local kernel = { m = 32, n = 64, k = k, lda = 32, ldb = k, ldc = 32, beta = 0, types = types.product(of),
          open = "n", a_room = true, fetch = { by_strips = list, lines = 2 },
          strips = { groups = { { count = 1, size = 2 } }, form = form, is_open = true, copied = 0,
            strips = { { count = 1, size = 2 }, { count = 1, size = 1 } } } }
        local body = table.concat(product.body(kernel, 16, "0", "a", "b"), "\n")
        local lines, number = tonumber(body:match("ahead%.far, ahead%.step, (%d+), ahead%.nth%);")), 0
        for from, each, step in body:gmatch("{ (%d+), (%d+), (%d+), 0, 1 }") do
          number = number + 1
          local steps = math.max(1, k // types.group(of))
          step = tonumber(step)
          assert.is_true(steps * step >= tonumber(each) and step % 4 == 0 and step <= 64 * lines)
          assert.equal(64 * 2 * k, tonumber(from))
        end
        assert.equal(k == 5 and 10 or 15, number) -- equal ones at the end are one
      end
    end
  end)

  it("asks for every line of the panel ahead, by each strip for its share", function()
    for fetch = 1, 3 do
      each_product({ fetch = { fetch = fetch, stream = 4096 } }, function(kernel, target)
        local calls, asked, panel = calls_of(kernel, target.vector), {}, kernel.k * kernel.lda // 16
        local first = #calls > 1 and fetch * panel or 4096 // 64
        assert.equal(kernel.k < 4, kernel.fetch == nil)
        if not kernel.fetch then return end
        for number, call in ipairs(calls) do
          assert.equal(0, call.ahead % 16)
          assert.equal(16 * first + (number - 1) * kernel.fetch.each // 4, call.ahead)
          for request = 0, kernel.k // 4 - 1 do
            local line = (call.ahead + request * call.every) // 16
            for i = line, line + call.lines - 1 do asked[i] = true end
          end
        end
        for line = first, first + panel - 1 do assert.is_true(asked[line], ("line %d"):format(line - first)) end
      end)
    end
  end)

  it("in tiles begins with their shape, which a worker's part of a call releases", function()
    for _, keys in ipairs { { precision = "bf16", seq = 64 }, { precision = "int8", seq = { any = 64 } } } do
      keys.target, keys.d_model = "amx", 64
      local text, count = helper.emitted(helper.tiny(keys), "tiny_kernels.c"), 0
      for body in text:gmatch("\nvoid product_[^\n]* {\n(.-)\n}") do
        if body:find("strip_%d+x%d+_%w+_tiles") then
          assert.is_true(body:find("attn2c_tiles_configure(", 1, true) < body:find("_tiles[%w_]*%("), body)
          count = count + 1
        end
      end
      assert.is_true(count > 0)
      for _, threads in ipairs { 1, 2 } do
        local steps = helper.emitted(helper.tiny(words.merged(keys, { threads = threads })), "tiny.c")
        local _, parts = steps:gsub("\nstatic void [%w_]+_work%(", "")
        local _, released = steps:gsub("  attn2c_leave_tiles%(%);\n", "")
        assert.equal(parts + 1, released)
        assert.is_nil(steps:find("attn2c_leave()", 1, true))
      end
      local plain = helper.emitted(helper.tiny(words.merged(keys, { target = "avx512bf16" })), "tiny.c")
      assert.is_nil(plain:find("tiles", 1, true))
    end
  end)

  it("says only what it needs", function()
    local target = targets.by_name.avx512
    local strips = { groups = { { count = 1, size = 3 } }, strips = { { count = 1, size = 8 } }, rows_held = false,
      form = "f32", copied = 0 }
    assert.same({ "strip_x3(8, a, b, c,", "  64, 48, 64, 96, 0, ATTN2C_LANES, 16);" }, product.body(
      kernel_of(target, 48, 8, 64, { ldb = 64, ldc = 96, strips = strips }), 16, 0, "a", "b"))
    strips = { groups = { { count = 2, size = 2 } }, strips = { { count = 2, size = 5 }, { count = 1, size = 4 } },
      rows_held = false, form = "f32", copied = 0 }
    assert.same({
      "for (int i = 0; i < 2; i++) {",
      "  strip_x2(5, x, y + i * 320, c + i * 480,", "    64, 64, 64, 96, adds, 16, 16);",
      "  strip_x2(5, x + 32, y + i * 320, c + 32 + i * 480,", "    64, 64, 64, 96, adds, 3, 3);",
      "}",
      "strip_x2(4, x, y + 640, c + 960,", "  64, 64, 64, 96, adds, 16, 16);",
      "strip_x2(4, x + 32, y + 640, c + 992,", "  64, 64, 64, 96, adds, 3, 3);",
    }, product.body(kernel_of(target, 51, 14, 64, { ldb = 64, ldc = 96, strips = strips }), 16, "adds", "x", "y"))
  end)

  it("is C that both compilers take without a word", function()
    local text, kernels = {}, {}
    for _, fetch in ipairs { false, { fetch = 1, stream = 4096 } } do
      each_product({ fetch = fetch }, function(kernel, target)
        if target.name ~= "avx2" then return end
        kernels[#kernels + 1] = kernel
        text[#text + 1] = ("void product_%d(const float *a, const float *b, float *c);\n"):format(#text)
          .. ("void product_%d(const float *a, const float *b, float *c) {\n  %s\n}"):format(#text,
            table.concat(product.body(kernel, 8, 0, "a", "b"), "\n  "))
      end)
    end
    text = table.move(text, 1, #text, 2, { table.concat(product.strips(kernels), "\n") })
    table.insert(text, 1, '#include "ops/product/product.h"')
    local path = helper.file(table.concat(text, "\n") .. "\n", "products.c")
    for _, compiler in ipairs { "gcc", "clang" } do
      assert.equal("", helper.succeeds(("%s -std=c11 -Wall -Wextra -Werror -Wmissing-prototypes -fopenmp-simd -mavx2 "
        .. "-mfma -iquote %s/runtime -fsyntax-only %s"):format(compiler, helper.shell(helper.absolute_root()),
          helper.shell(path))))
    end
    helper.clean()
  end)
end)
