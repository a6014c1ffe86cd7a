-- schedule.lua: orders the steps, in chunks that workers claim, with the barriers that the plan names.
-- One worker takes every section in the order of the graph. Several workers divide what the plan's partition names: the
-- tasks between two barriers, in chunks of equal counted cost; or the micro-batches, with a barrier at the end. Each
-- has a run of the chunks, and claims other workers' when it has done its own (runtime/model/team.h).
-- Units are never changed, so the bits of results do not depend on who does them.
--
-- Before: state.programs. After: one program for each number of workers in the description (a trace has one worker),
-- with
--   threads     the number of workers
--   segments    each with a mode: serial, micro_batches or phases
--   phases      of a segment in phases: { section, chunks = list of lists of steps }, with a barrier after each phase.
--               One of any length also has stretch, the region, whose phases are repeated for each block of its `loop`;
--               and claimed, the scope (data/loops.lua) by which a call counts the chunks, all of which are chunks[1];
--               and stocks, the weights that each worker prefetches while it waits after it (schedule/stocks.lua)
--   chunks      of a segment in micro-batches: how many runs of these are claimed
--   lines       the number of its steps
--   fused_kernels  products and the maps that they are fused with (schedule/fused_kernels.lua)
-- and state.saved_by_two, the part of the counted work that a second worker takes from the first.
local cost = require("passes.schedule.cost")
local find_fused_kernels = require("passes.schedule.fused_kernels")
local loops = require("data.loops")
local panel_loops = require("passes.common.panel_loops")
local programs = require("passes.common.programs")
local step_text = require("data.step_text")
local stocks = require("passes.schedule.stocks")
local tasks = require("passes.common.tasks")
local words = require("common.words")

local schedule = {}

