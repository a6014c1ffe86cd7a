-- shared_spec: alike layers are one function, whose calls make what each layer's own function makes.
local helper = require("tests.spec.helper")
local words = require("common.words")

local function tiny(more, unroll)
  local all = { layers = 4, unroll = unroll }
  for key, value in pairs(more or {}) do all[key] = value end
  return helper.tiny(all)
end

local bytes = { ["const uint8_t"] = 1, uint8_t = 1, int8_t = 1, ["const int8_t"] = 1, uint16_t = 2,
  ["const uint16_t"] = 2, int32_t = 4, ["const int32_t"] = 4, float = 4 }

-- Returns the functions of steps of a file: name -> { formal = list of names, lines }, and the lines that call them.
local function read(text)
  local functions, callers = {}, {}
  for name, formal, body in text:gmatch("\nstatic void ([%w_]+)(%b()) {\n(.-)\n}\n") do
    local list = {}
    for parameter in formal:sub(2, -2):gmatch("([%w_]+)%f[,\0]") do list[#list + 1] = parameter end
    functions[name] = { formal = list, body = body }
  end
  for line in text:gmatch("[^\n]+") do
    for name, arguments, at in line:gmatch("([%w_]+)(%b());()") do
      if functions[name] then
        callers[#callers + 1] = { name = name, arguments = arguments, own = line:match("^ /%* ([%w ]+) %*/", at),
          from = tonumber(line:match("LAPS_FROM%((%d+)%)")) }
      end
    end
  end
  return functions, callers
end

-- Returns a pointer that is `elements` after `base`, which has `cast` or nil.
local function place(cast, base, elements)
  local text = (cast and "(" .. cast .. " *)" or "") .. base
  return elements == 0 and text or ("%s + %d"):format(text, elements)
end

-- Returns the body of a function as a call with its arguments does it.
local function done_by(fn, call)
  local of, i = {}, 0
  for argument in call.arguments:sub(2, -2):gmatch("[^,]+") do
    i = i + 1
    of[fn.formal[i]] = argument:match("^%s*(.-)%s*$")
  end
  local body = fn.body:gsub(" */%*.-%*/", ""):gsub("LAP_AFTER%((%d+)%)", function(count)
    return ("LAP(%d)"):format(count + call.from)
  end)
  for formal, actual in pairs(of) do
    local base, moved = actual:match("^([%w_]+) %+ (%d+)$")
    base, moved = base or actual, tonumber(moved or 0)
    if base ~= formal or moved > 0 then
      local function replaced(cast, more)
        return place(cast, "\1" .. base, moved * 4 // (cast and bytes[cast] or 4) + (tonumber(more) or 0))
      end
      body = body:gsub("%(([%w_ ]-) %*%)" .. formal .. "%f[^%w_] %+ (%d+)", replaced)
        :gsub("%(([%w_ ]-) %*%)" .. formal .. "%f[^%w_]", replaced)
        :gsub("%f[%w_\1]" .. formal .. "%f[^%w_] %+ (%d+)", function(more) return replaced(nil, more) end)
        :gsub("%f[%w_\1]" .. formal .. "%f[^%w_]", function() return replaced(nil) end)
    end
  end
  return (body:gsub("\1", ""))
end

-- Compares what both ways to write a model do, function by function in the order of their calls.
local function compare(more, file)
  local shared, of_shared = read(helper.emitted(tiny(more), file))
  local all, of_all = read(helper.emitted(tiny(more, "all"), file))
  assert.equal(#of_all, #of_shared)
  local count = 0
  for i, call in ipairs(of_shared) do
    local want = done_by(all[of_all[i].name], of_all[i])
    helper.same_text(want, done_by(shared[call.name], call), of_all[i].name)
    if call.own then
      assert.equal(of_all[i].name:gsub("_", " "), call.own)
      count = count + 1
    end
  end
  return count, shared, all
end

local function size(set)
  local n = 0
  for _ in pairs(set) do n = n + 1 end
  return n
end

describe("alike layers", function()
  for name, more in pairs {
    plain = {}, trace = {}, pre = { norm = "pre", final_norm = true }, gated = { gated = true, bias = false },
    many = { layers = 9 }, batch = { batch = 5 }, causal = { mask = "causal", positions = "rope" },
    bf16 = { precision = "bf16", target = "avx512bf16" }, int8 = { precision = "int8", target = "avx512bf16" },
    threads = { threads = 2, d_model = 64, seq = 40 }, any = { seq = { any = 40 } }, alibi = { positions = "alibi" },
    libxsmm = { kernels = "libxsmm" }, outputs = { attention_output = "heads" },
  } do
    it("do what each does by itself: " .. name, function()
      local count, shared, all = compare(more, name == "trace" and "tiny_trace.c" or "tiny.c")
      assert.is_true(name == "outputs" or count > 0)
      assert.equal(size(all) - count, size(shared))
    end)
  end

  it("are as many functions as there are kinds, in any order, in addition to the first and the last", function()
    -- These two read and write the caller's memory, where rows are as far apart as they are wide.
    local mixed = { layers = { {}, {}, { mask = "causal" }, {}, { mask = "causal" }, { mask = "causal" }, {}, {} },
      seq = 32, d_model = 20 }
    local _, shared = compare(mixed, "tiny.c")
    assert.equal(4, size(shared))
  end)

  it("of several workers are alike in each chunk", function()
    local wide = { threads = 2, d_model = 64, seq = 40 }
    local count, _, all = compare(words.merged(wide, { layers = 6 }), "tiny.c")
    local more, _, more_all = compare(words.merged(wide, { layers = 9 }), "tiny.c")
    assert.equal(size(more_all) - size(all), more - count) -- a further layer has no function
  end)

  it("have bases of whole floats where a head's first integer is inside a float", function()
    local narrow = { layers = 4, threads = 2, d_model = 4, heads = 2, seq = { 32, 40 }, reuse = false,
      mask = { "window" }, window = { 3, 10 }, weights = "int8", precision = { attention = "int8" } }
    local bases = 0
    for _, entry in ipairs(helper.tiny(narrow, "kernels").entries) do
      for _, program in ipairs(entry.programs) do
        for _, shared in pairs(program.shared) do
          for _, base in ipairs(shared.of.bases) do
            assert.equal(0, base.low % 4)
            bases = bases + 1
          end
        end
      end
    end
    assert.is_true(bases > 0)
  end)

  it("have one base for their weights, and constants for what all of them read", function()
    local _, shared = compare({ layers = 5, positions = "rope", mask = "causal" }, "tiny.c")
    local formal = table.concat(shared.layer_1.formal, " ")
    assert.matches("^w own a", formal)
    assert.is_nil(formal:find("own_2", 1, true))
  end)
end)

-- Returns a pointer as C with the actual pointers of bases in the place of their names.
local function with_bases(text, actual)
  local base, more = text:match("^([%w_]+) %+ (%d+)$")
  local of, at = (actual[base or text] or ""):match("^([%w_]+) ?%+? ?(%d*)$")
  return of and place(nil, of, (tonumber(at) or 0) + (tonumber(more) or 0)) or text
end

-- Returns what the chunks of the stretches that a file runs do, in order, and the number of stretches' functions.
local function stretches_of(text)
  local functions, result, count = read(text), {}, {}
  for name, arguments in text:gmatch("\n  ([%w_]+)%(call%->team, &of(.-)%);") do
    local actual, i = {}, 2
    for argument in arguments:gmatch(", ([^,]+)") do
      i = i + 1
      actual[functions[name].formal[i]] = argument
    end
    count[name] = true
    for line in functions[name .. "_work"].body:gmatch("[^\n]+") do
      for called, given in line:gmatch("([%w_]+)(%b());") do
        local list = {}
        for argument in given:sub(2, -2):gmatch("[^,]+") do
          list[#list + 1] = with_bases(argument:match("^%s*(.-)%s*$"), actual)
        end
        local from = line:match("LAPS_FROM%(([^)]*)%)")
        from = from and (tonumber(from:match("%d+$") or 0) + (from:find("of->op", 1, true) and actual.op or 0))
        if functions[called] then
          result[#result + 1] = done_by(functions[called], { arguments = "(" .. table.concat(list, ", ") .. ")",
            from = from })
        end
      end
    end
    for from, bytes_ahead in (text:match(name .. "_stocks%[%] = { (.-) };") or ""):gmatch("{ (%d+), (%d+) }") do
      local base = tonumber(bytes_ahead) > 0 and (actual.own or "0"):match("%d+$") or 0
      result[#result + 1] = ("ahead %d %s"):format(from + base * 4, bytes_ahead)
    end
  end
  return result, size(count)
end

describe("alike stretches of layers whose calls workers divide", function()
  local many = { layers = 9, threads = 2, d_model = 64, d_ff = 256 }
  for name, more in pairs {
    any = { seq = { any = 40 } }, bf16 = { seq = { any = 40 }, precision = "bf16", target = "avx512bf16" },
    kinds = { seq = { any = 40 }, layers = { {}, { mask = "causal" }, {}, { mask = "causal" }, {}, { mask = "causal" },
      {}, { mask = "causal" } } },
    context = { context = 64, sequences = 2, mask = "causal", positions = "rope",
      input = { stage = "tokens", vocab = 50 }, output = { { stage = "vocabulary" } } },
  } do
    it("do what each does by itself: " .. name, function()
      local all = words.merged(many, more)
      local shared, count = stretches_of(helper.emitted(tiny(all), "tiny.c"))
      local want, all_count = stretches_of(helper.emitted(tiny(all, "all"), "tiny.c"))
      assert.is_true(count < all_count - 8, ("%d of %d"):format(count, all_count))
      assert.equal(#want, #shared)
      for i, text in ipairs(want) do helper.same_text(text, shared[i], tostring(i)) end
    end)
  end

  it("are none where the weights that workers prefetch have several bases", function()
    local pass, programs = require("passes.kernels"), require("passes.common.programs")
    local function shared_of(change)
      local state = helper.tiny(words.merged(many, { seq = { any = 40 } }), "memory")
      for _, stretch in ipairs(programs.stretches(state.programs[1])) do
        for _, stock in ipairs(stretch.phases[1].stocks or {}) do change(stock) end
      end
      pass.run(state)
      return size(state.programs[1].shared_stretches)
    end
    assert.is_true(shared_of(function(stock) stock.at = 0 end) < shared_of(function() end))
  end)

  it("are checked for the places of their bases, their chunks and their loops", function()
    local checks = require("passes.checks")
    local function finds(breaks)
      local state = helper.tiny(words.merged(many, { seq = { any = 40 } }), "kernels")
      local program = state.programs[1]
      for _, alike in pairs(program.shared_stretches) do
        if alike.number == 3 then
          breaks(alike.of, program)
          break
        end
      end
      return helper.defect(checks.kernels, state)
    end
    assert.matches("has another base than its own", finds(function(of) of.bases[1].moves[3] = 64 end))
    assert.matches("does other phases than its own", finds(function(of, program)
      for _, stretch in ipairs(require("passes.common.programs").stretches(program)) do
        if stretch.region == of.members[3].region then table.remove(stretch.phases[1].chunks) end
      end
    end))
  end)
end)

describe("the checker after kernels, of alike layers,", function()
  local checks = require("passes.checks")

  local function finds(breaks)
    local state = helper.tiny({ layers = 4 }, "kernels")
    local program = state.programs[1]
    local alike = program.shared[program.segments[1].sections[3].steps]
    assert.is_true(alike.number > 1)
    breaks(alike.of, alike.number)
    return helper.defect(checks.kernels, state)
  end

  it("finds a base at another place", function()
    assert.matches("layer 2: .* has another operand 1 than its own", finds(function(of, number)
      for _, base in ipairs(of.bases) do base.moves[number] = base.moves[number] + 64 end
    end))
  end)

  it("finds a place that moves in a function that takes it as a constant", function()
    assert.matches("has another operand", finds(function(of) of.base_of.weight = nil end))
  end)

  it("finds lists that are not alike", function()
    assert.matches("layer 2: a function does other steps than its own", finds(function(of)
      table.remove(of.members[1].list)
    end))
    assert.matches("layer 2: .* in the place of", finds(function(of, number)
      local first, other = of.members[1].list, of.members[number].list
      for i, step in ipairs(other) do
        if step.form == "row" then other[i] = setmetatable({ function_name = "x" }, { __index = first[i] }) end
      end
    end))
  end)
end)
