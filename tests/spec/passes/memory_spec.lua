-- memory_spec: no two buffers that live together share a float, little is wasted, loops make
-- buffers live longer, and nothing is shared where that was asked for.
local helper = require("tests.spec.helper")
local operands = require("data.operands")
local packed = require("passes.common.packed")
local programs = require("passes.common.programs")
local words = require("common.words")

-- Models whose buffers differ in number, size and life.
local shapes = {
  {}, { layers = 3 }, { norm = "pre", mask = "causal", seq = 70 }, { norm = "none", bias = false },
  { batch = 5, output = { { stage = "pool", over = "mean" }, { stage = "linear", to = 30 }, { stage = "argmax" } } },
  { batch = 40, mask = "padding", output = { { stage = "hidden" }, { stage = "pool", over = "max" },
    { stage = "norm" } } },
  { seq = 100, d_model = 96, heads = 3, d_ff = 300, plan = { token_block = 40 } },
  { seq = 33, input = { stage = "tokens", vocab = 50 }, output = { { stage = "linear", to = 50 } } },
  { seq = 64, d_model = 80, heads = 2, d_ff = 17, activation = "relu", target = "avx2" },
  { seq = 128, d_model = 16, heads = 1, mask = { window = { 4, 4 } }, plan = { query_block = 16 } },
}

