-- head_loops_spec: a loop over heads does what the heads do one after the other.
local helper = require("tests.spec.helper")
local head_loops = require("passes.lower.head_loops")
local instance = require("passes.checks.instance")
local programs = require("passes.common.programs")
local words = require("common.words")

local written_out = {
  heads = function(_, count, _, _, body)
    for i = 0, count - 1 do body(i) end
  end,
}

-- Returns what read() returns while lowering has these methods.
local function with_methods(methods, read)
  local loaded = package.loaded
  local lower = loaded["passes.lower"]
  loaded["passes.lower"], loaded["passes.lower.head_loops"] = nil, methods
  local ok, result = pcall(read)
  loaded["passes.lower"], loaded["passes.lower.head_loops"] = lower, head_loops
  return ok and result or error(result)
end

-- Returns the calls of an entry in some of its calls, as text.
local function calls_of(description, is_plain)
  return with_methods(is_plain and written_out or head_loops, function()
    local state, lines, loops = helper.tiny(description, "lower"), {}, 0
    for _, program in ipairs(state.programs) do
      if program.variant == "ship" and not program.divided then
        programs.each(program, function(step)
          if step.loop == "heads" and step.form == "begin" then loops = loops + 1 end
        end)
        local is_open = state.spec.symbols.rows.is_open
        local fixed = { { flows = true } }
        for _, call in ipairs(is_open and instance.calls(program, state.spec, state.kept.windows) or fixed) do
          if call.flows then
            programs.each(is_open and instance.of(program, call) or instance.of_one(program, state.spec), function(step)
              if not programs.is_call(step) then return end
              local parts = { step.form, step.fn or "" }
              for _, name in ipairs(words.sorted_keys(step.arguments)) do
                local o = step.arguments[name]
                parts[#parts + 1] = o and ("%s %s %s %s"):format(name, o.buffer, o.offset, o.value) or name
              end
              lines[#lines + 1] = table.concat(parts, " ")
            end)
          end
        end
      end
    end
    return { text = table.concat(lines, "\n"), loops = loops }
  end)
end

local text = { context = 64, sequences = 2, mask = "causal", input = { stage = "tokens", vocab = 50 },
  output = { { stage = "vocabulary" } }, heads = 4, d_model = 32 }

describe("a loop over heads", function()
  for name, more in pairs {
    any = { seq = { any = 40 }, heads = 4, d_model = 32 }, context = text,
    grouped = words.merged(text, { kv_heads = 2 }), one = words.merged(text, { kv_heads = 1 }),
    window = words.merged(text, { mask = "window", window = { 8, 0 } }),
    bf16 = words.merged(text, { precision = "bf16", target = "avx512bf16" }),
    rope = words.merged(text, { positions = "rope", kv_heads = 2, cache = "int8" }),
    shared = { seq = { any = 40 }, heads = 6, d_model = 48, kv_heads = 2 },
    fixed = { seq = 400, heads = 6, d_model = 48, kv_heads = 2, mask = "causal", batch = 2 },
    disentangled = { seq = 100, heads = 6, d_model = 48, positions = "disentangled", position_distance = 64,
      position_buckets = 32, batch = 2 },
  } do
    it("does what the heads do one after the other: " .. name, function()
      local loops, plain = calls_of(more), calls_of(more, true)
      assert.is_true(loops.loops > 0)
      assert.equal(0, plain.loops)
      helper.same_text(plain.text, loops.text, name)
    end)
  end

  it("is there for many blocks of known length, where one worker takes all heads", function()
    local many = { seq = 400, heads = 6, d_model = 48 }
    assert.is_true(calls_of(many).loops > 0)
    for _, more in ipairs { { seq = 100 }, { threads = 2 }, { unroll = "all" } } do
      assert.equal(0, calls_of(words.merged(many, more)).loops)
    end
    local few = { seq = 16, heads = 6, d_model = 48, positions = "disentangled" }
    assert.equal(0, calls_of(few).loops)
    assert.is_true(calls_of(words.merged(few, { seq = 200 })).loops > 0) -- products with distances count, too
  end)

  it("is around whole key blocks, which are a panel loop of one unit", function()
    local function loops_of(more)
      local count = 0
      for _, program in ipairs(helper.tiny(words.merged({ seq = 400, layers = 1 }, more), "memory").programs) do
        programs.each(program, function(step)
          local panels = step.region and step.region.kind == "attention" and step.panels
          if not panels then return end
          assert.is_true(panels.is_whole and panels.count >= 5)
          count = count + 1
        end)
      end
      return count
    end
    assert.is_true(loops_of {} > 0 and loops_of { threads = 2 } > 0)
    assert.equal(0, loops_of { unroll = "all" })
  end)

  -- Returns the steps of 4 heads, whose group is 2, each one a row operation that reads x. change(step, i): of head i.
  local function steps_of_four(change)
    local panel_loops, constants = require("passes.lower.panel_loops"), {}
    local self = setmetatable({ steps = {}, lines = 0, unit_number = 0 }, { __index = panel_loops })
    function self.count_step() end
    function self.loop(of, form, _, body)
      table.insert(of.steps, { form = "begin", loop = form })
      body()
    end
    head_loops.heads(self, 4, 2, nil, function(i)
      local x = { class = "arena", buffer = "x", offset = 64 * i + 1000 * (i // 2) }
      local step = { form = "row", fn = "softmax", constants = constants, arguments = { x = x } }
      if change then change(step, i) end
      table.insert(self.steps, step)
    end)
    return self.steps
  end

  it("has the distances from head to head and from group to group", function()
    local steps = steps_of_four()
    assert.equal(2, #steps)
    assert.same({ head = 64, kv_head = 1000 }, steps[2].arguments.x.terms)
    assert.equal(0, steps[2].arguments.x.offset)
  end)

  it("is none where a head differs in more than equal distances", function()
    for _, change in ipairs {
      function(step, i) step.arguments.x.offset = step.arguments.x.offset + i * i end,
      function(step, i) step.arguments.x.offset = 6400 - step.arguments.x.offset + i end,
      function(step, i) if i == 3 then step.constants = {} end end,
      function(step, i) if i == 2 then step.fn = "copy" end end,
      function(step, i) if i == 1 then step.arguments.x.buffer = "y" end end,
      function(step, i) if i == 1 then step.arguments.x.terms = { first = 64 } end end,
      function(step) step.arguments.x.is_value = true end,
    } do
      local steps = steps_of_four(change)
      assert.equal(4, #steps)
      for _, step in ipairs(steps) do assert.is_nil((step.arguments.x.terms or {}).head) end
    end
  end)
end)
