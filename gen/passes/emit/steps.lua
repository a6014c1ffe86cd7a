-- steps.lua: writes a scheduled program as C functions.
-- There is one function for each section or, where workers divide a section, for each phase and chunk. It has one
-- line for each step or panel loop, and declares only the parameters that it uses.
local c = require("common.c")
local calls = require("passes.common.calls")
local loops = require("data.loops")
local packed = require("passes.common.packed")
local panel_loops = require("passes.common.panel_loops")
local programs = require("passes.common.programs")
local reserved = require("data.reserved")
local steps = require("data.steps")
local types = require("data.types")
local words = require("common.words")

local emit_steps = {}

-- Characters of a line that declares locals of a loop.
local WIDTH = 92

-- Returns the weights in the order of the packed block: { name, first, stop }.
local function weights_in_order(state)
  local own, list = state.weights, {}
  local offsets = own.offsets
  for i, name in ipairs(words.filter(state.graph.weights, function(name) return not own.home[name] end)) do
    local bytes = packed.bytes(state.graph.tensors[name], own.layouts[name])
    list[i] = { name = name, first = offsets[name], stop = offsets[name] + types.line_bytes(bytes) }
  end
  table.sort(list, function(x, y) return x.first < y.first end)
  return list
end

-- Returns the tables by which c.pointer turns operands into C.
local function addresses_of(state, program)
  local members = {}
  for name, tensor in pairs(state.graph.tensors) do members[name] = tensor.member and reserved.member(tensor.member) end
  local function unit(operand)
    local is_external = operand.class == "in" or operand.class == "out"
    return types.bytes(1, is_external and state.graph.tensors[operand.buffer].type or "f32")
  end
  return { program = program, weights = state.weights.offsets, members = members, unit = unit,
    place_of = programs.places(state, program), in_order = weights_in_order(state) }
end

-- Returns the pointer from which an operand is reached, and its bytes from there. In a function of alike lists
-- (addresses.shared), the pointer may be a base.
local function place_of(operand, addresses)
  local class = calls.class(addresses.program, operand)
  if not class then
    return operand.buffer and operand.class .. "->" .. addresses.members[operand.buffer], operand.offset
  end
  local of_class = addresses.shared and addresses.shared.base_of[class]
  local base = of_class and of_class[operand.buffer]
  local at = addresses.place_of(operand)
  if base then return base.name, at - base.low end
  return calls.pointers[class], at
end

local writers = {}

function writers.note(step) return "/* " .. c.comment(step.text) .. " */" end
function writers.begin(step) return steps.fill(loops.forms[step.loop].head, step) end
function writers.finish() return "}" end

-- Casts by type: pointers to the arena and to packed weights are pointers to floats.
local casts = {}
for _, type in ipairs(types.list) do
  if type.c ~= "float" then casts[type.name] = { type = type.c, bytes = types.bytes(1, type.name) } end
end

-- Returns an operand as C; type: of its elements.
local function expression(operand, access, type, addresses)
  local pointer, offset = place_of(operand, addresses)
  local unit = operand.buffer and addresses.unit(operand)
  if access == "value" then return c.value(operand, pointer, unit) end
  local is_inside = operand.class ~= "in" and operand.class ~= "out"
  return c.pointer(operand, pointer, offset, unit, is_inside and casts[type] or nil)
end

