-- partition.lua: decides the axis that workers divide, and the meetings that they need, for each number of workers.
-- An axis is what is divided; a meeting is what workers do before they begin a task:
--   none      nothing
--   own       each goes on with the rows that it has done the task before for
--   barrier   they wait for each other
-- Workers never divide K, so the bits of results do not depend on their number. Ranks, which share no memory, meet by
-- operations of the graph (passes/ranks.lua).
--
-- A segment's partition is, by number of workers, { axis, meeting }:
--   sequences, none     workers take runs of micro-batches, and wait for the others at the segment's end
--   regions, barrier    each region has its own partition, and there is a barrier between sections
-- A region's partition is, by number of workers, a list of { axis, meeting }, a record for each task: one task for the
-- whole region if workers divide tokens, else a task for each `task` that its steps have (lower.lua).
--   tokens    blocks of tokens, each through all fusions of the region
--   panels    panels of a product's outputs
--   rows      rows of another operation
--   keys      panels of keys or values that are packed
--   heads     heads and query blocks of an attention
local divide = require("passes.common.divide")
local forms = require("data.storage")
local ops = require("data.ops")
local programs = require("passes.common.programs")
local words = require("common.words")

local partition = {}

-- True if no two workers share a sequence when each takes a run of micro-batches. The last micro-batch ends with the
-- batch, and so may begin within the one before.
local function apart(segment, threads, batch)
  local last = segment.repeats - (threads - 1) * segment.repeats // threads -- micro-batches of the last worker
  return batch % segment.micro_batch == 0 or last >= 2
end

-- A task: what it divides (axis), and by buffer: reads, writes, touches (either, by slot) and fills (a tile of one
-- block that all workers share).
-- goes_on: whether each row of it reads the same row of what the region's tasks before it make.
local function new_task(axis, goes_on)
  return { axis = axis, goes_on = goes_on, reads = {}, writes = {}, touches = {}, fills = {} }
end

-- Adds the rows of a tensor to a task, unless each worker has its own.
local function add_rows(state, task, tensor, access)
  local stored = state.plan.storage
  local s = stored[tensor.name]
  local place = s and forms.rows(s)
  if not place or place.of_trace or place.private == "unit" then return end
  if place.private == "block" and task.axis == "tokens" then return end
  local name = (s.of or tensor).name
  local first = programs.slot(stored, name)
  task[access][name], task.touches[first] = true, true
  if access == "writes" and first == name and place.private == "block" then task.fills[name] = true end
end

local function add_packed(task, access, storage)
  task[access][storage.buffer], task.touches[storage.buffer] = true, true
end

-- Adds an op to a task. instead: storage of operands that the op reads packed, by operand.
local function add_op(state, task, op, instead)
  for name, tensor in pairs(op.operands) do
    if instead and instead[name] then
      add_packed(task, "reads", instead[name])
    else
      add_rows(state, task, tensor, "reads")
    end
  end
  local s = state.plan.storage[op.result.name]
  if s and s.of then return end
  if s and forms.packed(s) then add_packed(task, "writes", s) end
  add_rows(state, task, op.result, "writes")
end

local function add_fusion(state, task, fusion)
  add_op(state, task, fusion.leading)
  for _, op in ipairs(fusion.epilogue) do add_op(state, task, op) end
  for _, op in ipairs(fusion.ends) do add_op(state, task, op) end
end

-- Functions by kind of region: each returns its tasks, in the order of its steps.
local tasks = {}