-- Returns the atoms of a list of steps in order: { cost, record }, and the atoms of each step, one for each of its
-- panels. An atom is the steps that must stay together: a unit, or a whole block of rows if workers divide tokens.
-- record: the plan's partition of its task.
local function atoms_of(list, threads, cost_of)
  local atoms, of_region, of_step = {}, {}, {}
  for _, step in ipairs(list) do
    if programs.is_call(step) then
      local region, record = step.region, tasks.partition(step, threads)
      local of_key = of_region[region] or {}
      of_region[region], of_step[step] = of_key, {}
      for panel = 1, panel_loops.count(step) do
        local key = record.axis == "tokens" and step.block or -panel_loops.unit(step, panel)
        local atom = of_key[key]
        if not atom then
          atom = { cost = 0, record = record }
          of_key[key] = atom
          atoms[#atoms + 1] = atom
        end
        of_step[step][panel] = atom
        atom.cost = atom.cost + cost_of(step)
      end
    end
  end
  return atoms, of_step
end

-- Gives each atom its phase. A new phase begins with a task before which the plan names a barrier. Without atoms there
-- is no phase, as in a section of keys that are read in place.
local function find_phases(atoms)
  local phases, record = {}, nil
  for _, atom in ipairs(atoms) do
    if #phases == 0 or (atom.record ~= record and atom.record.meeting == "barrier") then
      phases[#phases + 1] = { atoms = {}, cost = 0 }
    end
    record = atom.record
    local phase = phases[#phases]
    phase.atoms[#phase.atoms + 1] = atom
    phase.cost = phase.cost + atom.cost
    atom.phase = #phases
  end
  return phases
end

-- Divides a phase's atoms, in order, into chunks of about equal cost: some for each worker, so that one whose core is
-- slow leaves chunks to the others; one for each if they would cost less than `least`. Returns the number of chunks.
local function divide(phase, threads, parameters)
  local wanted = math.max(threads, math.min(threads * parameters.chunks, phase.cost // parameters.least_chunk))
  local before, count, last = 0, 0, nil
  for _, atom in ipairs(phase.atoms) do
    local middle = before + atom.cost / 2
    local part = math.min(wanted - 1, math.floor(middle * wanted / math.max(1, phase.cost)))
    if part ~= last then count, last = count + 1, part end
    atom.chunk = count
    before = before + atom.cost
  end
  return count
end

-- Calls visit(chunk, part) for each part of a step that is in one chunk: some panels of it. atoms: of its panels;
-- phase: of those that count.
local function each_part(step, atoms, phase, part, visit)
  local first = 1
  for panel = 1, #atoms do
    local after = atoms[panel + 1]
    if not after or after.chunk ~= atoms[panel].chunk or after.phase ~= atoms[panel].phase then
      if atoms[panel].phase == phase then visit(atoms[panel].chunk, part(step, first - 1, panel - first + 1)) end
      first = panel + 1
    end
  end
end

-- Returns the steps of each of `count` chunks, with the notes and loops around them. of_step: each step's atoms;
-- phase: the number of the phase that the chunks are of, or nil.
local function chunks_of(steps, of_step, phase, count)
  local lists, state, part = {}, {}, panel_loops.parts()
  for chunk = 1, count do lists[chunk], state[chunk] = {}, { open = {} } end
  local note, open = nil, {}
  for _, step in ipairs(steps) do
    if step.form == "note" then note = step
    elseif step.form == "begin" then open[#open + 1] = step
    elseif step.form == "finish" then
      for chunk, s in ipairs(state) do
        if s.open[#open] == open[#open] then
          lists[chunk][#lists[chunk] + 1] = step
          s.open[#open] = nil
        end
      end
      open[#open] = nil
    else
      each_part(step, of_step[step], phase, part, function(chunk, own)
        local list, s = lists[chunk], state[chunk]
        for i = #s.open + 1, #open do list[#list + 1], s.open[i] = open[i], open[i] end
        if note ~= s.note then
          list[#list + 1] = note
          s.note = note
        end
        list[#list + 1] = own
      end)
    end
  end
  return lists
end

-- Returns the cost of a list of steps, each counted once per iteration of its loop.
local function list_cost(list, cost_of)
  local total, times, open = 0, 1, {}
  for _, step in ipairs(list) do
    if step.form == "begin" then
      open[#open + 1] = step.count
      times = times * step.count
    elseif step.form == "finish" then
      times = times // table.remove(open)
    end
    total = total + times * panel_loops.count(step) * cost_of(step)
  end
  return total
end

-- Returns a function of a section that calls of(section) for the first of each kind only.
local function by_kind(of)
  local known = {}
  return function(section)
    known[section.kind] = known[section.kind] or of(section)
    return known[section.kind]
  end
end

local function segment_cost(segment, cost_of)
  return words.sum(segment.sections, by_kind(function(section) return list_cost(section.steps, cost_of) end))
end

-- Returns a section's phases for several workers, a list of their chunks each.
local function phases_of(section, threads, parameters, cost_of)
  local phases = {}
  local atoms, of_step = atoms_of(section.steps, threads, cost_of)
  for number, phase in ipairs(find_phases(atoms)) do
    phases[number] = chunks_of(section.steps, of_step, number, divide(phase, threads, parameters))
  end
  return phases
end

-- Returns a segment's phases for several workers, or nil if one worker is faster. divided: phases_of.
local function in_phases(segment, parameters, cost_of, divided)
  local phases = {}
  for _, section in ipairs(segment.sections) do
    for _, chunks in ipairs(divided(section)) do phases[#phases + 1] = { section = section, chunks = chunks } end
  end
  return #phases > 0 and segment_cost(segment, cost_of) / #phases >= parameters.least_phase and phases or nil
end

-- Returns a section's steps as items: scopes with all that is in them, and steps outside of scopes; { steps, scope: the
-- step that begins it, first: the first call }. Notes go with what follows them.
local function items_of(section)
  local items, depth, item = {}, 0, nil
  for _, step in ipairs(section.steps) do
    item = item or { steps = {} }
    item.steps[#item.steps + 1] = step
    if step.form == "begin" then
      item.scope, depth = item.scope or step, depth + 1
    elseif step.form == "finish" then
      depth = depth - 1
    elseif programs.is_call(step) then
      item.first = item.first or step
    end
    if depth == 0 and item.first then items[#items + 1], item = item, nil end
  end
  return items
end

-- Divides the units of a phase into chunks, which the compiler knows; the chunks of a scope with a number of its own
-- are known when a call is.
local function divide_units(phase, threads, parameters, cost_of)
  if phase.claimed then
    phase.chunks = { phase.steps }
    return
  end
  local atoms, of_step = atoms_of(phase.steps, threads, cost_of)
  local all = words.sum(atoms, function(atom) return atom.cost end)
  local count = divide({ atoms = atoms, cost = all }, threads, parameters)
  phase.chunks = chunks_of(phase.steps, of_step, nil, count)
end

-- Returns the phases of a segment whose sizes a call knows. A block of rows goes through the phases of its region
-- (their stretch) before the next. Scopes with chunks that a call counts are a phase each, or go on with those before.
local function open_phases(segment, threads, parameters, cost_of)
  local phases, record = {}, nil
  for _, section in ipairs(segment.sections) do
    for _, item in ipairs(items_of(section)) do
      local last, region = phases[#phases], item.first.region
      local claimed = item.scope and loops.forms[item.scope.loop].chunks and item.scope or nil
      local before = record
      record = tasks.partition(item.first, threads)
      if not last or last.stretch ~= region or (last.claimed or claimed) and record.meeting ~= "own"
        or record ~= before and record.meeting == "barrier" then
        last = { section = section, stretch = region, loop = region.loop, claimed = claimed, steps = {} }
        phases[#phases + 1] = last
      end
      table.move(item.steps, 1, #item.steps, #last.steps + 1, last.steps)
    end
  end
  for _, phase in ipairs(phases) do divide_units(phase, threads, parameters, cost_of) end
  return phases
end

-- Returns the number of runs of micro-batches that are claimed. The last micro-batch ends with the batch, and so may
-- have sequences in common with the one before; then each worker has one run, as the plan assumes.
local function runs_of(segment, threads, batch, parameters)
  if batch % segment.micro_batch > 0 then return threads end
  return math.min(segment.repeats, threads * parameters.chunks)
end

-- Returns the segments of a program for a number of workers. is_counted: only the costs of steps are read, which are
-- equal in sections of one kind.
local function segments_of(base, threads, batch, parameters, cost_of, is_counted)
  local function divided(section) return phases_of(section, threads, parameters, cost_of) end
  if is_counted then divided = by_kind(divided) end
  return words.map(base.segments, function(segment)
    local new = { name = segment.name, micro_batch = segment.micro_batch, repeats = segment.repeats,
      sections = segment.sections, mode = "serial" }
    if base.divided and not is_counted then
      new.mode, new.phases = "phases", open_phases(segment, threads, parameters, cost_of)
    elseif threads > 1 then
      if segment.partition[threads].axis == "sequences" then
        if segment.repeats * segment_cost(segment, cost_of) >= parameters.least_team then
          new.mode, new.chunks = "micro_batches", runs_of(segment, threads, batch, parameters)
        end
      else
        new.phases = in_phases(segment, parameters, cost_of, divided)
        if new.phases then new.mode = "phases" end
      end
    end
    return new
  end)
end

-- Returns the program for a number of workers.
local function schedule_program(base, threads, batch, parameters, cost_of)
  local program = { entry = base.entry, variant = base.variant, divided = base.divided, threads = threads,
    segments = segments_of(base, threads, batch, parameters, cost_of), buffers = base.buffers, lines = 0 }
  programs.each(program, function(step)
    if programs.is_call(step) then program.lines = program.lines + panel_loops.count(step) end
  end)
  find_fused_kernels(program)
  return program
end

-- Returns the part of the counted work that two workers save against one, each with one chunk of a phase: 0 if one does
-- all, at most a half. A call of any length counts as one of the longest sequence, and rows that a call divides count
-- as one worker's.
local function saved_by_two(base, batch, parameters, cost_of)
  local by_one, longest, longest_of = 0, 0, {}
  parameters = setmetatable({ chunks = 1 }, { __index = parameters })
  for _, segment in ipairs(segments_of(base, 2, batch, parameters, cost_of, true)) do
    local whole = segment.repeats * segment_cost(segment, cost_of)
    by_one = by_one + whole
    if segment.mode == "micro_batches" then
      longest = longest + (segment.repeats + 1) // 2 * (whole / segment.repeats)
    elseif segment.mode == "phases" then
      for _, phase in ipairs(segment.phases) do
        local lists = phase.chunks
        longest_of[lists] = longest_of[lists] or words.most(lists, function(list) return list_cost(list, cost_of) end)
        longest = longest + segment.repeats * longest_of[lists]
      end
    else
      longest = longest + whole
    end
  end
  return by_one > 0 and 1 - longest / by_one or 0
end

-- Returns the numbers of workers that a lowered program is for.
local function workers_of(base, spec)
  local list = {}
  for _, threads in ipairs(spec.workers) do
    if not spec.symbols.rows.is_open or base.divided == (threads > 1) then list[#list + 1] = threads end
  end
  return list
end

function schedule.run(state)
  local list, cost_of = {}, cost.meter()
  local batch, parameters = state.spec.batch, state.plan.parameters
  for _, base in ipairs(state.programs) do
    local numbers = base.variant == "ship" and workers_of(base, state.spec) or { 1 }
    if base.variant == "ship" then state.saved_by_two = saved_by_two(base, batch, parameters, cost_of) end
    for _, threads in ipairs(numbers) do
      local program = schedule_program(base, threads, batch, parameters, cost_of)
      if base.divided and parameters.stock > 0 then stocks.add(program, state.weights.offsets, parameters.stock) end
      list[#list + 1] = program
    end
  end
  state.programs = list
end

-- Appends a line for each op of the graph: its steps, and the bytes that they read and write in one run of their lists.
local function traffic(program, lines)
  local steps_of, bytes_of = {}, {}
  programs.each(program, function(step)
    if programs.is_call(step) then
      steps_of[step.op] = (steps_of[step.op] or 0) + panel_loops.count(step)
      bytes_of[step.op] = (bytes_of[step.op] or 0) + cost.bytes(step)
    end
  end)
  lines[#lines + 1] = "  bytes moved an op"
  for i, op in ipairs(program.entry.ops) do
    lines[#lines + 1] = ("  %12d bytes in %5d steps: %s = %s"):format(bytes_of[i] or 0, steps_of[i] or 0,
      op.result.name,
      op.op)
  end
end

--- Returns the shipped programs' steps in order, numbered, by phase and chunk; then the bytes moved by each op.
function schedule.dump(state)
  local lines = {}
  for _, program in ipairs(state.programs) do
    if program.variant == "ship" then
      lines[#lines + 1] = ("%s for %d workers: %d steps"):format(program.entry.name, program.threads, program.lines)
      local before, number = nil, 0
      programs.each(program, function(step, section, segment, chunk, phase)
        local title = ("  segment %s (%s), section %s"):format(segment.name, segment.mode, section.name)
        if segment.mode == "phases" then
          title = ("%s, phase %d, chunk %d"):format(title, phase, chunk)
          for worker, stock in ipairs(segment.phases[phase].stocks or {}) do
            title = ("%s\n    after it worker %d prefetches %d bytes of weights from %d on"):format(title, worker - 1,
              stock.bytes, stock.at)
          end
        end
        if title ~= before then
          lines[#lines + 1] = title
          before = title
        end
        if programs.is_call(step) then
          lines[#lines + 1] = ("  %5d %s"):format(number + 1, step_text.of(step))
          number = number + panel_loops.count(step)
        end
      end)
      traffic(program, lines)
    end
  end
  return table.concat(lines, "\n") .. "\n"
end

return schedule
