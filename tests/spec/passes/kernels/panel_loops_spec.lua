-- panel_loops_spec: consecutive panels of a product are one call, and the emitted loop makes the calls of each panel,
-- with its addresses and in order.
local helper = require("tests.spec.helper")
local common = require("passes.common.panel_loops")
local programs = require("passes.common.programs")
local types = require("data.types")

local wide = { d_model = 96, heads = 2, d_ff = 100, layers = 2, plan = { panel = 16 } }

local function tiny(more, last)
  local all = {}
  for _, keys in ipairs { wide, more or {} } do
    for key, value in pairs(keys) do all[key] = value end
  end
  return helper.tiny(all, last)
end

-- The panel loops of a program in order.
local function loops_of(program)
  local list = {}
  programs.each(program, function(step) list[#list + 1] = program.panel_loops[step] end)
  return list
end

local function names_of(program)
  local names = {}
  for i, each in ipairs(loops_of(program)) do names[i] = each.name end
  return names
end

describe("panels of a product", function()
  it("are one call for those that are alike; each operation has its own, and so has a narrower last panel", function()
    local state = tiny(nil, "kernels")
    local program = state.programs[1]
    local names = names_of(program)
    assert.same({ "panels_8x96x96_bias", "panels_8x96x96_bias_transpose", "panels_8x96x96_bias",
      "panels_8x96x96_bias_add", "panels_8x96x96_bias_gelu", "panels_8x96x100_bias_add" },
      table.move(names, 1, 6, 1, {}))
    for _, each in ipairs(loops_of(program)) do
      assert.equal(6, each.count) -- of the 100 outputs of ff.up the last 4 are a call of their own
      assert.equal(#each.calls, #each.steps)
      for i, step in ipairs(each.steps) do
        assert.equal(each.steps[1].op, step.op)
        assert.equal(i > 1, program.in_panel_loop[step] == true)
      end
    end
    assert.equal(12, #names)
  end)

  it("have one function for all that differ in their addresses only", function()
    local one, seven = tiny({ layers = 2 }, "kernels"), tiny({ layers = 7 }, "kernels")
    assert.equal(#one.panel_loops, #seven.panel_loops)
    local seen = {}
    for _, each in ipairs(seven.panel_loops) do
      assert.is_nil(seen[each.name])
      seen[each.name] = true
    end
    for _, program in ipairs(seven.programs) do
      for _, name in ipairs(names_of(program)) do assert.is_true(seen[name]) end
    end
  end)

  it("are calls of their own where there is one, and in an attention", function()
    assert.same({}, names_of(helper.tiny(nil, "kernels").programs[1]))
    -- Tables of distances are weights, and each block of queries reads them a row block further.
    local state = helper.tiny({ positions = "relative_key", seq = 32, plan = { query_block = 8 } }, "kernels")
    for _, program in ipairs(state.programs) do assert.same({}, names_of(program)) end
  end)

  it("are divided with the work of workers", function()
    local program = tiny({ threads = 2, d_model = 192, seq = 64 }, "kernels").programs[1]
    local shares = {}
    programs.each_list(program, function(list, _, _, worker)
      for _, step in ipairs(list) do
        local each = program.panel_loops[step]
        if each then shares[worker] = (shares[worker] or 0) + each.count end
      end
    end)
    assert.is_true(shares[1] > 0 and shares[2] > 0)
  end)
end)

describe("the function of panels", function()
  -- "w + 16 + 2 * 48" as its pointer and how many of its elements after it.
  local function evaluated(text, panel)
    local base, count = nil, 0
    for term in (text:gsub("panel %* (%d+)", function(n) return math.tointeger(panel * n) end)
      :gsub("panel", math.tointeger(panel)) .. " + "):gmatch("(.-) %+ ") do
      local number = math.tointeger(tonumber(term))
      if number then count = count + number else
        assert.is_nil(base)
        base = term
      end
    end
    return base, count
  end

  -- Its parameters, the number of panels and the calls of one, from C.
  local function read(text, name)
    local formal, body = text:match("\nvoid " .. name .. "(%b()) {\n(.-)\n}\n")
    local fn = { parameters = {}, calls = {} }
    for type, parameter in formal:gmatch("([%w_]+) %*([%w_]+)") do
      fn.parameters[#fn.parameters + 1] = { name = parameter, type = type }
    end
    fn.count = math.tointeger(body:match("^  for %(size_t panel = 0; panel < (%d+); panel%+%+%) {\n"))
    for callee, list in body:gmatch("\n    ([%w_%[%]]+)(%b());") do
      local call = { callee = callee }
      for operand in list:sub(2, -2):gmatch("[^,]+") do call[#call + 1] = operand:match("^%s*(.*)$") end
      fn.calls[#fn.calls + 1] = call
    end
    return fn
  end

  local bytes = { float = 4, int32_t = 4, uint16_t = 2, int8_t = 1 }

  -- An argument in the list of steps as a pointer and bytes after it.
  local function place(text)
    local cast, rest = text:match("^%(([%w_ ]-) ?%*%)(.*)$")
    local base, count = evaluated(rest or text, 0)
    return base, count * bytes[(cast or "float"):match("[%w_]+$")]
  end

  -- Where an operand of a step lies, by the passes before.
  local function place_of(state, program, operand)
    if operand.class == "weight" then return "w", state.weights.offsets[operand.buffer] + operand.offset end
    if operand.class == "arena" then return "a", program.offsets[operand.buffer] + operand.offset end
    return ("%s->%s"):format(operand.class, state.graph.tensors[operand.buffer].member), operand.offset
  end

  -- Runs the loops of a program's emitted calls and compares each call with its step.
  local function compare(state, program, file)
    local ops, lines = helper.emitted(state, "tiny_ops.c"), {}
    for name, list in helper.emitted(state, file):gmatch("\n  (panels_[%w_]+)(%b());") do
      lines[#lines + 1] = { name = name, list = list:sub(2, -2) }
    end
    local all = loops_of(program)
    assert.equal(#all, #lines)
    for number, each in ipairs(all) do
      local fn, arguments, done = read(ops, lines[number].name), {}, 0
      for text in lines[number].list:gmatch("[^,]+") do arguments[#arguments + 1] = text:match("^%s*(.*)$") end
      assert.equal(#fn.parameters, #arguments)
      local base, first, size = {}, {}, {}
      for i, parameter in ipairs(fn.parameters) do
        size[parameter.name] = bytes[parameter.type] or 1
        if parameter.type ~= "attn2c_kernel" then base[parameter.name], first[parameter.name] = place(arguments[i]) end
      end
      local part = common.parts()
      for panel = 0, fn.count - 1 do
        for i, call in ipairs(fn.calls) do
          done = done + 1
          local step, at = part(each.steps[i], panel, 1), call[1] == "k" and 1 or 0
          local pair = program.fused_kernels[each.steps[i]]
          pair = pair and setmetatable({ map = part(pair.map, panel, 1) }, { __index = pair })
          assert.equal(pair and pair.name or step.function_name or ("k[%d]"):format(step.kernel_index), call.callee)
          require("passes.common.calls").each_operand(step, pair, function(operand)
            at = at + 1
            local name, count = evaluated(call[at], panel)
            local want_base, want = place_of(state, program, operand)
            assert.same({ want_base, want }, { base[name], first[name] + count * size[name] })
          end)
        end
      end
      assert.equal(each.count * #each.steps, done)
    end
    return #all
  end

  for name, more in pairs {
    f32 = {}, libxsmm = { kernels = "libxsmm" }, fetching = { d_model = 192, seq = 40, kernels = "libxsmm" },
    two_tiles = { seq = 80 }, -- keys are turned in tiles of 64
    bf16 = { precision = "bf16", target = "avx512bf16" }, int8 = { precision = "int8", target = "avx512bf16" },
    gated = { gated = true, norm = "pre", bias = false }, blocks = { seq = 40, plan = { panel = 16, token_block = 8 } },
  } do
    it("makes the calls of the steps: " .. name, function()
      local state = tiny(more)
      for _, program in ipairs(state.programs) do
        assert.is_true(compare(state, program, program.variant == "ship" and "tiny.c" or "tiny_trace.c") > 0)
      end
    end)
  end

  it("takes one pointer for all operands of a buffer, and says how many panels there are", function()
    local ops = helper.emitted(tiny(), "tiny_ops.c")
    assert.matches("/* C[8][96] = B[8][96] A[96][96] in 6 panels of 16 outputs, each with its epilogue */\n"
      .. "void panels_8x96x96_bias(const float *a, const float *b, float *c, const float *bias) {\n"
      .. "  for (size_t panel = 0; panel < 6; panel++) {\n", ops, 1, true)
    assert.is_nil(ops:find("panel %* 1%f[%D]"))
    assert.equal(types.LINE // 4, 16) -- a panel of 16 is a line
  end)
end)

describe("a remark after a call for panels", function()
  it("names the weights after their own that they prefetch", function()
    local state = tiny({ seq = 40, d_model = 192 })
    local text = helper.emitted(state, "tiny.c")
    local remark = "LAP%(0%); /%* prefetches up to l0.attn.k.weight %*/\n"
    assert.matches("\n  panels_40x192x192_bias%([^\n]*%); " .. remark, text)
    assert.is_nil(text:match("/%* prefetches [^\n]*l0.attn.q.weight"))
    local far = helper.emitted(tiny({ seq = 40, d_model = 192, plan = { panel = 16, fetch = 3 } }), "tiny.c")
    assert.matches(remark, far)
    local last = helper.emitted(tiny({ seq = 40, d_model = 192, norm = "none", bias = false }), "tiny.c")
    assert.matches("_add%([^\n]*, out%->hidden, a%); LAP%(%d+%); /%* prefetches nothing: these are the last weights",
      last)
  end)
end)
