-- instance.lua: turns a program with open sizes into the program of one call, in which all sizes are known.
-- Loops over open sizes are unrolled, and symbols replaced by their values, so that the other checkers see what a call
-- does. Places are sums of symbols with fixed factors. So if no operand leaves its buffer in the first and in the last
-- iteration of each loop of the longest and the shortest calls, none does in any iteration of any call. Blocks of rows
-- are equal, so the longest call may have smaller ones than others: the longest calls of whole blocks are checked, too,
-- and so is the call of the most sequences, for tensors that have a row for each.
local loops = require("data.loops")
local operands = require("data.operands")
local types = require("data.types")
local words = require("common.words")

local instance = {}

-- Returns the largest step of a program's loops over rows, queries or keys, the sets of the steps of loops over
-- blocks: of the rows of a call, of its sequences; and the most rows of a chunk of a block, by the form of its loop.
local function steps_of(program)
  local largest, of_rows, of_sequences, of_chunks = 1, {}, {}, {}
  for _, segment in ipairs(program.segments) do
    for _, section in ipairs(segment.sections) do
      for _, step in ipairs(section.steps) do
        local loop = step.region and step.region.loop
        if loop then largest = math.max(largest, loop.step) end
        if loop then (loop.form == "pooled" and of_sequences or of_rows)[loop.step] = true end
        if step.form == "begin" then largest = math.max(largest, step.step or 1) end
        if step.form == "begin" and step.loop == "slices" then
          of_chunks[loop.form] = math.max(of_chunks[loop.form] or 0, step.piece)
        end
      end
    end
  end
  return largest, of_rows, of_sequences, of_chunks
end

