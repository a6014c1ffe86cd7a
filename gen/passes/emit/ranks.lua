-- ranks.lua: joins the values of a model's ranks, and the values of the whole model, for the templates.
-- The whole model has no code: its descriptor is for the reference, for `info`, and for callers, who see its inputs and
-- outputs. Each rank has a descriptor with weights of its own; ranks of one kind share their code.
local divisions = require("data.divisions")
local emit_descriptor = require("passes.emit.descriptor")
local grouping = require("passes.common.grouping")
local packed = require("passes.common.packed")
local types = require("data.types")
local words = require("common.words")

local emit_ranks = {}

-- Returns the elements of a tensor in one call. A model that continues has calls of fewer rows than its sequences. A
-- tensor with one row for each sequence, or one for each head, has the rows of the most sequences of a call.
local function elements_of_call(spec, tensor)
  local _, rows = grouping.row_shape(tensor)
  local elements = words.elements(grouping.shape_of_call(tensor, spec))
  local is_each = not tensor.unbatched and (rows == 1 or grouping.is_of_one_query(tensor))
  return spec.symbols.rows.is_open and is_each and elements * spec.call_rows or elements
end

-- Returns an entry of the whole model as emit_descriptor takes it: weights as rows, one after the other, and all
-- tensors one after the other, where the parts of ranks are gathered. own: a rank's entry; weights that share a place
-- there are one. offsets: of weights by that place, or by name where the rank has none, which entries share.
local function whole_entry(entry, own, offsets)
  local graph, layouts, gathered, floats = entry.graph, {}, {}, 0
  local of_entry = {}
  for _, name in ipairs(graph.weights) do
    local tensor = graph.tensors[name]
    layouts[name] = { format = "rows", type = tensor.type }
    local place = tensor.kind == "weight" and own.weights.offsets[name]
    local home = place or own.weights.home[name] or name
    if not offsets[home] then
      offsets[home] = offsets.bytes
      offsets.bytes = offsets.bytes + types.line_bytes(packed.bytes(tensor, layouts[name]))
    end
    of_entry[name] = offsets[home]
  end
  for _, name in ipairs(graph.order) do
    local tensor = graph.tensors[name]
    if tensor.kind == "scratch" then
      gathered[name] = floats
      floats = floats + elements_of_call(entry.spec, tensor)
    end
  end
  return setmetatable({ weights = { layouts = layouts, offsets = of_entry }, gathered = gathered,
    gathered_floats = floats, plan = own.plan, kept = own.kept, programs = own.programs }, { __index = entry })
end

local function whole_build(state)
  local build, offsets = setmetatable({ entries = {} }, { __index = state }), { bytes = 0 }
  local first = state.builds[1]
  for i = #state.whole.entries, 1, -1 do -- the largest entry first: it has the longest tables
    build.entries[i] = whole_entry(state.whole.entries[i], first.entries[i], offsets)
    if state.whole.entries[i] == state.whole.primary then build.primary = build.entries[i] end
  end
  build.weight_bytes = offsets.bytes
  return build
end

-- Returns the values of a build's entries in the descriptor.
local function entries_of(values, described, tools)
  local list = {}
  for i, entry in ipairs(values.entries) do
    list[i] = tools.with(entry, described.of_entries[i])
    list[i].op_count = #described.of_entries[i].op_rows
  end
  return list
end

-- True if two ranks of one kind read their weights by the same rows.
local function has_same_rows(described, first)
  return words.all({ "weight_rows", "stored_names", "stored_rows" }, function(list)
    return table.concat(described[list], "\n") == table.concat(first[list], "\n")
  end)
end

-- Returns the values of a descriptor over the values of a kind of rank. suffix: the end of the names of its lists;
-- tables: that of lists that it may share with another.
local function descriptor_of(values, build, suffix, tables, described, name, tools)
  local is_own = described ~= values.described and suffix == tables
  return tools.with(values, { build_suffix = suffix, tables = tables, tensors_of = tables, weights_of = tables,
    packings_of = tables, orders_of = tables, views_of = suffix, has_tables = suffix == tables, descriptor = name,
    described = described, is_whole = false, parameters = tools.parameters(build),
    entries = is_own and entries_of(values, described, tools) or values.entries })
end

-- Returns the values of the descriptor of a rank. The first of its kind has that of its build, whose lists stand for
-- equal ones.
local function descriptor_of_rank(values, build, suffix, name, tools)
  local first = values.described
  local described = suffix == values.build_suffix and first
    or emit_descriptor.of_rank(first, build, values.build_suffix)
  if described == first or has_same_rows(described, first) then
    return descriptor_of(values, build, suffix, values.build_suffix, described, name, tools)
  end
  return descriptor_of(values, build, suffix, suffix, emit_descriptor.values(build, suffix), name, tools)
end

