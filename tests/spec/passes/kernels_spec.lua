-- kernels_spec: products with their bodies, row operations and panel loops, each once, named by what they do.
local helper = require("tests.spec.helper")
local pipeline = require("pipeline")
local programs = require("passes.common.programs")

local function kernels(more) return helper.tiny(more, "kernels") end

local function of_libxsmm(more)
  local all = { kernels = "libxsmm" }
  for key, value in pairs(more or {}) do all[key] = value end
  return kernels(all)
end

describe("kernels of libxsmm", function()
  it("are listed once each, and every product calls those of its rows", function()
    local state = of_libxsmm({ layers = 3, mask = "causal", seq = 70 })
    local seen, calls_of = {}, {}
    for _, k in ipairs(state.kernels) do
      local key = table.concat({ k.m, k.n, k.k, k.lda, k.ldb, k.ldc, k.beta }, " ")
      assert.is_nil(seen[key], key)
      seen[key] = true
    end
    for _, fn in ipairs(state.functions) do calls_of[fn.name] = fn.calls end
    for _, program in ipairs(state.programs) do
      programs.each(program, function(step)
        if step.form ~= "product" then return end
        assert.is_true(step.takes_kernels)
        local k, calls = step.kernel, calls_of[step.function_name]
        for i, rows in ipairs(calls.rows) do
          local own = state.kernels[calls.strips[i].first.index + 1]
          assert.same({ k.m, rows.size, calls.blocks.size, k.lda, k.ldb, k.ldc, k.beta },
            { own.m, own.n, own.k, own.lda, own.ldb, own.ldc, own.beta })
        end
      end)
    end
  end)

  it("do not grow in number with layers or heads", function()
    assert.equal(#of_libxsmm({ layers = 2 }).kernels, #of_libxsmm({ layers = 7 }).kernels)
    assert.equal(#of_libxsmm({ d_model = 32, heads = 2 }).kernels, #of_libxsmm({ d_model = 32, heads = 4 }).kernels)
  end)

  it("of a tiny model are five", function()
    -- 16 x 8 x 16 of q, k, v and out; scores; context; up 64 x 8 x 16; down 16 x 8 x 64.
    local state = of_libxsmm()
    assert.equal(5, #state.kernels)
    local k = state.kernels[1]
    assert.same({ 16, 8, 16, 16, 16, 16, 0 }, { k.m, k.n, k.k, k.lda, k.ldb, k.ldc, k.beta })
  end)

  it("differ only in beta where a product prefetches between blocks of inputs", function()
    local betas = { [0] = 0, [1] = 0 }
    for _, k in ipairs(of_libxsmm({ seq = 32, d_model = 192, heads = 4, d_ff = 384 }).kernels) do
      betas[k.beta] = betas[k.beta] + 1
    end
    assert.is_true(betas[0] > 0 and betas[1] > 0)
  end)

  it("make products of bf16 too where the target multiplies pairs, and no product of int8", function()
    local state, fused = of_libxsmm({ precision = "bf16", target = "avx512bf16" }), 0
    for _, fn in ipairs(state.functions) do
      if fn.step.form == "product" then assert.is_table(fn.calls, fn.name) end
      fused = fused + (fn.fused_kernel and 1 or 0)
    end
    assert.is_true(fused > 0)
    for _, k in ipairs(state.kernels) do assert.equal("bf16", k.types.a) end
  end)

  it("make the products that a tuning file gives them, and others are in C", function()
    local choice = { kernels = "libxsmm", panel = 16, token_block = 8, call_rows = 4096, fetch = 0, stream = 0 }
    local state = helper.state(helper.description(), "kernels",
      { tuning = { set = { choices = { ["64x16 n 8 +bias_gelu"] = choice }, target = "avx512" } } })
    local made = {}
    programs.each(state.programs[1], function(step)
      if step.form == "product" then made[step.arguments.a.buffer] = step.takes_kernels end
    end)
    assert.matches("8 rows x 16 outputs of 16 inputs: strips of 8 rows by 1 vectors, f32; by libxsmm",
      pipeline.dump(state, "plan"), 1, true)
    assert.is_true(made["l0.ff.up.weight"])
    assert.is_false(made["l0.ff.down.weight"])
  end)

  -- The point of one function with two bodies: the plan says which it has, and nothing else before it depends on that.
  it("are named by the plan, and change nothing else in the dumps of passes before this one", function()
    for name, more in pairs {
      plain = {}, deep = { d_model = 256, heads = 4, d_ff = 1024, seq = 40, mask = "causal" },
      lengths = { seq = 32, threads = 2, mask = "padding" }, avx2 = { target = "avx2", d_model = 192 },
      bf16 = { precision = "bf16", target = "avx512bf16", seq = 20 },
    } do
      local dumps = {}
      for _, provider in ipairs { "c", "libxsmm" } do
        local all = { kernels = provider }
        for key, value in pairs(more) do all[key] = value end
        local state = kernels(all)
        for _, stage in ipairs { "graph", "layout", "plan", "lower", "schedule", "memory" } do
          local text, made = pipeline.dump(state, stage):gsub("; by libxsmm", "")
          assert.equal(stage == "plan" and provider == "libxsmm", made > 0, name .. " " .. stage)
          assert.equal(dumps[stage] or text, text, name .. " " .. stage)
          dumps[stage] = text
        end
      end
    end
  end)
end)

describe("products in C", function()
  -- The functions of products, by name.
  local function products_of(state)
    local list = {}
    for _, fn in ipairs(state.functions) do
      if fn.step.form == "product" then list[fn.name] = fn.step.kernel end
    end
    return list
  end

  it("are functions, one for all products that are alike, and there are no kernels of libxsmm", function()
    local state = kernels({ layers = 3, mask = "causal", seq = 70 })
    assert.same({}, state.kernels)
    local products = products_of(state)
    for _, program in ipairs(state.programs) do
      programs.each(program, function(step)
        if step.form == "product" then
          assert.same(products[step.function_name], step.kernel)
          assert.is_false(step.takes_kernels)
        end
      end)
    end
    local names = {}
    for name in pairs(products_of(kernels())) do names[#names + 1] = name end
    table.sort(names)
    -- rows x outputs x inputs: scores and context; q, k, v and out; down; up. The scores are padded.
    assert.same({ "product_8x16x16", "product_8x16x64", "product_8x16x8", "product_8x64x16", "product_8x8x8" }, names)
  end)

  it("of bf16 and int8 share a function with the map after them, in code that ships", function()
    for _, precision in ipairs { "bf16", "int8" } do
      local state = kernels({ precision = precision, target = "avx512bf16" })
      local ship, trace = state.programs[1], state.programs[2]
      assert.is_nil(next(trace.fused_kernels))
      local last, fused, on_stack = nil, 0, 0
      programs.each(ship, function(step)
        local pair = last and ship.fused_kernels[last]
        assert.equal(pair and pair.map or nil, ship.fused_maps[step] and step or nil)
        if pair then
          fused, on_stack = fused + 1, on_stack + (pair.is_local and 1 or 0)
          assert.truthy(pair.name:find(last.function_name, 1, true) == 1)
          local x = pair.is_local and step.arguments.x or step.arguments.y
          assert.same({ last.arguments.c.buffer, last.arguments.c.offset }, { x.buffer, x.offset })
        end
        last = step
      end)
      assert.is_true(fused > on_stack and on_stack > 0 or precision == "int8" and fused == on_stack and fused > 0)
    end
    -- nor are those of f32, and those of bf16 whose rows are floats
    for _, state in ipairs { kernels(), kernels({ precision = "bf16", target = "avx2" }) } do
      for _, program in ipairs(state.programs) do assert.is_nil(next(program.fused_kernels)) end
    end
  end)

  it("of int8 do not write where their rows lie, also into outputs that a caller does not want", function()
    local state = helper.state(helper.description { precision = "int8", target = "avx512bf16", seq = 16, d_model = 32,
      layers = 2, norm = "pre" }, "kernels", { exposed = true })
    local ship, fused = state.programs[1], 0
    local function place(operand)
      local first = ship.offsets[operand.buffer]
      return first, first and first + ship.buffers[operand.buffer].bytes
    end
    programs.each(ship, function(step)
      local pair = ship.fused_kernels[step]
      if pair then
        local first, stop = place(step.arguments.b)
        local y_first, y_stop = place(pair.map.arguments.y)
        assert.is_true(y_first == nil or first >= y_stop or y_first >= stop)
        fused = fused + (y_first and 1 or 0)
      end
    end)
    assert.is_true(fused > 0)
  end)

  it("of int8 with sums on the stack take no arena for them, with and without reuse", function()
    for _, reuse in ipairs { true, false } do
      local state = kernels({ precision = "int8", target = "avx512vnni", reuse = reuse })
      local ship, sums = state.programs[1], 0
      for name in pairs(ship.buffers) do
        if name:find("sums@unit", 1, true) then
          sums = sums + 1
          assert.is_nil(ship.offsets[name])
        end
      end
      assert.is_true(sums > 0)
    end
  end)

  it("have functions of their own where only what they ask for, or what they may read, differs", function()
    local state = {}
    local function product(more)
      local kernel = { m = 20, n = 8, k = 16, lda = 32, ldb = 16, ldc = 32, beta = 0, a_room = true,
        types = require("data.types").f32_product,
        strips = { groups = { { count = 1, size = 2 } }, strips = { { count = 1, size = 8 } }, rows_held = false },
        fetch = { from = 64, each = 64, every = 1, lines = 1, nth = 1 } }
      for name, value in pairs(more) do kernel[name] = value end
      return { form = "product", kernel = kernel, arguments = {}, outputs = 20, op = 1 }
    end
    local function strips(groups, rows, rows_held)
      return { strips = { groups = { groups }, strips = { rows }, rows_held = rows_held } }
    end
    local steps = {}
    for i, more in ipairs { {}, { lda = 48 }, { beta = 1 }, { a_room = false },
      { fetch = { from = 128, each = 64, every = 1, lines = 1, nth = 1 } },
      { fetch = { from = 64, each = 128, every = 1, lines = 1, nth = 1 } },
      { fetch = { from = 64, each = 64, every = 2, lines = 1, nth = 1 } },
      { fetch = { from = 64, each = 64, every = 1, lines = 2, nth = 1 } },
      strips({ count = 2, size = 1 }, { count = 1, size = 8 }, false),
      strips({ count = 1, size = 2 }, { count = 2, size = 4 }, false),
      strips({ count = 1, size = 2 }, { count = 1, size = 8 }, true), {} } do
      steps[i] = product(more)
    end
    local program = { fused_kernels = {}, fused_maps = {}, segments = { { sections = { { steps = steps } } } } }
    state.entries = { { programs = { program }, kept = {}, weights = {} } }
    require("passes.kernels").run(state)
    assert.equal(11, #state.functions)
    local names = {}
    for i, step in ipairs(steps) do names[i] = step.function_name:match("^product_8x20x16_(.*)$") end
    assert.same({ "lda32_rows8_ahead64", "lda48_rows8_ahead64", "lda32_added_rows8_ahead64",
      "lda32_rows8_cut_ahead64", "lda32_rows8_ahead128", "lda32_rows8_ahead64_2", "lda32_rows8_ahead64_3",
      "lda32_rows8_ahead64_4", "lda32_rows8_ahead64_5", "lda32_rows4_ahead64", "lda32_rows8_held_ahead64",
      "lda32_rows8_ahead64" }, names)
  end)

end)

describe("row operations", function()
  it("have one name a shape, with what differs where a name would come twice", function()
    local state = kernels({ seq = 24, mask = "causal", plan = { query_block = 8 }, layers = 2 })
    local names = {}
    for _, fn in ipairs(state.functions) do
      assert.is_nil(names[fn.name], fn.name)
      names[fn.name] = true
      assert.matches("^[a-z][a-z0-9_]*$", fn.name)
    end
    assert.is_true(names.bias_24x16)
    assert.is_true(names.softmax_8x16)
    assert.is_true(names.bias_add_24x16)
    assert.is_true(names.bias_gelu_24x64)
    assert.is_true(names.mask_band_8x16_hi1 and names.mask_band_8x16_hi9)
  end)

  it("are shared by equal steps and by no others", function()
    local sorted_keys = require("common.words").sorted_keys
    local function check(state)
      local by_name = {}
      for _, program in ipairs(state.programs) do
        programs.each(program, function(step)
          if step.form == "row" or step.form == "map" then
            local constants = {}
            for _, name in ipairs(sorted_keys(step.constants)) do
              constants[#constants + 1] = name .. "=" .. tostring(step.constants[name])
            end
            local text = ("%s %s of %s"):format(step.fn or "map", table.concat(constants, " "),
              table.concat(sorted_keys(step.arguments), " "))
            assert.equal(by_name[step.function_name] or text, text)
            by_name[step.function_name] = text
          end
        end)
      end
    end
    check(kernels({ layers = 2, mask = "causal" }))
    -- Norms that are alike but for a bias.
    check(kernels({ memory = { stage = "encoder", seq = 8, bias = { norm = false } } }))
  end)
end)