function tasks.rows(state, region, threads)
  if divide.keeps_busy(#region.blocks, threads) then
    local task = new_task("tokens")
    for _, fusion in ipairs(region.fusions) do add_fusion(state, task, fusion) end
    return { task }
  end
  local list, of_fusion = {}, {}
  for i, fusion in ipairs(region.fusions) do
    local is_product = ops.class(fusion.leading).product
    local before = region.fusions[i - 1]
    local mixes = ops.class(fusion.leading).mixes_rows
    of_fusion[i] = new_task(is_product and "panels" or "rows", region.loop and not is_product and not mixes
      and before and not ops.class(before.leading).product or false)
    add_fusion(state, of_fusion[i], fusion)
  end
  for _ in ipairs(region.blocks) do table.move(of_fusion, 1, #of_fusion, #list + 1, list) end
  return list
end

-- Returns the tasks of an attention for a call of one row, whose keys workers share: scores, weights, context. Each
-- reads what the one before it makes. heads: the task of other calls.
local function shared_query(state, region, heads)
  local scores, weights, context = new_task("keys"), new_task("heads"), new_task("heads")
  local first, second = region.scores.result.name, region.weights.result.name
  add_rows(state, scores, region.scores.operands.q, "reads")
  scores.writes[first], weights.reads[first] = true, true
  weights.writes[second], context.reads[second] = true, true
  for name in pairs(heads.writes) do context.writes[name], context.touches[name] = true, true end
  return { scores, weights, context }
end

-- Returns the tasks of an attention whose keys and values a caller's state keeps: new ones are added first.
local function continued_attention(state, region)
  local adding, task = new_task("keys"), new_task("heads")
  for _, each in ipairs { { region.scores.operands.k, region.keys }, { region.context.operands.v, region.values } } do
    add_rows(state, adding, each[1], "reads")
    add_packed(adding, "writes", each[2])
  end
  for _, op in ipairs(region.ops) do add_op(state, task, op, { k = region.keys, v = region.values }) end
  if region.round then add_op(state, task, region.round) end
  local list = region.open.adds and { adding, task } or { task }
  for _, each in ipairs(region.open.shares and shared_query(state, region, task) or {}) do list[#list + 1] = each end
  return list
end

-- Where lengths are open, each worker packs the keys of its heads for itself.
local function open_attention(state, region)
  if region.open.continues then return continued_attention(state, region) end
  local task = new_task("heads")
  for _, op in ipairs(region.ops) do add_op(state, task, op) end
  if region.round then add_op(state, task, region.round) end
  return { task }
end

function tasks.attention(state, region)
  if region.open then return open_attention(state, region) end
  local list, task = {}, new_task("heads")
  local k, v = region.scores.operands.k, region.context.operands.v
  for _, each in ipairs { { k, region.keys }, { v, region.values } } do
    local tensor, packed = each[1], each[2]
    if packed and packed.separate then
      local packing = new_task("keys")
      add_rows(state, packing, tensor, "reads")
      if packed.scale then add_rows(state, packing, packed.scale, "reads") end
      add_packed(packing, "writes", packed)
      list[#list + 1] = packing
    end
  end
  for _, op in ipairs(region.ops) do add_op(state, task, op, { k = region.keys, v = region.values }) end
  if region.round then add_op(state, task, region.round) end
  list[#list + 1] = task
  return list
end

function tasks.sequence(state, region)
  local stored = state.plan.storage[region.op.result.name]
  if stored and stored.form == "windows" then return {} end -- they are read in place
  local task = new_task("rows")
  add_op(state, task, region.op)
  if region.kept then add_packed(task, "writes", region.kept) end
  return { task }
end

-- True if a task reads elements that another has written since the last barrier, or fills a tile that is in use.
local function clashes(task, written, touched)
  for name in pairs(task.reads) do
    if written[name] and not task.writes[name] then return true end
  end
  for name in pairs(task.fills) do
    if touched[name] then return true end
  end
  return false
end

-- Sets the partitions of a section's regions. Workers meet between sections, so the first task needs no meeting.
-- written: by tasks since the last barrier; own: by the tasks whose rows a worker may go on with.
local function divide_section(state, section, threads)
  local written, touched, own = {}, {}, {}
  for _, region in ipairs(section.regions) do
    local records = {}
    for i, task in ipairs(tasks[region.kind](state, region, threads)) do
      if not task.goes_on then
        for name in pairs(own) do written[name] = true end
        own = {}
      end
      local meets = clashes(task, written, touched)
      if meets then written, touched, own = {}, {}, {} end
      for name in pairs(task.writes) do own[name] = true end
      for name in pairs(task.touches) do touched[name] = touched[name] or not task.fills[name] end
      records[i] = { axis = task.axis, meeting = meets and "barrier" or task.goes_on and "own" or "none" }
    end
    region.partition[threads] = records
  end
end

--- Sets the partition of each segment and region, for each number of workers of the description and for 2, because
--- every model is told whether a second worker helps.
function partition.decide(state, segments)
  local numbers = { 2 }
  for _, threads in ipairs(state.spec.workers) do
    if threads > 2 then numbers[#numbers + 1] = threads end
  end
  for _, segment in ipairs(segments) do
    segment.partition = {}
    for _, section in ipairs(segment.sections) do
      for _, region in ipairs(section.regions) do region.partition = {} end
    end
    for _, threads in ipairs(numbers) do
      if segment.repeats > 1 and divide.keeps_busy(segment.repeats, threads)
        and apart(segment, threads, state.spec.batch) then
        segment.partition[threads] = { axis = "sequences", meeting = "none" }
      else
        segment.partition[threads] = { axis = "regions", meeting = "barrier" }
        for _, section in ipairs(segment.sections) do divide_section(state, section, threads) end
      end
    end
  end
end

-- Returns one block's tasks as text: their axes, with the meetings between them.
local function tasks_text(records, first, last)
  local parts, count = {}, 0
  for i = first, last do
    local record, next_record = records[i], i < last and records[i + 1]
    if record.meeting ~= "none" then parts[#parts + 1] = record.meeting end
    count = count + 1
    if not (next_record and next_record.meeting == "none" and next_record.axis == record.axis) then
      parts[#parts + 1] = count > 1 and ("%s x %d"):format(record.axis, count) or record.axis
      count = 0
    end
  end
  return table.concat(parts, ", ")
end

-- Returns a region's tasks as text; blocks with the same text are counted.
local function region_text(region, records)
  local each, runs = #region.fusions, {}
  if each == 0 or records[1].axis == "tokens" then return tasks_text(records, 1, #records) end
  for first = 1, #records, each do
    local text, run = tasks_text(records, first, first + each - 1), runs[#runs]
    if run and run.text == text then run.count = run.count + 1 else runs[#runs + 1] = { text = text, count = 1 } end
  end
  for i, run in ipairs(runs) do runs[i] = run.count > 1 and ("%d x (%s)"):format(run.count, run.text) or run.text end
  return table.concat(runs, "; ")
end

local function numbers_of(partitions)
  return words.sorted_keys(partitions)
end

--- Appends the partition of a segment or region to lines of a dump, a line for each number of workers.
function partition.dump(of, indent, lines)
  for _, threads in ipairs(numbers_of(of.partition)) do
    local p = of.partition[threads]
    lines[#lines + 1] = ("%s%d workers: %s"):format(indent, threads,
      p.axis and ("%s, %s"):format(p.axis, p.meeting) or region_text(of, p))
  end
end

return partition
