-- memory.lua: places all buffers of a program in one arena, by their lifetimes.
-- Offsets are 64-byte aligned. Buffers that are never live together may share memory; without reuse (a trace, or
-- reuse = false) each has its own offset. A buffer that only one layer uses has the same offset as that of every other
-- layer, so that alike layers differ in few places (kernels/shared.lua).
--
-- Before: scheduled programs with fused_kernels. After: each program has offsets = buffer -> bytes, own = buffers that
-- each worker has for itself (their offsets count from its part of the arena: common_bytes, then own_bytes per worker),
-- arena_bytes, live_bytes (the largest sum of buffers live at one moment).
local operands = require("data.operands")
local programs = require("passes.common.programs")
local tasks = require("passes.common.tasks")
local types = require("data.types")
local words = require("common.words")

local memory = {}

local BUCKET = 64 -- steps; adjacent times are looked up by bucket

-- Widens the lifetime of each buffer that enters or leaves a loop to all of the loop, and that of each buffer that
-- workers share while they are at different steps of it.
local function widen(life, loops)
  local at = {} -- moment -> the lifetimes that begin or end there
  local function mark(l, moment)
    words.add(at, moment, l)
  end
  for _, l in pairs(life) do
    mark(l, l.first)
    mark(l, l.last)
  end
  for _, loop in ipairs(loops) do
    for moment = loop.first, loop.last do
      for _, l in ipairs(at[moment] or {}) do
        local inside = l.first >= loop.first and l.last <= loop.last
        local apart = l.last < loop.first or l.first > loop.last
        local is_whole = l.first <= loop.first and l.last >= loop.last
        if not apart and not is_whole and (not inside or loop.shared and l.common) then
          l.first, l.last = math.min(l.first, loop.first), math.max(l.last, loop.last)
          mark(l, l.first)
          mark(l, l.last)
        end
      end
    end
  end
end

