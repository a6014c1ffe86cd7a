-- lower.lua: turns each operation of a planned graph into steps on tiles.
-- Steps are products, elementwise maps on their tiles, row operations, transposes and copies. Only this pass and
-- its folder turn rows and columns into offsets.
--
-- Before: state.plan. After: state.programs = a list of { entry, variant, segments, buffers }: the entry as it ships,
-- then as trace. A trace writes every tensor of the graph out. Where the shipped steps fuse or keep only a tile, it
-- splits the map and copies the tile. Where workers divide calls of any length, there is one more: `divided`, whose
-- steps are in the scopes of data/loops.lua.
--
-- A section has its kind: the name of the first section whose regions are of the same kinds (plan/kinds.lua).
-- A step has its op, unit, block and region, and the number of its task in the region (plan/partition.lua).
-- A step names its operands as { buffer, offset, terms }: bytes from the buffer's first on, plus for each term its
-- stride, in bytes, times a symbol: `s` the first sequence of the micro-batch, `b` the sequence within it. Equal
-- steps of a program share their constants, kernel and elementwise operations, which nobody changes. Panels of a
-- product that are alike are one panel loop (common/panel_loops.lua).
local address = require("passes.lower.address")
local alike = require("common.alike")
local attention = require("passes.lower.attention")
local budget = require("passes.common.budget")
local buffers_of = require("passes.lower.buffers")
local declared = require("passes.lower.declared")
local head_loops = require("passes.lower.head_loops")
local keys = require("passes.lower.keys")
local maps = require("passes.lower.maps")
local operands = require("data.operands")
local loops = require("data.loops")
local panel_loops = require("passes.lower.panel_loops")
local products = require("passes.lower.products")
local rows = require("passes.lower.rows")
local sequence = require("passes.lower.sequence")
local step_text = require("data.step_text")
local steps = require("data.steps")
local words = require("common.words")

local lower = {}

local Lowering = {}
Lowering.__index = Lowering

for _, methods in ipairs { address, declared, head_loops, keys, maps, panel_loops, products, rows } do
  for name, method in pairs(methods) do Lowering[name] = method end
end

local calls = words.set { "product", "map", "row" }

local operation_fields = { "kind", "fn", "argument", "ld", "factor", "value", "least", "shift" }

-- Returns a function that gives equal steps one table of constants, one kernel, one list of elementwise operations.
local function sharing()
  local kernel = alike.first_of { "m", "n", "k", "lda", "ldb", "ldc", "beta", "types", "a_room", "strips", "fetch",
    "by_libxsmm", "open", "experts", "apart", "piece", "panel_inputs" }
  local operation, operations, constants = alike.first_of(operation_fields), alike.first_of(), {}
  for fn, entry in pairs(steps.rows) do constants[fn] = alike.first_of { "open", table.unpack(entry.constants) } end
  constants.map = alike.first_of { "open", "rows", "cols", "ld", "type" }
  return function(step)
    if step.form == "product" then
      step.kernel = kernel(step.kernel)
    elseif calls[step.form] then
      step.constants = constants[step.fn or "map"](step.constants)
      local list = step.elementwise
      for i = 1, list and #list or 0 do list[i] = operation(list[i]) end
      step.elementwise = list and operations(list)
    end
  end
end

-- Marks the constants of a row operation or map that are open here: its rows and columns. A step that needs whole
-- vectors of columns gets them.
function Lowering:open_sizes(step)
  local entry, open, sizes = step.fn and steps.rows[step.fn], self.open, step.sizes or {}
  local columns = entry and entry.whole_vectors and open.columns or open.cols
  for _, each in ipairs { { "rows", open.rows }, { "cols", columns } } do
    local name, symbol = each[1], each[2]
    if symbol and step.constants[name] and not sizes[name] then sizes[name] = symbol end
  end
  step.sizes, step.constants.open = sizes, operands.open_text(sizes)
end