-- When each buffer of a one-worker program lives, found anew: first and last step, stretched over each loop that it
-- enters or leaves.
local function lives(program)
  local life, loops, open, position = {}, {}, {}, 0
  for _, segment in ipairs(program.segments) do
    local start = position + 1
    for _, section in ipairs(segment.sections) do
      for _, step in ipairs(section.steps) do
        position = position + 1
        if step.form == "begin" then open[#open + 1] = position end
        if step.form == "finish" then loops[#loops + 1] = { table.remove(open), position } end
        operands.each(step, function(operand)
          if operand.class == "arena" or operand.class == "out" then
            life[operand.buffer] = life[operand.buffer] or { position, position }
            life[operand.buffer][2] = position
          end
        end)
      end
    end
    if segment.repeats > 1 then loops[#loops + 1] = { start, position } end
  end
  for _ = 1, 3 do
    for _, loop in ipairs(loops) do
      for _, l in pairs(life) do
        local inside = l[1] >= loop[1] and l[2] <= loop[2]
        local apart = l[2] < loop[1] or l[1] > loop[2]
        if not inside and not apart then l[1], l[2] = math.min(l[1], loop[1]), math.max(l[2], loop[2]) end
      end
    end
  end
  return life
end

-- Whether a buffer lies over another on purpose.
local function over(program, a, b)
  while a do
    if a == b then return true end
    a = program.buffers[a].over
  end
  return false
end

describe("memory", function()
  it("never gives one place to two buffers that live together", function()
    for _, more in ipairs(shapes) do
      for _, program in ipairs(helper.tiny(more, "memory").programs) do
        local life = lives(program)
        local names = words.sorted_keys(program.offsets)
        for i, a in ipairs(names) do
          assert.is_true(program.offsets[a] % 64 == 0)
          assert.is_true(program.offsets[a] + program.buffers[a].bytes <= program.arena_bytes)
          for j = i + 1, #names do
            local b = names[j]
            local together = life[a][1] <= life[b][2] and life[b][1] <= life[a][2]
            local overlap = program.offsets[a] < program.offsets[b] + program.buffers[b].bytes
              and program.offsets[b] < program.offsets[a] + program.buffers[a].bytes
            if together and overlap then
              assert.is_true(over(program, a, b) or over(program, b, a), a .. " and " .. b)
            end
          end
        end
      end
    end
  end)

  it("has the panels of a weight at their own widths, each of whole vectors", function()
    local layout = { format = "panels", widths = { 48, 48, 32, 20 }, type = "f32" }
    assert.equal(4 * 10 * (48 + 48 + 32 + 32), packed.bytes({ shape = { 148, 10 } }, layout))
  end)

  it("gives a place to every buffer of the arena that a step uses", function()
    for _, more in ipairs(shapes) do
      for _, program in ipairs(helper.tiny(more, "memory").programs) do
        programs.each(program, function(step)
          operands.each(step, function(operand)
            if operand.class == "arena" then assert.is_number(program.offsets[operand.buffer]) end
          end)
        end)
      end
    end
  end)

  it("takes at most a tenth more than the largest sum of what lives at once", function()
    for i, more in ipairs(shapes) do
      local program = helper.tiny(more, "memory").programs[1]
      assert.is_true(program.arena_bytes >= program.live_bytes)
      assert.is_true(program.arena_bytes <= 1.1 * program.live_bytes,
        ("shape %d: %d of %d"):format(i, program.arena_bytes, program.live_bytes))
    end
  end)

  it("does not grow with the number of layers", function()
    local one, many = helper.tiny({ layers = 2 }, "memory"), helper.tiny({ layers = 9 }, "memory")
    assert.equal(one.programs[1].arena_bytes, many.programs[1].arena_bytes)
  end)

  it("has room for an output of each sequence of a call, where the caller does not want it", function()
    local state = helper.tiny({ seq = { any = 8 }, output = { { stage = "pool", over = "first", name = "p" },
      { stage = "linear", to = 24, name = "a" }, { stage = "tanh", name = "b" } } }, "memory")
    local sizes = {}
    for _, program in ipairs(state.programs) do
      for _, name in ipairs(program.variant == "ship" and program.entry.outputs or {}) do
        sizes[#sizes + 1] = program.buffers[name].bytes
      end
    end
    assert.same({ 8 * 16 * 4, 8 * 24 * 4, 8 * 24 * 4 }, sizes) -- 8 rows may be 8 sequences
  end)

  it("without reuse gives each its own place", function()
    local program = helper.tiny({ reuse = false, layers = 2 }, "memory").programs[1]
    local names = words.sorted_keys(program.offsets)
    for i, a in ipairs(names) do
      for j = i + 1, #names do
        local b = names[j]
        local overlap = program.offsets[a] < program.offsets[b] + program.buffers[b].bytes
          and program.offsets[b] < program.offsets[a] + program.buffers[a].bytes
        if overlap then assert.is_true(over(program, a, b) or over(program, b, a), a .. " and " .. b) end
      end
    end
    assert.is_true(program.arena_bytes > helper.tiny({ layers = 2 }, "memory").programs[1].arena_bytes)
  end)

  it("keeps what is pooled through the loop over micro-batches", function()
    local state = helper.tiny({ batch = 40, output = { { stage = "pool", over = "mean" }, { stage = "norm" } } },
      "memory")
    local program = state.programs[1]
    assert.equal(3, program.segments[1].repeats)
    local pooled, first, last
    for _, item in ipairs(program.items) do
      if item.slot == "output.1.pool" then pooled = item end
      first, last = math.min(first or item.first, item.first), math.max(last or item.last, item.last)
    end
    assert.equal(4 * 40 * 16, program.buffers["output.1.pool"].bytes)
    for _, item in ipairs(program.items) do
      if item ~= pooled then assert.is_true(pooled.first <= item.first and item.last <= pooled.last, item.slot) end
    end
    assert.is_true(first == pooled.first and last == pooled.last)
  end)

  it("gives several outputs room in the arena, a single one none", function()
    local single = helper.tiny({}, "memory").programs[1]
    assert.is_nil(single.offsets["l0.norm2"])
    local several = helper.tiny({ output = { { stage = "hidden" }, { stage = "argmax" } } }, "memory").programs[1]
    assert.is_number(several.offsets["l0.norm2"])
    assert.is_number(several.offsets["output.2.argmax"])
  end)

  it("never lets workers side by side touch the same bytes by different buffers", function()
    local state = helper.tiny({ seq = 128, d_model = 256, heads = 4, d_ff = 512, threads = 3 }, "memory")
    local program = state.programs[1]
    local used, private = {}, 0 -- phase -> buffer -> true
    programs.each(program, function(step, section, _, _, phase)
      assert.is_true(phase > 0)
      local key = section.name .. phase
      used[key] = used[key] or {}
      operands.each(step, function(operand)
        if operand.class == "arena" then used[key][operand.buffer] = true end
      end)
    end)
    for _, buffers in pairs(used) do
      local names = words.sorted_keys(buffers)
      for i, a in ipairs(names) do
        if program.own[a] then
          private = private + 1
          assert.is_truthy(program.buffers[a].private)
        end
        for j = i + 1, #names do
          local b = names[j]
          local apart = program.offsets[a] + program.buffers[a].bytes <= program.offsets[b]
            or program.offsets[b] + program.buffers[b].bytes <= program.offsets[a]
            or not program.own[a] ~= not program.own[b]
          assert.is_true(apart or over(program, a, b) or over(program, b, a), a .. " and " .. b)
        end
      end
    end
    assert.is_true(private >= 2)
    assert.is_true(program.common_bytes + 3 * program.own_bytes <= program.arena_bytes)
  end)

  it("has room for each worker's own part, one after the other", function()
    for _, threads in ipairs { 1, 2, 4 } do
      local program = helper.tiny({ batch = 4, threads = threads,
        plan = { group_tokens = 8, least_phase = 0, least_team = 0 } }, "memory").programs[1]
      local own = 0
      for name, offset in pairs(program.offsets) do
        local begin, size = offset, program.common_bytes
        if program.own[name] then
          own, size = own + 1, program.own_bytes
          begin = program.common_bytes + (threads - 1) * program.own_bytes + offset -- the last worker's
        end
        assert.is_true(offset + program.buffers[name].bytes <= size, name)
        assert.is_true(begin + program.buffers[name].bytes <= program.arena_bytes, name)
      end
      assert.equal(threads > 1, own > 0)
    end
  end)
end)
