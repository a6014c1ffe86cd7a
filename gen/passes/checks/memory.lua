-- memory.lua: checks offsets: operands stay in their buffers, buffers in their memory, no value is overwritten.
-- Lifetimes are computed again from the steps (flow.lua).
local besides = require("passes.checks.beside")
local expect = require("passes.checks.expect")
local flow = require("passes.checks.flow")
local footprint = require("data.footprint")
local instance = require("passes.checks.instance")
local operands = require("data.operands")
local packed = require("passes.common.packed")
local panel_loops = require("passes.common.panel_loops")
local programs = require("passes.common.programs")
local repeated = require("passes.checks.repeated")
local steps = require("data.steps")
local targets = require("data.targets")
local tasks = require("passes.common.tasks")
local types = require("data.types")
local words = require("common.words")

local function tensor_bytes(tensor) return types.bytes(words.elements(tensor.shape), tensor.type) end

-- Returns the bytes of a buffer: of a weight's packed form, or of an input's or output's shape. An output may be in the
-- caller's memory or in the arena, so that steps may touch what both have.
local function capacity(state, program, operand, call)
  local tensor, buffer = state.graph.tensors[operand.buffer], program.buffers[operand.buffer]
  if operand.class == "weight" then return packed.bytes(tensor, state.weights.layouts[operand.buffer]) end
  if operand.class == "arena" or operand.class == "state" then return buffer.bytes end
  local of_caller = call and instance.tensor_bytes(tensor, state.spec, call) or tensor_bytes(tensor)
  return program.offsets[operand.buffer] and math.min(of_caller, buffer.bytes) or of_caller
end

-- Returns the bytes that a product in C reads of A if rows of A have capacity: whole vectors.
local function vectors_of_a(step, target)
  local k = step.kernel
  local whole = setmetatable({ m = words.round_up(k.m, target.vector) }, { __index = k })
  local known = operands.known { form = "product", kernel = whole }
  local dimensions = steps.product.operands[1][3](known)
  return footprint.in_bytes(dimensions, types.bytes(1, k.types.a))
end

-- Checks that no operand leaves its buffer, in any iteration of the loops over sequences.
local function check_bounds(state, program, call)
  local rooms, vectors, walk, target = {}, {}, operands.walk(), targets.by_name[state.spec.target]
  local step, section, segment
  local function visit(operand, _, dimensions)
    local size = rooms[operand.buffer] or capacity(state, program, operand, call)
    rooms[operand.buffer] = size
    local low, high = operands.reach(operand, dimensions, segment.micro_batch - 1,
      state.spec.batch - segment.micro_batch)
    if operand.experts then high = high + (operand.experts - 1) * operand.by_expert end
    if low < 0 or high >= size then
      expect(false, "memory", "a %s of %s leaves %s: bytes %d to %d of %d", step.fn or step.form, section.name,
        operand.buffer, low, high, size)
    end
  end
  programs.each(program, function(...)
    step, section, segment = ...
    walk(step, visit)
    if step.form == "product" and step.kernel.a_room then
      vectors[step.kernel] = vectors[step.kernel] or vectors_of_a(step, target)
      local a = step.arguments.a
      visit(a, "r", footprint.repeated(vectors[step.kernel], panel_loops.count(step), panel_loops.stride(a)))
    end
  end)
end

-- Returns the operands that steps have on the stack, from the pairs alone: a product's sums, loaded by its map.
local function unstored_of(program)
  local unstored = {}
  for product, pair in pairs(program.fused_kernels) do
    if pair.is_local then
      unstored[product] = product.arguments.c
      unstored[pair.map] = pair.map.arguments[pair.map.elementwise[1].argument]
    end
  end
  return unstored
end