-- Returns the stage that makes a tensor of an entry, from 0; of others any that has them.
local function stage_of(state, firsts, i, entry, name)
  local of = state.whole.stages
  if of and of.made[entry.name][name] then return of.made[entry.name][name] end
  for stage, each in ipairs(firsts) do
    if each.index_of[each.entries[i]][name] then return stage - 1 end
  end
  error(name)
end

-- Returns the rows of the divisions of the whole model's tensors, and the lists of first elements that they name.
-- firsts: the first rank of each stage.
local function divisions_of(state, whole, described, firsts)
  local rows, lists, number_of = {}, {}, {}
  for i = #whole.entries, 1, -1 do
    local entry = whole.entries[i]
    local of_entry, made = described.index_of[entry], state.whole.divisions[entry.name]
    for _, name in ipairs(entry.graph.order) do
      local stage = stage_of(state, firsts, i, entry, name)
      local of_rank = firsts[stage + 1]
      local own = of_rank.entries[i]
      local is_whole = own.graph.tensors[name .. ".part"] ~= nil
      local of = not is_whole and made[name] or nil
      local list = of and of.first and table.concat(divisions.of_ranks(of.first), ", ") or nil
      if list and not number_of[list] then
        lists[#lists + 1] = list
        number_of[list] = #lists
      end
      rows[of_entry[name] + 1] = ("{ %s, %d, %d, %s },"):format(
        not of and "ATTN2C_UNDIVIDED" or of.sum and "ATTN2C_TERMS" or tostring(of.axis - 1), stage,
        of_rank.index_of[own][name], list and "parts_" .. number_of[list] or "NULL")
    end
  end
  return rows, lists
end

-- Returns the most bytes that a stage passes on in a call.
local function passed_bytes(state)
  local most = 0
  for _, build in ipairs(state.builds) do
    for _, entry in ipairs(build.entries) do
      local bytes = 0
      for _, op in ipairs(entry.graph.entry.ops) do
        bytes = bytes + (op.op == "pass_on" and types.bytes(elements_of_call(entry.spec, op.operands.x), "f32") or 0)
      end
      most = math.max(most, bytes)
    end
  end
  return most
end

-- Returns the functions of each entry by its name: { rank, linkage }.
local function runs_of(state, builds)
  local runs = {}
  for k, build in ipairs(state.builds) do
    for _, member in ipairs(build.members) do
      for i, entry in ipairs(build.entries) do
        words.add(runs, entry.name, { rank = member.rank, linkage = builds[k].entries[i].linkage })
      end
    end
  end
  for _, list in pairs(runs) do table.sort(list, function(a, b) return a.rank < b.rank end) end
  return runs
end

--- Joins the values of all kinds of ranks, builds[1], builds[2], ... tools: functions of emit.lua. Returns the values
--- that the model's files share; the most bytes of an arena and of weights; and { targets = the whole model and its
--- ranks in order, divided = { count, stages, passed_bytes, rows, lists } of the divisions, rank_runs }.
function emit_ranks.join(state, builds, tools)
  local name, first, most = state.spec.name, builds[1], { arena_bytes = 0, weight_bytes = 0 }
  local targets, firsts, weight_bytes = {}, {}, 0
  for k, build in ipairs(state.builds) do
    local values = builds[k]
    most.arena_bytes = math.max(most.arena_bytes, values.arena_bytes)
    most.weight_bytes = math.max(most.weight_bytes, values.weight_bytes)
    values.ranks = {}
    for _, member in ipairs(build.members) do
      local suffix = "_rank" .. member.rank
      local of = descriptor_of_rank(values, member, suffix, name .. suffix .. "_descriptor", tools)
      of.rank = member.rank
      targets[member.rank + 2], values.ranks[#values.ranks + 1] = of, of
      if member.rank % (state.spec.ranks or 1) == 0 then
        firsts[member.stage + 1] = { entries = member.entries, index_of = of.described.index_of }
      end
      weight_bytes = weight_bytes + values.weight_bytes
    end
  end
  local build = whole_build(state)
  local described = emit_descriptor.values(build, "_whole")
  local whole = descriptor_of(first, build, "_whole", "_whole", described, name .. "_descriptor", tools)
  whole.is_whole, whole.own_kernel_count, whole.kernel_count = true, 0, 0
  whole.weight_bytes, whole.weight_floats = weight_bytes, types.elements(weight_bytes, "f32")
  whole.arena_floats = types.elements(most.arena_bytes, "f32")
  whole.trace_floats = 0
  for i, entry in ipairs(build.entries) do
    whole.trace_floats = math.max(whole.trace_floats, 2 * entry.gathered_floats) -- values, then magnitudes of terms
    whole.entries[i].arena_floats = whole.arena_floats
  end
  targets[1] = whole
  local rows, lists = divisions_of(state, build, described, firsts)
  first.parameters = whole.parameters
  return first, most, { targets = targets, divided = { count = state.spec.processes, stages = state.spec.stages or 1,
      passed_bytes = passed_bytes(state), rows = rows, lists = lists }, rank_runs = runs_of(state, builds) }
end

return emit_ranks