-- Returns the names of the weights in a stretch of the packed block, except one.
local function names_between(list, from, upto, but)
  local low, high = 1, #list + 1 -- the first weight that ends after `from`
  while low < high do
    local middle = (low + high) // 2
    if list[middle].stop > from then high = middle else low = middle + 1 end
  end
  local names = {}
  while list[low] and list[low].first < upto do
    if list[low].name ~= but then names[#names + 1] = c.comment(list[low].name) end
    low = low + 1
  end
  return names
end

-- Returns the stretch of the packed block that a product prefetches with panel `number` of its loop; nil: only its own.
local function prefetched_by(step, number, addresses)
  local a, ahead = step.arguments.a, step.kernel.fetch
  local bytes = types.panel_bytes(step.kernel.k, step.kernel.lda, step.kernel.types.a)
  for _, each in ipairs(ahead and ahead.by_strips or {}) do
    if each and each.each < bytes then ahead = each end
  end
  if ahead and ahead.from and ahead.each < bytes then -- several strips, each for its share of a later panel
    local panel = addresses.weights[a.buffer] + a.offset + number * panel_loops.stride(a) + ahead.from
    return panel, panel + bytes
  end
  return nil
end

-- Returns the remark after a call: the last of the weights that it prefetches, except the one that it reads.
local function remark(step, addresses)
  local from = prefetched_by(step, 0, addresses)
  if not from then return "" end
  local from_last, upto = prefetched_by(step, panel_loops.count(step) - 1, addresses)
  local names = names_between(addresses.in_order, from, upto, step.arguments.a.buffer)
  if #names > 0 then return (" /* prefetches %s%s */"):format(#names > 1 and "up to " or "", names[#names]) end
  local is_own = #names_between(addresses.in_order, from_last, upto) > 0
  return is_own and "" or " /* prefetches nothing: these are the last weights */"
end

-- Functions that write the line of a step and the remark after it, by the step's form.

local function write_call(step, addresses)
  local list, program = {}, addresses.program
  local each = program.panel_loops[step]
  calls.each_shown(program, step, function(operand, access, type)
    list[#list + 1] = expression(operand, access, type, addresses)
  end)
  if not each then
    return calls.text(step, program.fused_kernels[step], list), step.form == "product" and remark(step, addresses) or ""
  end
  if each.takes_kernels then table.insert(list, 1, "k") end
  local remarks = words.map(each.calls, function(call)
    return call.step.form == "product" and remark(call.step, addresses) or nil
  end)
  for _, symbol in ipairs(calls.symbols(each.calls)) do list[#list + 1] = symbol end
  return ("%s(%s);"):format(each.name, table.concat(list, ", ")), table.concat(remarks)
end

writers.product, writers.map, writers.row = write_call, write_call, write_call

-- Order of a function's parameters: kernels, weights, arena, the worker's own part of it, the caller's state,
-- inputs, outputs, the first sequence, the sequences of a call of any length, a block of these, the chunk.
local parameter_order = { "k", "ranks", "w", "a", "p", "kept", "in", "out", "s", "n", "block", "chunk" }

-- Attribute of a worker's parameter that the work does not use.
local UNUSED = "__attribute__((unused)) "

-- Returns the name of the entry whose structs have a program's inputs and outputs: callers of the entry itself call the
-- one with adapters.
local function structs_of(state, program)
  return state.spec.is_adapted and state.spec.role or program.entry.name
end

local function declared_of(state, program)
  local name, entry = state.spec.name, structs_of(state, program)
  return {
    k = "const attn2c_kernel *k", ranks = "attn2c_ranks *ranks",
    w = "const float *w", a = "float *a", p = "float *p", kept = "float *kept",
    ["in"] = ("const %s_%s_in *in"):format(name, entry), out = ("const %s_%s_out *out"):format(name, entry),
    s = "size_t s", n = "const attn2c_sequences *n", block = "attn2c_block block", chunk = "size_t chunk",
  }
end

local function used_by(program, list)
  local used = {}
  local function add(operand)
    if operand.class == "weight" then used.w = true end
    if operand.class == "arena" then used[program.own[operand.buffer] and "p" or "a"] = true end
    if operand.class == "state" then used.kept = true end
    if operand.class == "in" then used["in"] = true end
    if operand.class == "out" then used.out = true end
    if operand.terms and operand.terms.s then used.s = true end
    if operand.terms and (operand.terms.answer or operand.terms.whole_answer) then used.n = true end
  end
  for _, step in ipairs(list) do
    local of_block = step.loop == "block" or step.loop == "slices"
    if step.form == "begin" and step.loop ~= "batch" and not of_block then used.n = true end
    if of_block then used.block = true end
    if step.form == "begin" and loops.forms[step.loop].chunks then used.chunk = true end
    if calls.takes_kernels(step, program.fused_kernels[step]) then used.k = true end
    if calls.takes_ranks(step) then used.ranks = true end
    if calls.is_shown(program, step) then calls.each_shown(program, step, add) end
  end
  return used
end

-- Returns text(parameter) of each parameter in use. of: the function of alike lists, or nil: each of its bases is a
-- parameter, too, of which text(parameter, base) is in the list.
local function each_used(used, text, of)
  local list = {}
  for _, parameter in ipairs(parameter_order) do
    local bases = words.filter(of and of.bases or {}, function(base) return calls.pointers[base.class] == parameter end)
    if used[parameter] and (#bases == 0 or of.constant[bases[1].class]) then list[#list + 1] = text(parameter) end
    for _, base in ipairs(bases) do list[#list + 1] = text(parameter, base) end
  end
  return list
end

local function add_all(set, more)
  for key in pairs(more) do set[key] = true end
end

-- Returns C without comments and members. Outputs are members; a user may name one as a variable is named here.
local function variables_of(text) return (text:gsub("/%*.-%*/", ""):gsub("%->[%a_][%w_]*", "")) end

-- Writes the locals of a loop that the lines after lines[at] need; none: the line is left out.
local function write_locals(lines, at)
  local line, used, list = lines[at], {}, {}
  for i = at + 1, #lines do
    for word in variables_of(lines[i].text or ""):gmatch("[%a_][%w_]*") do used[word] = true end
  end
  local text, indent = nil, line.text
  for _, each in ipairs(loops.locals(line.of_loop, used, steps.fill)) do
    local own = each[1] .. " = " .. each[2]
    if #list > 0 and #table.concat(list, ", ") + #own > WIDTH then
      text = ("%s%sconst ptrdiff_t %s;\n"):format(text or "", indent, table.concat(list, ", "))
      list = {}
    end
    list[#list + 1] = own
  end
  line.text = #list > 0 and ("%s%sconst ptrdiff_t %s;"):format(text or "", indent, table.concat(list, ", ")) or nil
end

-- Returns the lines of a list of steps, and the last op. A profiled file has a lap after each run of steps of one op,
-- which alike lists count from their first op, `from`.
local function lines_of(list, addresses, profiled, from)
  local lines, indent, lap = {}, "  ", from and " LAP_AFTER(%d);" or " LAP(%d);"
  local op, call, last = nil, nil, 1 -- the current op, the line of its last call
  local open = {} -- the lines with the locals of the loops around
  local function end_lap()
    if op and profiled then lines[call].lap = lap:format(op - (from or 1)) end
    op = nil
  end
  for _, step in ipairs(list) do
    local is_call = calls.is_shown(addresses.program, step)
    if is_call and op ~= step.op then
      end_lap()
      op, last = step.op, step.op
    elseif step.form == "finish" then
      end_lap()
      indent = indent:sub(3)
      write_locals(lines, table.remove(open))
    end
    if is_call or not programs.is_call(step) then
      local text, note = writers[step.form](step, addresses)
      lines[#lines + 1] = { text = indent .. text, lap = "", remark = note or "" }
    end
    if is_call then call = #lines end
    if step.form == "begin" then
      indent = indent .. "  "
      -- which of the loop's locals are needed is known when its body has been written
      lines[#lines + 1] = { text = indent, lap = "", remark = "", of_loop = step }
      open[#open + 1] = #lines
    end
  end
  end_lap()
  local texts = {}
  for _, line in ipairs(lines) do
    if line.text then texts[#texts + 1] = line.text .. line.lap .. line.remark end
  end
  return table.concat(texts, "\n"), last - 1
end

local function section_function(name) return (name:gsub(" ", "_")) end

-- The methods below write a program's functions.
local Writer = {}
Writer.__index = Writer

-- Returns the lists that a function is for in addition to the first, as text.
local function others_of(of)
  if of.others then return of.others end
  local names, seen = {}, {}
  for _, member in ipairs(of.members) do
    if not seen[member.section] then names[#names + 1] = member.section end
    seen[member.section] = true
  end
  of.others = #names == 1 and ("also %d others that are alike"):format(#of.members - 1)
    or ("also %s%s, alike"):format(names[2], names[3] and (#names > 3 and " to " or " and ") .. names[#names] or "")
  return of.others
end

-- Returns a list of steps as a function: { name, title, formal, call, used, plain, lines, last_op }. The first of alike
-- lists has the lines for all. within: nil, or { base_of, first_op } of a function of alike stretches that calls it,
-- where base_of(list, base) is the base of its own from which it computes a list's. plain: the parameters that the call
-- has as they are, or from which it computes bases.
function Writer:function_of(name, title, list, within)
  local alike = self.program.shared[list]
  local of, number = alike and alike.of, alike and alike.number
  local used = of and of.used or used_by(self.program, list)
  local addresses = of and setmetatable({ shared = of }, { __index = self.addresses }) or self.addresses
  local profiled = self.program.variant == "ship"
  local lines, last_op
  if number ~= 1 and of then
    last_op = of.last_op + of.members[number].first_op - of.members[1].first_op
  else
    lines, last_op = lines_of(list, addresses, profiled, of and of.members[1].first_op)
    -- a chunk that is one sequence may need none of the sequences' sizes, and products of experts no block
    local code = variables_of(lines)
    for _, parameter in ipairs { "n", "block" } do
      if not code:find("%f[%w_]" .. parameter .. "%f[^%w_]") then used[parameter] = nil end
    end
    if of then of.name, of.last_op, of.used = name, last_op, used end
  end
  local formal = each_used(used, function(parameter, base)
    if not base then return self.declared[parameter] end
    return ("%sfloat *%s"):format(base.class == "weight" and "const " or "", base.name)
  end, of)
  local plain = {}
  local actual = each_used(used, function(parameter, base)
    local own = base and within and within.base_of(list, base)
    if not own then plain[parameter] = true end
    if not base then return parameter end
    return c.plus(own and own.name or parameter, types.elements(base.low + base.moves[number] - (own and own.low or 0),
      "f32"))
  end, of)
  local first = self.steps + 1
  for _, step in ipairs(list) do
    if programs.is_call(step) then self.steps = self.steps + panel_loops.count(step) end
  end
  if self.steps == first then title = ("%s: step %d"):format(title, first) end
  if self.steps > first then title = ("%s: steps %d to %d"):format(title, first, self.steps) end
  local call = ("%s(%s);"):format(of and of.name or name, table.concat(actual, ", "))
  if of then
    title = ("%s; %s"):format(title, others_of(of))
    local op = of.members[number].first_op - (within and within.first_op or 1)
    local from = within and c.plus("of->op", op) or op
    call = (profiled and ("LAPS_FROM(%s); "):format(from) or "") .. call
      .. (number > 1 and (" /* %s */"):format(name:gsub("_", " ")) or "")
  end
  return { name = name, title = title, formal = #formal > 0 and table.concat(formal, ", ") or "void", used = used,
    plain = plain, call = call, lines = lines, last_op = last_op }
end

-- Writes the functions of a segment whose phases workers divide, and the table of the function of each chunk.
function Writer:phases(segment, of_segment)
  local parts, last_ops, counts, most = {}, {}, {}, 0
  for _, phase in ipairs(segment.phases) do most = math.max(most, #phase.chunks) end
  local number, section_before = 0, nil
  for index, phase in ipairs(segment.phases) do
    number = phase.section == section_before and number + 1 or 1
    section_before = phase.section
    counts[index] = #phase.chunks
    for chunk, list in ipairs(phase.chunks) do
      local fn = self:function_of(("%s_%d_chunk_%d"):format(section_function(phase.section.name), number, chunk - 1),
        ("%s, phase %d, chunk %d of %d"):format(phase.section.name, number, chunk - 1, #phase.chunks), list)
      table.insert(of_segment.functions, fn)
      parts[#parts + 1] = { number = (index - 1) * most + chunk - 1, call = fn.call }
      last_ops[index] = math.max(last_ops[index] or 0, fn.last_op)
    end
  end
  of_segment.parts, of_segment.most, of_segment.last_ops = parts, most, table.concat(last_ops, ", ")
  of_segment.chunks = table.concat(counts, ", ")
  of_segment.phase_count = #segment.phases
  of_segment.phase_total = #segment.phases * segment.repeats
  of_segment.last_op = last_ops[#last_ops]
end

-- Returns a worker's own part of the arena as C.
local function own_part(self)
  return ("%s + worker * %d"):format(c.plus("of->a", types.elements(self.program.common_bytes, "f32")),
    types.elements(self.program.own_bytes, "f32"))
end

-- Returns the variables that a segment's workers take from the call, as C.
local function locals_of(self, used)
  local list = each_used(used, function(parameter)
    if parameter == "s" or parameter == "chunk" then return nil end
    return ("%s = %s;"):format(self.declared[parameter], parameter == "p" and own_part(self) or "of->" .. parameter)
  end)
  return list
end

-- Returns what calls in the function of alike stretches are written with (function_of); nil: it has no bases.
local function within_of(alike)
  if not alike then return nil end
  local found, of = {}, alike.of
  for i, place in ipairs(of.members[1].places) do
    if place.list then
      found[place.list] = found[place.list] or {}
      found[place.list][place.base] = of.base_of[place.class] and of.base_of[place.class][i]
    end
  end
  return { first_op = of.members[1].first_op, base_of = function(list, base)
    return found[list] and found[list][base]
  end }
end

-- Returns the call of a stretch's function. Alike stretches give it their bases and the number of their first op.
local function call_of_stretch(name, alike, profiled)
  local list = { "call->team", "&of" }
  for _, base in ipairs(alike and alike.of.bases or {}) do
    list[#list + 1] = c.plus(calls.pointers[base.class], types.elements(base.low + base.moves[alike.number], "f32"))
  end
  if alike and profiled then list[#list + 1] = alike.of.members[alike.number].first_op - 1 end
  return ("%s(%s);"):format(alike and alike.of.name or name, table.concat(list, ", "))
end

-- Writes the functions of the phases of a call of any length: a list of stretches, one for each region. A stretch is
-- { name, title, functions, phases: { claimed: call, or calls: of each chunk }, chunks: their numbers as C, loop,
-- locals, bases, call }. Only the first of alike ones is written; the others are calls.
function Writer:stretches(segment, of_segment)
  of_segment.mode, of_segment.stretches = "stretches", {}
  local profiled, number, section_before = self.program.variant == "ship", nil, nil
  for _, each in ipairs(programs.stretches { segments = { segment } }) do
    local alike = self.program.shared_stretches[each.region]
    number = each.section == section_before and number + 1 or 1
    section_before = each.section
    local stretch = { name = ("%s_%d"):format(section_function(each.section), number), functions = {}, phases = {},
      title = ("%s, part %d"):format(each.section, number), is_written = not alike or alike.number == 1, last_ops = {} }
    local within = stretch.is_written and within_of(alike) or nil
    for index, phase in ipairs(each.phases) do
      local calls_of = {}
      for chunk, list in ipairs(phase.chunks) do
        local name = ("%s_%d"):format(stretch.name, index - 1)
        local title = ("%s, phase %d"):format(stretch.title, index - 1)
        if not phase.claimed then
          name, title = ("%s_chunk_%d"):format(name, chunk - 1), ("%s, chunk %d of %d"):format(title, chunk - 1,
            #phase.chunks)
        end
        local fn = self:function_of(name, title, list, within)
        table.insert(of_segment.functions, fn)
        table.insert(stretch.functions, fn)
        calls_of[chunk], stretch.last_ops[index] = fn.call, fn.last_op
      end
      stretch.phases[index] = { number = index - 1, claimed = phase.claimed and calls_of[1], calls = calls_of }
    end
    of_segment.last_op = stretch.last_ops[#stretch.last_ops]
    if stretch.is_written then self:frame_of_stretch(stretch, each, alike) end
    if alike then stretch.title = ("%s; %s"):format(stretch.title, others_of(alike.of)) end
    stretch.call = call_of_stretch(stretch.name, alike, profiled)
    table.insert(of_segment.stretches, stretch)
  end
  of_segment.phase_total = 1
end

-- Returns the weights that workers read first after each phase, as C, and the base that they count from.
function Writer:stocks_of(each, alike)
  local list, stock_base, low = {}, "w", 0
  for i, place in ipairs(alike and alike.of.members[1].places or {}) do
    local base = not place.list and alike.of.base_of.weight and alike.of.base_of.weight[i]
    if base then stock_base, low = base.name, base.low end
  end
  for _, phase in ipairs(each.phases) do
    for _, stock in ipairs(phase.stocks or {}) do
      list[#list + 1] = ("{ %d, %d }"):format(stock.at - low, stock.bytes)
    end
  end
  if #list == 0 then return nil end
  -- after the last product there are none
  for _ = #list + 1, #each.phases * self.program.threads do list[#list + 1] = "{ 0, 0 }" end
  return table.concat(list, ", "), stock_base
end

-- Computes the texts of a stretch's functions: the one that runs it, and the one that does its chunks.
function Writer:frame_of_stretch(stretch, each, alike)
  local used, plain, counts, of = {}, {}, {}, alike and alike.of
  for _, fn in ipairs(stretch.functions) do
    add_all(used, fn.used)
    add_all(plain, fn.plain)
  end
  for i, phase in ipairs(each.phases) do
    counts[i] = phase.claimed and steps.fill(loops.forms[phase.claimed.loop].chunks, phase.claimed)
      or tostring(#phase.chunks)
  end
  stretch.stocks, stretch.stock_base = self:stocks_of(each, alike)
  stretch.chunks, stretch.last_op = table.concat(counts, ", "), stretch.last_ops[#stretch.last_ops]
  stretch.locals, stretch.bases, stretch.formal = locals_of(self, plain), {}, { "attn2c_team *team", "shared *of" }
  for i, base in ipairs(of and of.bases or {}) do
    local declared = ("%sfloat *%s"):format(base.class == "weight" and "const " or "", base.name)
    stretch.bases[i], stretch.formal[i + 2] = base.name, declared
    local is_read = false -- the stocks' base may only be for the one that runs the stretch
    for _, fn in ipairs(stretch.functions) do
      is_read = is_read or fn.call:find("%f[%w_]" .. base.name .. "%f[^%w_]") ~= nil
    end
    if is_read then table.insert(stretch.locals, ("%s = of->%s;"):format(declared, base.name)) end
    if not self.bases[base.name] then self.bases[base.name], self.bases[#self.bases + 1] = true, declared end
  end
  stretch.op = ""
  if of then
    of.name, stretch.op = stretch.name, "of->op + "
    for i, op in ipairs(stretch.last_ops) do stretch.last_ops[i] = op - of.members[1].first_op + 1 end
    stretch.last_op = stretch.last_ops[#stretch.last_ops]
    if self.program.variant == "ship" then
      table.insert(stretch.bases, "op")
      table.insert(stretch.formal, "int op")
      self.has_ops = true
    end
  end
  stretch.last_ops, stretch.formal = table.concat(stretch.last_ops, ", "), table.concat(stretch.formal, ", ")
  stretch.work_formal = ("const void *of_call, size_t phase, size_t chunk, %ssize_t worker"):format(
    used.p and "" or UNUSED)
  local loop = each.phases[1].loop
  if loop then
    local form, step = loops.forms[loop.form], loops.begin(loop.form, loop)
    stretch.head, stretch.rows = steps.fill(form.head, step), steps.fill(form.locals[1][2], step)
  end
end

function Writer:sections(segment, of_segment)
  for i, section in ipairs(segment.sections) do
    local fn = self:function_of(section_function(section.name), section.name, section.steps)
    of_segment.functions[i], of_segment.calls[i] = fn, fn.call
    of_segment.last_op = fn.last_op
  end
  of_segment.phase_total, of_segment.phase_count, of_segment.chunks = 1, 1, segment.chunks
end

-- Returns how a loop over micro-batches counts: its variable and, if that is not the first sequence of the
-- micro-batch, the line that computes the latter. The last micro-batch is moved back to end with the batch.
local function count_micro_batches(of_segment, batch)
  local micro_batch, last = of_segment.micro_batch, batch - of_segment.micro_batch
  of_segment.variable = micro_batch == 1 and "s" or "i"
  of_segment.first = ""
  if micro_batch > 1 and of_segment.repeats * micro_batch == batch then
    of_segment.first = ("const size_t s = i * %d;"):format(micro_batch)
  elseif micro_batch > 1 then
    of_segment.first = ("const size_t s = i * %d < %d ? i * %d : %d;"):format(micro_batch, last, micro_batch, last)
  end
end

-- Returns the index of a chunk in a segment of phases, without terms that are always 0.
local function part_index(of_segment)
  if of_segment.phase_count == 1 then return "chunk" end
  local phase = of_segment.repeats > 1 and ("phase %% %d"):format(of_segment.phase_count) or "phase"
  return of_segment.most == 1 and phase or ("%s * %d + chunk"):format(phase, of_segment.most)
end

-- Computes which parameters the functions of a segment use together, and the texts that depend on it.
function Writer:frame(of_segment)
  local used = {}
  for _, fn in ipairs(of_segment.functions) do add_all(used, fn.used) end
  of_segment.used = used
  if of_segment.repeats > 1 then count_micro_batches(of_segment, self.batch) end
  local is_divided = of_segment.mode == "micro_batches" or of_segment.most ~= 1
  of_segment.work_formal = ("const void *of_call, %ssize_t phase, %ssize_t chunk, %ssize_t worker"):format(
    of_segment.phase_total > 1 and "" or UNUSED, is_divided and "" or UNUSED, used.p and "" or UNUSED)
  if of_segment.mode == "phases" then
    of_segment.part = part_index(of_segment)
    local formal = each_used(used, function(parameter) return self.declared[parameter] end)
    of_segment.part_formal = table.concat({ "size_t part", table.unpack(formal) }, ", ")
    local actual = each_used(used, function(parameter)
      return parameter == "s" and "s" or parameter == "p" and own_part(self) or "of->" .. parameter
    end)
    of_segment.part_actual = table.concat({ of_segment.part, table.unpack(actual) }, ", ")
  elseif of_segment.mode == "micro_batches" then
    of_segment.locals = locals_of(self, used)
  end
end

-- Returns a program's segments: { name, mode, repeats, micro_batch, functions, calls, used }; a segment in phases also
-- has its chunks as parts { number, call }, where number = phase x the most chunks of a phase + chunk.
function Writer:segments()
  local list = {}
  for i, segment in ipairs(self.program.segments) do
    local of_segment = { name = segment.name, mode = segment.mode, repeats = segment.repeats,
      micro_batch = segment.micro_batch, chunks = segment.chunks, functions = {}, calls = {} }
    if self.program.divided then self:stretches(segment, of_segment)
    elseif segment.mode == "phases" then self:phases(segment, of_segment)
    else self:sections(segment, of_segment) end
    self:frame(of_segment)
    list[i] = of_segment
  end
  return list
end

-- Members of a call that the run function copies into variables of their own.
local members_of_call = { k = "kernels", ranks = "ranks", w = "weights", a = "arena", kept = "state", n = "sequences" }

-- Returns the lines that declare a struct with the pointers of call->in or call->out, and a pointer to it.
function Writer:struct_of(parameter, struct, names)
  local pointers = {}
  for i, name in ipairs(names) do
    pointers[i] = (".%s = call->%s[%d]"):format(self.addresses.members[name], parameter, i - 1)
  end
  return ("%s_%s_%s %s = { %s };"):format(self.name, self.structs, parameter, struct, table.concat(pointers, ", ")),
    ("%s = &%s;"):format(self.declared[parameter], struct)
end

-- Returns the lines by which the run function takes what it uses from the call.
function Writer:unpacked(used)
  local list = {}
  for _, parameter in ipairs { "k", "ranks", "w", "a", "kept", "n" } do
    if used[parameter] then
      list[#list + 1] = ("%s = call->%s;"):format(self.declared[parameter], members_of_call[parameter])
    end
  end
  for _, each in ipairs { { "in", "inputs" }, { "out", "outputs" } } do
    local parameter, struct = table.unpack(each)
    if used[parameter] then
      local value, pointer = self:struct_of(parameter, struct, self.entry[struct])
      table.move({ value, pointer }, 1, 2, #list + 1, list)
    end
  end
  return list
end

--- Returns the values of steps.c.in for a program's steps. integers: whether some input is checked; shadowed: whether
--- outputs that a caller does not want are in the arena.
function emit_steps.values(state, program, integers, shadowed)
  local writer = setmetatable({ program = program, addresses = addresses_of(state, program), steps = 0,
    declared = declared_of(state, program), batch = state.spec.batch, name = state.spec.name,
    entry = state.graph.entry, structs = structs_of(state, program), bases = {} }, Writer)
  local segments = writer:segments()
  local used, of_team = {}, {} -- by all segments; by segments of a team
  for _, segment in ipairs(segments) do
    if segment.mode ~= "serial" then add_all(of_team, segment.used) end
    add_all(used, segment.used)
    for _, stretch in ipairs(segment.stretches or {}) do
      stretch.reads_n = stretch.head or stretch.chunks and stretch.chunks:find("n->", 1, true) ~= nil
      if stretch.reads_n then used.n, of_team.n = true, true end
    end
  end
  for _, set in ipairs { used, of_team } do set.a, set.p, set.s, set.chunk = set.a or set.p, nil, nil, nil end
  local teamed = next(of_team) ~= nil
  if integers then used["in"], used.n = true, used.n or state.spec.symbols.rows.is_open end
  if shadowed then used.a, used.out = true, true end
  local members = each_used(of_team, function(parameter) return writer.declared[parameter] end)
  local call = each_used(of_team, function(name) return name == "block" and "{ 0 }" or name end)
  for _, declared in ipairs(writer.bases) do members[#members + 1], call[#call + 1] = declared, "NULL" end
  if writer.has_ops then members[#members + 1], call[#call + 1] = "int op", "0" end
  return { segments = segments, teamed = teamed, call_members = members, call_values = table.concat(call, ", "),
    unpacked = writer:unpacked(used) }
end

return emit_steps