-- Checks the offsets of the arena's buffers, and returns the buffers in use, in order. Each buffer that a step uses
-- has an offset, aligned and inside, and no other buffer has one; so has each output that may be there, with all its
-- bytes. A buffer is a worker's own if the task's rows are, where workers divide phases; or if each worker has
-- micro-batches, and nothing outside that segment, or of another one, uses it.
local function check_offsets(state, program, unstored)
  local used, segment_of = {}, {}
  programs.each(program, function(step, section, segment)
    operands.each(step, function(operand)
      if operand.class ~= "arena" or operand == unstored[step] then return end
      local name, first = operand.buffer, program.offsets[operand.buffer]
      used[name] = true
      expect(first, "memory", "%s has no offset", name)
      if segment.mode == "phases" then
        expect(program.own[name] == tasks.is_own(program.buffers[name], step, program.threads), "memory",
          program.own[name] and "%s: %s is not a worker's own" or "%s: workers share %s", section.name, name)
      elseif program.own[name] then
        expect(segment.mode == "micro_batches" and (segment_of[name] or segment) == segment
          and not (operand.terms and operand.terms.s), "memory", "%s: %s is not a worker's own", section.name, name)
        segment_of[name] = segment
      else
        expect(segment.mode ~= "micro_batches" or (operand.terms and operand.terms.s), "memory",
          "%s: workers share %s, which does not move with their sequences", section.name, name)
      end
    end)
  end)
  for _, name in ipairs(program.entry.outputs) do
    used[name] = program.offsets[name] and true or used[name]
    local all = tensor_bytes(state.graph.tensors[name])
    expect(not program.offsets[name] or program.buffers[name].bytes >= all, "memory",
      "output %s has %d bytes of the arena", name, program.buffers[name].bytes)
  end
  for _, name in ipairs(words.sorted_keys(program.offsets)) do
    expect(used[name], "memory", "%s has %d bytes of the arena that no step touches", name, program.buffers[name].bytes)
  end
  local names = words.sorted_keys(used)
  for _, name in ipairs(names) do
    local first, size = program.offsets[name], program.own[name] and program.own_bytes or program.common_bytes
    expect(first >= 0 and first % types.LINE == 0 and first + program.buffers[name].bytes <= size, "memory",
      "the offset of %s", name)
  end
  expect(program.own_bytes % types.LINE == 0
    and program.common_bytes + program.threads * program.own_bytes <= program.arena_bytes, "memory",
    "the arena of %d bytes", program.arena_bytes)
  return names
end

-- Checks that no two chunks of one phase touch the same bytes by different buffers.
local function check_phases(program, beside)
  for _, segment in ipairs(program.segments) do
    for _, phase in ipairs(segment.phases or {}) do
      local touched, written = {}, {}
      for chunk, list in ipairs(phase.chunks) do
        for _, step in ipairs(list) do
          operands.each(step, function(operand, access)
            if not operand.buffer or not program.offsets[operand.buffer] or program.own[operand.buffer] then return end
            local name = operand.buffer
            touched[name] = touched[name] or {}
            touched[name][chunk] = true
            if access ~= "r" and access ~= "value" then
              written[name] = written[name] or {}
              written[name][chunk] = true
            end
          end)
        end
      end
      for name, writers in pairs(written) do
        for _, other in ipairs(beside[name]) do
          for chunk in pairs(writers) do
            for another in pairs(touched[other] or {}) do
              expect(another == chunk, "memory", "%s: two workers touch the same bytes by %s and %s",
                phase.section.name, name, other)
            end
          end
        end
      end
    end
  end
end

-- Checks workers that have micro-batches each. They are at different steps, so buffers that they share do not overlap.
local function check_micro_batches(program, beside)
  local touched = {}
  programs.each(program, function(step, _, segment)
    if segment.mode ~= "micro_batches" then return end
    touched[segment] = touched[segment] or {}
    operands.each(step, function(operand)
      if operand.buffer and beside[operand.buffer] and not program.own[operand.buffer] then
        touched[segment][operand.buffer] = true
      end
    end)
  end)
  for _, names in pairs(touched) do
    for name in pairs(names) do
      for _, other in ipairs(beside[name]) do
        expect(not names[other], "memory", "workers at different steps share the bytes of %s and %s", name, other)
      end
    end
  end
end

-- Fields of a call: for bounds the first and the last iteration of each loop; for the order of steps loops over heads.
local ENDS, HEADS = { flows = false }, { keeps_heads = true }

-- Checks the operands of a program with open sizes, as some calls have them.
local function check_calls(state, program, beside, stands_for)
  for _, call in ipairs(instance.calls(program, state.spec, state.kept.windows)) do
    if not call.chunks then check_bounds(state, instance.of(program, words.merged(call, ENDS)), call) end
    local known = (call.flows or call.chunks) and instance.of(program, words.merged(call, HEADS))
    if known then check_phases(known, beside) end
    if call.flows then flow(state, known, beside, "memory", known.unstored, stands_for, call) end
  end
end

--- Checks that no operand leaves its buffer, no buffer or weight its memory, and every value is read as it was written.
return function(state)
  for _, program in ipairs(state.programs) do
    local unstored = unstored_of(program)
    local names = check_offsets(state, program, unstored)
    local some, stands_for = repeated.left_out(state, program, besides.any(program, names))
    -- A buffer that is left out has the place of the one that stands for it, or no other's bytes.
    local is_shared = words.any(program.segments, function(segment) return segment.mode == "micro_batches" end)
    local beside = besides.of(program, is_shared and names or words.without(names, stands_for))
    if state.spec.symbols.rows.is_open then
      check_calls(state, some, beside, stands_for)
    else
      check_bounds(state, instance.of_one(some, state.spec, ENDS))
      some = instance.of_one(some, state.spec, HEADS)
      check_phases(some, beside)
      check_micro_batches(program, beside)
      flow(state, some, beside, "memory", setmetatable(some.unstored or {}, { __index = unstored }), stands_for)
    end
  end
end
