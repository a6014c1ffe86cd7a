-- libxsmm_spec: the calls of a body by libxsmm make each row of a product from each input once, begin each sum before
-- they add to it, and prefetch the weights ahead; such a body is made for what libxsmm has kernels for.
require("tests.spec.helper")
local libxsmm = require("kernels.libxsmm")
local registers = require("passes.plan.registers")
local targets = require("data.targets")
local types = require("data.types")

local function kernel_of(more)
  local k = { m = 48, n = 32, k = 384, lda = 48, ldb = 400, ldc = 64, beta = 0, types = types.f32_product,
    a_room = true }
  for name, value in pairs(more) do k[name] = value end
  k.strips = registers.strips(k.m, k.n, k.k, targets.by_name.avx512bf16, k.call_rows or 4096, false, k.types)
  return k
end

-- Returns the calls of a kernel, each shape with an index, and the shapes.
local function calls_of(kernel, of_weights, is_fused)
  local calls, shapes = libxsmm.calls(kernel, of_weights, is_fused), {}
  for _, strip in ipairs(calls.strips) do
    for _, which in ipairs { "first", "next", "tail" } do
      if strip[which] then
        strip[which].index = #shapes
        shapes[#shapes + 1] = strip[which]
      end
    end
  end
  return calls, shapes
end

-- Runs lines of C that are loops and calls: call(index, a, b, c), fetch(a, lines), after(first, rows).
local function run(lines, call, fetch, after)
  local text = table.concat(lines, "\n"):gsub("for %(int (%w+) = ([^;]+); %w+ < ([^;]+); %w+%+%+%) {",
    "for %1 = %2, %3 - 1 do"):gsub("\n( *)}", "\n%1end"):gsub("(%w > 0) %? (%d+) : (%d+)", "%1 and %2 or %3")
    :gsub("kernels%[(.-)%]%(", "call(%1, "):gsub("attn2c_fetch", "fetch"):gsub("%(size_t%)", "")
  assert(load(text, "the body", "t", { a = 0, b = 0, c = 0, call = call, fetch = fetch, after = after }))()
end

local function check(kernel, of_weights, has_after)
  local calls, shapes = calls_of(kernel, of_weights, has_after)
  local done, fetched, finished, column = {}, {}, 0, nil
  local more = has_after and { before = function() return {} end,
    line = function(first, rows) return ("after(%s, %d);"):format(first, rows) end } or nil
  run(libxsmm.body(kernel, calls, more), function(index, a, b, c)
    local shape, row, first = shapes[index + 1], b // kernel.ldb, b % kernel.ldb
    assert.equal(row * kernel.ldc, c)
    assert.equal(first * kernel.lda, a)
    for i = row, row + shape.n - 1 do
      assert.equal(done[i] or 0, first)
      assert.equal(first == 0 and kernel.beta or 1, shape.beta)
      done[i] = first + shape.k
    end
    column = math.max(column or 0, row + shape.n)
  end, function(a, lines)
    local bytes = types.bytes(a, kernel.types.a)
    for line = bytes, bytes + 64 * lines - 1, 64 do fetched[line] = true end
  end, function(first, rows)
    assert.equal(finished, first)
    for i = first, first + rows - 1 do assert.equal(kernel.k, done[i]) end
    finished = first + rows
  end)
  for i = 0, kernel.n - 1 do assert.equal(kernel.k, done[i]) end
  assert.equal(kernel.n, column)
  if has_after then assert.equal(kernel.n, finished) end
  if not calls.ahead then return assert.is_nil(next(fetched)) end
  local panel = types.panel_bytes(kernel.k, kernel.lda, kernel.types.a)
  for line = calls.ahead.from, calls.ahead.from + panel - 1, 64 do assert.is_true(fetched[line]) end
end

describe("a body by libxsmm", function()
  it("makes all rows from all inputs, each once and in order, and prefetches a panel's bytes", function()
    for _, n in ipairs { 1, 7, 8, 16, 33, 64, 128 } do
      for _, k in ipairs { 2, 24, 100, 384, 398, 1536 } do
        for _, call_rows in ipairs { 3, 4096 } do
          for _, of in ipairs { types.f32_product, types.product("bf16") } do
            local kernel = kernel_of { n = n, k = k, ldb = k + 16, call_rows = call_rows, types = of }
            check(kernel, true)
            check(kernel, true, true)
            check(kernel, false)
          end
        end
      end
    end
    check(kernel_of { beta = 1, n = 20 }, true)
  end)

  it("is one call where nothing is prefetched, or a call a strip if something follows each", function()
    for _, more in ipairs { { n = 8 }, { n = 128, of_weights = false } } do
      local calls = libxsmm.calls(kernel_of(more), more.of_weights == nil)
      assert.same({ { size = 384, count = 1, tail = 0 } }, { calls.blocks })
      assert.is_nil(calls.ahead)
      assert.same({ { count = 1, size = more.n } }, calls.rows)
    end
    assert.same({ { count = 16, size = 8 } }, libxsmm.calls(kernel_of { n = 128 }, false, true).rows)
  end)

  it("has even blocks of bf16", function()
    for k = 2, 2000, 14 do
      local blocks = libxsmm.calls(kernel_of { k = k, ldb = k, n = 64, types = types.product("bf16") }, true).blocks
      assert.equal(k, blocks.size * blocks.count + blocks.tail)
      assert.same({ 0, 0 }, { blocks.size % 2, blocks.tail % 2 })
    end
  end)

  it("is made for what libxsmm multiplies as fast as C", function()
    local function fits(target, more) return libxsmm.fits(kernel_of(more), targets.by_name[target]) end
    assert.same({ true, true, false, true }, { fits("avx512", { m = 16 }), fits("x86_64", { m = 16 }),
      fits("avx2", { m = 16 }), fits("avx2", { m = 32 }) })
    assert.is_false(fits("aarch64", {}))
    assert.same({ true, false, true, false }, { fits("avx512bf16", { types = types.product("bf16") }),
      fits("avx512bf16", { types = types.product("bf16"), k = 383 }), fits("amx", { types = types.product("bf16") }),
      fits("avx512", { types = types.product("bf16") }) })
    assert.is_false(fits("avx512bf16", { types = types.product("i8") }))
  end)
end)