--- Returns the calls for which a program is checked: { rows, first, past, source, origin, flows, chunks }. `flows` is
--- true for calls of which all iterations are unrolled, two or three of each loop, to check the order of reads and
--- writes. `chunks` is the form of the loops whose blocks have two chunks of rows in this call. Nothing else is
--- unrolled in it: it is to check that workers may do them at the same time, as blocks of other calls may have one.
--- The others are the longest calls, whose loops are unrolled for the first and the last iteration, to check bounds.
--- spec: of the program's entry. windows: of its state (plan.lua); nil: none.
function instance.calls(program, spec, windows)
  local list, seen, least, most = {}, {}, spec.least, spec.call_rows
  -- A state forgets at most the keys that a window hides, and at least the keys that it has no room for.
  local function most_forgotten(before, _, window)
    local w = window and windows[window + 1]
    return w and math.max(0, before - w.left) // w.page * w.page or 0
  end
  local function least_forgotten(_, keys, window)
    local w = window and windows[window + 1]
    return w and words.round_up(math.max(0, keys - w.keys), w.page) or 0
  end
  local largest, of_rows, of_sequences, of_chunks = steps_of(program)
  local block, source = math.min(most, largest + 1), spec.symbols.source
  -- The lengths of the sources of a call, and their numbers: the most and the least in turn; an unrolled call has more
  -- than a block. is_shared: the last two sequences have one source.
  local function sources(count, flows, is_shared)
    local longest = source and (flows and math.min(source.most, largest + 1) or source.most)
    local of_calls, origins = {}, {}
    for i = 1, source and count or 0 do
      origins[i] = is_shared and i == count and count > 1 and i - 1 or i
      of_calls[i] = origins[i] % 2 == 1 and longest or source.least
    end
    if source then return of_calls, origins end
  end
  local function add(lengths, flows, past, forgotten, chunks)
    local rows, first, shortest = 0, { 0 }, most
    for i, length in ipairs(lengths) do
      rows, shortest = rows + length, math.min(shortest, length)
      first[i + 1] = rows
    end
    local key = table.concat(lengths, " ") .. (past and " after " .. table.concat(past, " ") or "")
      .. (forgotten == least_forgotten and " with room" or "") .. (chunks or "")
    if rows <= most and shortest >= least and not seen[key] then
      seen[key] = true
      local of_source, origin = sources(#lengths, flows, past or not flows)
      list[#list + 1] = { rows = rows, first = first, past = past, forgotten = forgotten, flows = flows,
        chunks = chunks, source = of_source, origin = origin }
    end
  end
  local function sequences(count)
    local lengths = {}
    for i = 1, math.min(count, most // least) do lengths[i] = least end
    return lengths
  end
  add({ math.min(most, 65), block - math.min(most, 65) }, true)
  add({ block }, true)
  add({ least, least }, true)
  add({ least }, true)
  for _, form in ipairs(words.sorted_keys(of_chunks)) do
    local count = of_chunks[form] + 1
    add(form == "pooled" and sequences(count) or { math.max(least, count) }, false, nil, nil, form)
  end
  add { most }
  add { most - least, least }
  for _, step in ipairs(words.sorted_keys(of_rows)) do add { most // step * step } end
  for _, step in ipairs(words.sorted_keys(of_sequences)) do add(sequences(step)) end
  add(sequences(spec.symbols.past.is_open and spec.sequences or most))
  if spec.symbols.past.is_open and program.variant == "ship" then -- a trace keeps only the scores of new keys
    add({ 1, 1 }, true, { math.min(spec.seq - 1, 70), 0 }, least_forgotten)
    for _, forgotten in ipairs { most_forgotten, least_forgotten } do
      add({ most }, false, { spec.seq - most }, forgotten)
      add({ 1 }, false, { spec.seq - 1 }, forgotten)
    end
  end
  return list
end

local function value_of(symbols, name) return assert(symbols[name], name) end

local NO_TERMS = {}

-- Returns a metatable that gives a copy the fields of a table, which has many copies.
local function fields_of(of, made)
  local fields = made[of]
  if not fields then
    fields = { __index = of }
    made[of] = fields
  end
  return fields
end

-- Symbols whose terms stay, as the checkers know their bounds: of panel loops and of micro-batches; and of loops over
-- heads that stay.
local bounded, of_heads = words.set { "panel", "b", "s" }, words.set { "head", "kv_head" }

-- Returns an operand with the values of a call's symbols; itself, if it has none.
local function with_values(operand, symbols, made)
  if operand.symbol then
    local value = value_of(symbols, operand.symbol) + operand.plus
    return setmetatable({ value = value, least = value, most = value, symbol = false }, fields_of(operand, made))
  end
  if not operand.terms then return operand end
  local offset, terms = operand.offset, NO_TERMS
  for symbol, stride in pairs(operand.terms) do
    if bounded[symbol] or of_heads[symbol] and not symbols[symbol] then
      terms = terms == NO_TERMS and {} or terms
      terms[symbol] = stride
    else
      offset = offset + stride * value_of(symbols, symbol)
    end
  end
  return setmetatable({ offset = offset, terms = terms }, fields_of(operand, made))
end

-- Returns a table with the values of its open names; equal ones are one table, whose footprint is computed once.
local function sized(of, sizes, symbols, made)
  if not of.open then return of end
  local copy, values = {}, {}
  for name in of.open:gmatch("%S+") do
    local value = value_of(symbols, sizes[name])
    copy[name], values[#values + 1] = value, value
  end
  local key = table.concat(values, " ")
  made[of] = made[of] or {}
  if not made[of][key] then
    for name, value in pairs(of) do if copy[name] == nil then copy[name] = value end end
    copy.open = nil
    made[of][key] = copy
  end
  return made[of][key]
end

-- Returns a step with the values of a call's symbols.
local function known_step(step, symbols, made)
  local arguments = {}
  for name, operand in pairs(step.arguments) do arguments[name] = operand and with_values(operand, symbols, made) end
  local copy = setmetatable({ arguments = arguments }, fields_of(step, made))
  if step.choices and not symbols.rows then return copy end -- the number of rows is known
  -- all choices of the rows, which experts divide
  if step.choices then symbols = { n = symbols.rows * step.choices } end
  if step.kernel then
    copy.kernel = sized(step.kernel, step.sizes, symbols, made)
    copy.outputs = math.min(step.outputs, copy.kernel.m)
  end
  if step.constants then copy.constants = sized(step.constants, step.sizes, symbols, made) end
  return copy
end

-- Returns the number of the step that ends the loop that list[at] begins.
local function finish_of(list, at)
  local depth = 0
  for i = at, #list do
    if list[i].form == "begin" then depth = depth + 1 end
    if list[i].form == "finish" then depth = depth - 1 end
    if depth == 0 then return i end
  end
  error("a loop without an end")
end

-- Runs body() for each iteration of a loop that a call is checked for: all of them, or the first and the last.
local function each_iteration(step, call, symbols, body)
  local form, last, number = loops.forms[step.loop or step.form], 0, 0
  if call.flows then return form.run(step, call, symbols, body) end
  form.run(step, call, symbols, function() last = last + 1 end)
  form.run(step, call, symbols, function()
    number = number + 1
    if number == 1 or number == last then body() end
  end)
end

-- True if a loop is not unrolled: one over the sequences of a micro-batch; and, outside of these, one over whole groups
-- of heads, if they stay.
local function stays(step, keeps_heads)
  if step.loop ~= "heads" then return step.loop == "batch" end
  return keeps_heads and step.count % math.min(step.group, step.count) == 0
end

-- Appends the steps list[first .. last] of one call.
local function unroll(list, first, last, call, symbols, result, copy_of, made)
  local at, keeps_heads = first, call.keeps_heads
  while at <= last do
    local step = list[at]
    if step.loop == "batch" then keeps_heads = call.keeps_heads and step.form == "finish" end
    if step.form == "begin" and not stays(step, keeps_heads) then
      local stop = finish_of(list, at)
      each_iteration(step, call, symbols, function()
        unroll(list, at + 1, stop - 1, call, symbols, result, copy_of, made)
      end)
      at = stop
    elseif operands.entry(step) then
      local known = known_step(step, symbols, made)
      result[#result + 1] = known
      copy_of(step, known)
    else
      result[#result + 1] = step
    end
    at = at + 1
  end
end

--- Returns the bytes of an input or output in a call.
function instance.tensor_bytes(tensor, spec, call)
  local elements = words.elements(tensor.shape)
  if not tensor.unbatched then
    local has_rows = tensor.grows:find("s", 1, true) ~= nil
    elements = has_rows and elements // spec.seq * call.rows or elements * (#call.first - 1)
  end
  return types.bytes(elements, tensor.type)
end

-- Returns the phases of one call, in order: a stretch's phases for each block of its rows. A call for its chunks (calls
-- above) has only the phases whose chunks are rows of such blocks. unrolled(list, symbols): the steps of a list.
local function phases_of(segment, call, unrolled)
  local phases, first = {}, 1
  while segment.phases[first] do
    local stretch, loop = segment.phases[first].stretch, segment.phases[first].loop
    local last = first
    while segment.phases[last + 1] and segment.phases[last + 1].stretch == stretch do last = last + 1 end
    local function add_phase(phase, block)
      local chunks = {}
      local count = phase.claimed and loops.forms[phase.claimed.loop].count(phase.claimed, call, { block = block })
        or #phase.chunks
      local has_ends = phase.claimed and phase.claimed.loop == "each" and not call.flows and not call.chunks
      for chunk = 1, count do
        if not has_ends or chunk == 1 or chunk == count then -- chunks of sequences are like iterations over them
          chunks[#chunks + 1] = unrolled(phase.claimed and phase.steps or phase.chunks[chunk],
            { block = block, chunk = chunk - 1 })
        end
      end
      phases[#phases + 1] = { section = phase.section, chunks = chunks }
    end
    local function add(block)
      for i = first, last do
        local phase = segment.phases[i]
        if not call.chunks or loop and loop.form == call.chunks and phase.claimed then add_phase(phase, block) end
      end
    end
    local symbols = {}
    if loop then
      each_iteration(loop, call, symbols, function() add { row = symbols.row, rows = symbols.rows } end)
    else
      add()
    end
    first = last + 1
  end
  return phases
end

--- Returns a program of one call: its segments with unrolled sections, and the tables of the program by step
--- (fused_kernels, fused_maps, unstored) for the new steps. Where the call says keeps_heads, loops over heads stay.
function instance.of(program, call)
  local known = setmetatable({ segments = {}, fused_kernels = {}, fused_maps = {}, unstored = {} },
    { __index = program })
  local made = {}
  local pair -- of the fused product before
  local function copy_of(step, new)
    if not program.fused_kernels then return end -- before they are chosen
    if program.fused_maps[step] then
      known.fused_maps[new], pair.map = true, new
      if pair.is_local then
        known.unstored[pair.product] = pair.product.arguments.c
        known.unstored[new] = new.arguments[new.elementwise[1].argument]
      end
    end
    if program.fused_kernels[step] then
      pair = setmetatable({ product = new }, { __index = program.fused_kernels[step] })
      known.fused_kernels[new] = pair
    end
  end
  for i, segment in ipairs(program.segments) do
    local copy = setmetatable({ sections = {} }, { __index = segment })
    local function unrolled(steps, symbols)
      local list = {}
      unroll(steps, 1, #steps, call, symbols, list, copy_of, made)
      return list
    end
    if segment.phases then copy.phases = phases_of(segment, call, unrolled) end
    for s, section in ipairs(segment.phases and {} or segment.sections) do
      copy.sections[s] = setmetatable({ steps = unrolled(section.steps, {}) }, { __index = section })
    end
    known.segments[i] = copy
  end
  return known
end

-- True if some attention of a program is a loop over heads.
local function has_loops(program)
  return words.any(program.segments, function(segment)
    return words.any(segment.sections, function(section)
      return words.any(section.steps, function(step) return step.loop == "heads" end)
    end)
  end)
end

--- Returns a program of fixed sizes without loops over the sequences of a call, which has one, of an encoder, and
--- without loops over heads. more: fields of the call.
function instance.of_one(program, spec, more)
  if spec.symbols.rows.is_open or spec.role ~= "encode" and not has_loops(program) then return program end
  return instance.of(program, words.merged({ rows = spec.seq, first = { 0, spec.seq }, flows = true }, more))
end

return instance