-- Returns the first and last moment at which each arena buffer is used, and the segment that uses it. `own`: each
-- worker has the buffer for itself.
local function lifetimes(program)
  local life, loops, open = {}, {}, {}
  local start_of, last_of, stretches = {}, {}, {}
  programs.moments(program, function(step, position, segment, phase, section)
    start_of[segment] = start_of[segment] or position
    last_of[segment] = position
    local stretch = phase > 0 and segment.phases[phase].loop and segment.phases[phase].stretch
    if stretch then -- its phases are repeated for each block
      local loop = stretches[stretch] or { first = position }
      if not stretches[stretch] then stretches[stretch], loops[#loops + 1] = loop, loop end
      loop.last = position
    end
    if phase == 0 and step.form == "begin" then
      open[#open + 1] = position
    elseif phase == 0 and step.form == "finish" then
      loops[#loops + 1] = { first = table.remove(open), last = position }
    end
    local unstored = program.unstored[step]
    operands.each(step, function(operand)
      if operand.buffer and operand ~= unstored then
        local l = life[operand.buffer]
        if not l then
          l = { first = position, segment = segment, section = section }
          life[operand.buffer] = l
        end
        l.last = position
        if l.section ~= section then l.section = nil end
        if l.segment ~= segment or (operand.terms and operand.terms.s) then l.common = true end
        l.own = segment.mode == "micro_batches" and not l.common
          or segment.mode == "phases" and tasks.is_own(program.buffers[operand.buffer], step, program.threads)
      end
    end)
  end)
  for _, segment in ipairs(program.segments) do
    if segment.repeats > 1 then
      loops[#loops + 1] = { first = start_of[segment], last = last_of[segment],
        shared = segment.mode == "micro_batches" }
    end
  end
  widen(life, loops)
  return life
end

-- Returns one item for several layers' items with the same tensor, bytes and owner, used only in their layer.
local function merge_layers(items)
  local merged, by_key = {}, {}
  local function is_free(of, span)
    return words.all(of.spans, function(each) return each.first > span.last or span.first > each.last end)
  end
  for _, item in ipairs(items) do
    local stack, tensor = item.slot:match("^(%a+)%d+%.(.*)$")
    local key = item.section and stack and ("%s %s %d %s"):format(stack, tensor, item.bytes, item.own)
    local of = key and by_key[key]
    if of and is_free(of, item.spans[1]) then
      of.spans[#of.spans + 1] = item.spans[1]
    else
      merged[#merged + 1] = item
      if key then by_key[key] = of or item end
    end
  end
  for _, item in ipairs(merged) do
    table.sort(item.spans, function(x, y) return x.first < y.first end)
    item.first, item.last, item.longest = item.spans[1].first, item.spans[#item.spans].last, 0
    for _, span in ipairs(item.spans) do item.longest = math.max(item.longest, span.last - span.first) end
  end
  return merged
end

-- Returns items: buffers that have one offset, { slot, bytes, own, spans }. spans: those that overlap on purpose, when
-- they are live, { names, first, last }, in order; each layer's are one.
local function items_of(program, reuse)
  local life = lifetimes(program)
  local items, by_slot = {}, {}
  for _, name in ipairs(words.sorted_keys(program.buffers)) do
    local buffer = program.buffers[name]
    local l = life[name]
    if l and (buffer.class == "arena" or (buffer.class == "out" and buffer.shadow)) then
      local slot = programs.slot(program.buffers, name)
      local item = by_slot[slot]
      if not item then
        item = { slot = slot, bytes = 0, own = l.own, section = l.section,
          spans = { { names = {}, first = l.first, last = l.last } } }
        by_slot[slot] = item
        items[#items + 1] = item
      end
      local span = item.spans[1]
      span.names[#span.names + 1] = name
      item.bytes = math.max(item.bytes, types.line_bytes(buffer.bytes))
      item.section = item.section == l.section and l.section or nil
      span.first, span.last = math.min(span.first, l.first), math.max(span.last, l.last)
    end
  end
  if not reuse then for _, item in ipairs(items) do item.section = nil end end
  return merge_layers(items)
end

-- Returns the largest sum of the bytes that are live at one step.
local function most_live(items)
  local change = {}
  for _, item in ipairs(items) do
    for _, span in ipairs(item.spans) do
      change[span.first] = (change[span.first] or 0) + item.bytes
      change[span.last + 1] = (change[span.last + 1] or 0) - item.bytes
    end
  end
  local now, most = 0, 0
  for _, position in ipairs(words.sorted_keys(change)) do
    now = now + change[position]
    most = math.max(most, now)
  end
  return most
end

-- True if two items are live at the same time.
local function meet(x, y)
  local i, j = 1, 1
  while x.spans[i] and y.spans[j] do
    local a, b = x.spans[i], y.spans[j]
    if a.first <= b.last and b.first <= a.last then return true end
    if a.last < b.last then i = i + 1 else j = j + 1 end
  end
  return false
end

local function each_bucket(item, visit)
  for _, span in ipairs(item.spans) do
    for bucket = span.first // BUCKET, span.last // BUCKET do visit(bucket) end
  end
end

-- Gives items their offsets in the given order, each the lowest where it overlaps no item that is live with it.
local function assign(items, order)
  table.sort(items, order)
  local buckets, size = {}, 0
  for _, item in ipairs(items) do
    local neighbours, seen = {}, {}
    each_bucket(item, function(bucket)
      for _, other in ipairs(buckets[bucket] or {}) do
        if not seen[other] and meet(item, other) then neighbours[#neighbours + 1] = other end
        seen[other] = true
      end
    end)
    table.sort(neighbours, function(x, y)
      if x.offset ~= y.offset then return x.offset < y.offset end
      return x.slot < y.slot
    end)
    local offset = 0
    for _, other in ipairs(neighbours) do
      if offset + item.bytes <= other.offset then break end
      offset = math.max(offset, other.offset + other.bytes)
    end
    item.offset = offset
    size = math.max(size, offset + item.bytes)
    each_bucket(item, function(bucket) words.add(buckets, bucket, item) end)
  end
  return size
end

local orders = {
  function(x, y)
    if x.bytes ~= y.bytes then return x.bytes > y.bytes end
    if x.first ~= y.first then return x.first < y.first end
    return x.slot < y.slot
  end,
  function(x, y)
    if x.longest ~= y.longest then return x.longest > y.longest end
    if x.bytes ~= y.bytes then return x.bytes > y.bytes end
    return x.slot < y.slot
  end,
}

-- Gives each item an offset; returns the bytes that all of them take.
local function assign_offsets(program, items, reuse)
  local best
  local function keep()
    for _, item in ipairs(items) do
      for _, span in ipairs(item.spans) do
        for _, name in ipairs(span.names) do program.offsets[name] = item.offset end
      end
    end
  end
  if not reuse then
    best = 0
    for _, item in ipairs(items) do
      item.offset = best
      best = best + item.bytes
    end
    keep()
    return best
  end
  for _, order in ipairs(orders) do
    local size = assign(items, order)
    if not best or size < best then
      best = size
      keep()
    end
  end
  return best
end

local function lay_out_program(program, reuse)
  -- An output that the caller does not want is computed into the arena, at an offset of its own.
  if program.variant == "ship" and #program.entry.outputs > 1 then
    for _, name in ipairs(program.entry.outputs) do program.buffers[name].shadow = true end
  end
  local items = items_of(program, reuse)
  program.items, program.offsets, program.own = items, {}, {}
  local common, own = {}, {}
  for _, item in ipairs(items) do
    local list = item.own and own or common
    list[#list + 1] = item
    for _, span in ipairs(item.spans) do
      for _, name in ipairs(span.names) do program.own[name] = item.own end
    end
  end
  program.common_bytes = assign_offsets(program, common, reuse)
  program.own_bytes = types.line_bytes(assign_offsets(program, own, reuse))
  program.arena_bytes = program.common_bytes + program.threads * program.own_bytes
  program.live_bytes = most_live(common) + program.threads * most_live(own)
end

function memory.run(state)
  for _, program in ipairs(state.programs) do
    lay_out_program(program, state.spec.reuse and program.variant == "ship")
  end
end

--- Returns the offsets and lifetimes of each program.
function memory.dump(state)
  local lines = {}
  for _, program in ipairs(state.programs) do
    lines[#lines + 1] = ("%s %s for %d workers: arena %d bytes, largest sum of live buffers %d bytes"):format(
      program.entry.name,
      program.variant, program.threads, program.arena_bytes, program.live_bytes)
    local span_of = {}
    for _, item in ipairs(program.items) do
      for _, span in ipairs(item.spans) do
        for _, name in ipairs(span.names) do span_of[name] = span end
      end
    end
    for _, name in ipairs(words.sorted_keys(program.offsets)) do
      local span = span_of[name]
      lines[#lines + 1] = ("  %10d %10d bytes, moments %d to %d%s: %s"):format(program.offsets[name],
        program.buffers[name].bytes, span.first, span.last, program.own[name] and ", of each worker" or "", name)
    end
  end
  return table.concat(lines, "\n") .. "\n"
end

return memory