function Lowering:emit(step)
  if self.open and (step.form == "row" or step.form == "map") then self:open_sizes(step) end
  step.op, step.unit, step.block, step.region = self.op_index, self.unit_number, self.block_index, self.region
  step.task, step.choices = self.task, self.choices
  self.steps[#self.steps + 1] = step
  self.share(step)
  if calls[step.form] then self:count_step() end
end

function Lowering:count_step()
  self.lines = self.lines + 1
  if self.lines > self.budget then self:over_budget() end
end

-- Refuses a model over its budget. The number of its steps is estimated from the ops lowered so far, layers are alike.
function Lowering:over_budget()
  local done, all = 0, 0
  for i, op in ipairs(self.entry.ops) do
    all = all + 1 + op.flops
    if i < (self.op_index or 1) then done = all end
  end
  budget.hold(self.state, math.max(self.lines, done > 0 and math.floor(self.lines * all / done) or 0))
end

--- Begins a unit: steps that stay together, in order, on one worker. No unit reads a buffer that another of its
--- fusion writes.
function Lowering:unit()
  if not self.is_one_unit then self.unit_number = self.unit_number + 1 end
end

--- Emits the steps of body() with these open sizes, symbols by the names of constants. nil: all sizes are known.
function Lowering:with_open(open, body)
  local outer = self.open
  self.open = open
  body()
  self.open = outer
end

function Lowering:one_unit(body)
  self:unit()
  self.is_one_unit = true
  body()
  self.is_one_unit = false
end

function Lowering:note(text) self:emit { form = "note", text = text } end

--- Emits a row operation of steps.rows. sizes: the open constants, with symbols, but rows and columns.
function Lowering:row(fn, constants, arguments, sizes)
  self:emit { form = "row", fn = fn, constants = constants, arguments = arguments, sizes = sizes }
end

-- Emits a loop over the sequences of a micro-batch if there is more than one. is_open: over the sequences of the call,
-- which knows their places in the state. window: of the state that the body reads, or nil.
function Lowering:each_sequence(body, is_open, window)
  if is_open or self.state.spec.symbols.rows.is_open then
    return self:loop(self.divided and "each" or "sequences", { count = 1, window = window }, function()
      body({ block_first = 0, column = 0, over = { "first" }, pooled = { "sequence" } })
    end)
  end
  local micro_batch = self.segment.micro_batch
  if micro_batch == 1 then return body({ block_first = 0, column = 0 }) end
  self:loop("batch", { count = micro_batch }, function() body({ block_first = 0, column = 0, loop = true }) end)
end

--- Emits a loop of data/loops.lua around the steps that body() emits. count: how often it runs at most.
function Lowering:loop(form, fields, body)
  self:emit(loops.begin(form, fields, self.state.spec.symbols.past.is_open))
  body()
  self:emit { form = "finish", loop = form }
end

Lowering.attention_region = attention.lower

function Lowering:sequence_region(region)
  local op = region.op
  if self.storage[op.result.name].of and self.variant ~= "trace" then return end
  self.op_index = self.index_of[op]
  self:note(sequence.describe(op))
  sequence.lower(self, op)
end

local function lower_as(state, variant, divided, share)
  local entry = state.graph.entry
  local self = setmetatable({ storage = state.plan.storage, layouts = state.weights.layouts, entry = entry,
    variant = variant, divided = divided, whole = variant == "trace", state = state, lines = 0,
    budget = variant == "ship" and state.spec.max_lines or math.huge,
    unit_number = 0, index_of = {}, tiles = {}, share = share, known = { heads = {}, panels = {} } }, Lowering)
  for i, op in ipairs(entry.ops) do self.index_of[op] = i end
  local segments = {}
  for _, segment in ipairs(state.plan.segments) do
    self.segment = segment
    local lowered = { name = segment.name, micro_batch = segment.micro_batch, repeats = segment.repeats,
      partition = segment.partition, sections = {} }
    for _, section in ipairs(segment.sections) do
      self.steps = {}
      for _, region in ipairs(section.regions) do
        self.region, self.task = region, 1
        self[region.kind .. "_region"](self, region)
      end
      lowered.sections[#lowered.sections + 1] = { name = section.name, steps = self.steps,
        kind = section.like or section.name }
    end
    segments[#segments + 1] = lowered
  end
  return { entry = entry, variant = variant, divided = divided, segments = segments, lines = self.lines,
    buffers = buffers_of(self, state) }
end

function lower.run(state)
  state.programs = {}
  local share = sharing()
  local function add(variant, divided) table.insert(state.programs, lower_as(state, variant, divided, share)) end
  if not state.spec.symbols.rows.is_open or state.spec.workers[1] == 1 then add("ship", false) end
  if state.spec.symbols.rows.is_open and state.spec.workers[#state.spec.workers] > 1 then add("ship", true) end
  add("trace", false)
  state.plan.lines = state.programs[1].lines
end

--- Returns every program's steps as text.
function lower.dump(state)
  local lines = {}
  for _, program in ipairs(state.programs) do
    for _, segment in ipairs(program.segments) do
      for _, section in ipairs(segment.sections) do
        lines[#lines + 1] = ("%s %s%s: segment %s, section %s"):format(program.entry.name, program.variant,
          program.divided and ", divided" or "", segment.name, section.name)
        for _, step in ipairs(section.steps) do lines[#lines + 1] = "  " .. step_text.of(step) end
      end
    end
  end
  return table.concat(lines, "\n") .. "\n"
end

return lower
