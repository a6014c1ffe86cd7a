-- checks.lua: the checker that runs after each pass. What it finds is a defect of the
-- compiler, never of a description, and stops it.
local operands = require("operands")
local ops = require("ops")
local schedule = require("schedule")
local words = require("words")

local checks = {}

local function expect(condition, pass, format, ...)
  if not condition then error(("the checker after %s: " .. format):format(pass, ...), 0) end
end

local function same_shape(a, b)
  if #a ~= #b then return false end
  for i = 1, #a do if a[i] ~= b[i] then return false end end
  return true
end

--- Shapes agree with the op table, each tensor is written once and before it is read, names are unique.
function checks.graph(state)
  local g = state.graph
  for _, entry in ipairs(g.entries) do
    local written = {}
    for _, name in ipairs(entry.inputs) do written[name] = true end
    for _, name in ipairs(g.weights) do written[name] = true end
    for _, op in ipairs(entry.ops) do
      local list = {}
      for i, operand in ipairs(ops.table[op.op].operands) do
        local tensor = op.operands[operand]
        list[i] = tensor or false
        expect(not tensor or written[tensor.name], "graph", "%s reads %s before it is written", op.result.name,
          tensor and tensor.name)
      end
      expect(not written[op.result.name], "graph", "%s is written twice", op.result.name)
      expect(same_shape(op.result.shape, ops.table[op.op].shape(op.attributes, table.unpack(list))), "graph",
        "the shape of %s", op.result.name)
      if op.op == "linear" then
        local x, weight = op.operands.x, op.operands.weight
        expect(x.shape[#x.shape] == weight.shape[2], "graph", "%s: x is %s, the weight %s", op.result.name,
          words.shape(x.shape), words.shape(weight.shape))
      end
      written[op.result.name] = true
    end
    for _, name in ipairs(entry.outputs) do expect(written[name], "graph", "output %s is never written", name) end
  end
end

--- Every op is in exactly one region; panels and blocks cover.
function checks.plan(state)
  for i, planned in ipairs(state.plan.entries) do
    local found = {}
    local function mark(op)
      expect(not found[op], "plan", "%s is planned twice", op.result.name)
      found[op] = true
    end
    for _, segment in ipairs(planned.segments) do
      for _, section in ipairs(segment.sections) do
        for _, region in ipairs(section.regions) do
          for _, group in ipairs(region.groups) do
            mark(group.head)
            for _, rider in ipairs(group.riders) do mark(rider) end
            if group.panels then
              local outputs = 0
              for _, width in ipairs(group.panels.widths) do outputs = outputs + width end
              expect(outputs == group.head.operands.weight.shape[1], "plan", "the panels of %s", group.head.result.name)
              local k = group.k_blocks
              expect(k.size * k.count + k.tail == group.head.operands.weight.shape[2], "plan", "the K blocks of %s",
                group.head.result.name)
            end
          end
          for _, op in ipairs(region.ops or {}) do mark(op) end
        end
      end
    end
    for _, op in ipairs(state.graph.entries[i].ops) do expect(found[op], "plan", "%s is not planned",
      op.result.name) end
  end
end

-- The rectangle of a buffer that an operand writes: { row, column, rows, columns, ld }, or nil where it is not one.
local function rectangle(step, operand)
  local c = step.constants
  local rows, columns, ld
  if step.form == "product" then
    rows, columns, ld = step.kernel.n, step.kernel.m, step.kernel.ldc
  elseif step.form == "map" then
    rows, columns, ld = c.rows, c.cols, c.ld
  elseif step.fn == "transpose" then
    rows, columns, ld = c.cols, c.rows, c.ldy
  elseif step.fn == "argmax" then
    rows, columns, ld = c.rows, 1, 1
  elseif step.fn == "context_repair" or step.fn == "context_repair_nonzero" then
    rows, columns, ld = c.rows, c.head_dim, c.ldc
  elseif step.fn == "additive_scores" then
    rows, columns, ld = c.rows, c.cols, c.lds
  elseif c.rows and (c.ldy or c.ld) then
    rows, columns, ld = c.rows, c.cols, c.ldy or c.ld
  else
    return nil
  end
  return { row = operand.offset // ld, column = operand.offset % ld, rows = rows, columns = columns, ld = ld }
end

-- The rectangle of a buffer that an operand reads row by row, or nil where it is not one.
local function read_rectangle(step, operand)
  local c = step.constants
  local rows, columns, ld
  if step.form == "product" and operand == step.b then
    rows, columns, ld = step.kernel.n, step.kernel.k + (step.batch.count - 1) * step.batch.b // 4, step.kernel.ldb
  elseif step.form == "map" then
    for _, part in ipairs(step.parts) do
      for _, argument in ipairs(step.arguments) do
        if argument[2] == operand and argument[1] == part.argument then ld = part.ld end
      end
    end
    rows, columns = c.rows, c.cols
  elseif step.form == "row" and operand == step.arguments.x then
    rows, columns, ld = c.rows, c.cols, c.ldx
  end
  if not rows or (ld or 0) == 0 then return nil end
  return { row = operand.offset // ld, column = operand.offset % ld, rows = rows, columns = columns, ld = ld }
end

local function disjoint(a, b)
  return a and b and a.ld == b.ld and (a.row + a.rows <= b.row or b.row + b.rows <= a.row
    or a.column + a.columns <= b.column or b.column + b.columns <= a.column)
end

local function append(lists, key, value)
  lists[key] = lists[key] or {}
  table.insert(lists[key], value)
end

--- Every buffer is written before it is read; what one worker of a phase writes, no other touches.
function checks.schedule(state)
  for _, program in ipairs(state.programs) do
    local written = {}
    local phase_before, writes, reads
    schedule.each(program, function(step, section, _, worker, phase)
      if phase == 0 or phase ~= phase_before then writes, reads = {}, {} end
      phase_before = phase
      local function apart_from(others, box, what, buffer)
        for _, other in ipairs(others or {}) do
          expect(other.worker == worker or disjoint(box, other.box), "schedule", what, section.name, buffer)
        end
      end
      operands.each(step, function(operand, access)
        if operand.class ~= "arena" or access == "w" then return end
        expect(written[operand.buffer], "schedule", "%s reads %s before it is written", section.name, operand.buffer)
        if access == "r" and phase > 0 then
          local box = read_rectangle(step, operand)
          apart_from(writes[operand.buffer], box, "%s: %s is read and written in one phase", operand.buffer)
          append(reads, operand.buffer, { worker = worker, box = box })
        end
      end)
      operands.each(step, function(operand, access)
        if not operand.buffer or (access ~= "w" and access ~= "rw") then return end
        written[operand.buffer] = true
        if phase == 0 then return end
        local box = rectangle(step, operand)
        apart_from(reads[operand.buffer], box, "%s: %s is read and written in one phase", operand.buffer)
        apart_from(writes[operand.buffer], box, "%s: two workers write to one place of %s", operand.buffer)
        append(writes, operand.buffer, { worker = worker, box = box })
      end)
    end)
  end
end

-- Floats that a step touches from an operand's first one, by the operand's role.
local function extent(step, role)
  if step.form ~= "product" then return 1 end
  local k, blocks = step.kernel, step.batch.count - 1
  if role == "a" then return (k.k - 1) * k.lda + k.m + blocks * step.batch.a // 4 end
  if role == "b" then return (k.n - 1) * k.ldb + k.k + blocks * step.batch.b // 4 end
  return (k.n - 1) * k.ldc + k.m
end

-- How far the loops over sequences move an operand at the most.
local function last_sequence(state, segment, operand)
  local terms = operand.terms or {}
  return (terms.b or 0) * (segment.group - 1) + (terms.s or 0) * (state.spec.batch - segment.group)
end

--- No two buffers that live together overlap; no product leaves its buffer; offsets are aligned.
function checks.memory(state)
  for _, program in ipairs(state.programs) do
    local events = {}
    for _, item in ipairs(program.items) do
      events[#events + 1] = { at = item.first, item = item, open = true }
      events[#events + 1] = { at = item.last + 1, item = item, open = false }
    end
    table.sort(events, function(x, y)
      if x.at ~= y.at then return x.at < y.at end
      if x.open ~= y.open then return not x.open end
      return x.item.names[1] < y.item.names[1]
    end)
    local live = {}
    for _, event in ipairs(events) do
      if event.open then
        local first = program.offsets[event.item.names[1]]
        local room = event.item.own and program.own_floats or program.shared_floats
        expect(first % 16 == 0 and first + event.item.floats <= room, "memory", "the place of %s", event.item.names[1])
        for other in pairs(live) do
          local start = program.offsets[other.names[1]]
          expect(event.item.own ~= other.own or first + event.item.floats <= start or start + other.floats <= first,
            "memory", "%s and %s overlap",
            event.item.names[1], other.names[1])
        end
        live[event.item] = true
      else
        live[event.item] = nil
      end
    end
    schedule.each(program, function(step, section, segment)
      if step.form ~= "product" then return end
      for _, role in ipairs { "a", "b", "c" } do
        local operand = step[role]
        if operand.class == "arena" then
          local last = last_sequence(state, segment, operand)
          expect(operand.offset + last + extent(step, role) <= program.buffers[operand.buffer].floats, "memory",
            "a product of %s leaves %s", section.name, operand.buffer)
        end
      end
    end)
  end
end

--- Each kernel is one that libxsmm 1.17 accepts.
function checks.kernels(state)
  for i, k in ipairs(state.kernels) do
    expect(k.m >= 1 and k.n >= 1 and k.k >= 1 and k.lda >= k.m and k.ldb >= k.k and k.ldc >= k.m
      and (k.beta == 0 or k.beta == 1), "kernels", "the shape of kernel %d", i - 1)
    expect(k.lda < 1 << 31 and k.ldb < 1 << 31 and k.ldc < 1 << 31, "kernels", "the leading dimensions of kernel %d",
      i - 1)
  end
end

--- The emitted text is what C compilers must accept and holds nothing but ASCII outside comments.
function checks.emit(state)
  for _, file in ipairs(state.files) do
    expect(#file.text > 0 and file.text:sub(-1) == "\n", "emit", "%s does not end with a line", file.name)
    expect(not file.text:find("\0", 1, true), "emit", "%s holds a NUL", file.name)
  end
end

return checks
