-- descriptor.lua: writes the model's description of itself as rows of C initialisers: tensors, ops, weights.
-- The structures are declared in runtime/base/descriptor.h.
local c = require("common.c")
local coded = require("checkpoints.coded")
local grouping = require("passes.common.grouping")
local ops = require("data.ops")
local storage = require("data.storage")
local types = require("data.types")
local words = require("common.words")

local emit_descriptor = {}

local kinds = {
  input = "ATTN2C_INPUT", output = "ATTN2C_OUTPUT", weight = "ATTN2C_WEIGHT", constant = "ATTN2C_CONSTANT",
  scratch = "ATTN2C_SCRATCH", state = "ATTN2C_STATE",
}

-- Returns a number type in C, as runtime/base/number_types.h has it.
local function type_name(type) return "ATTN2C_" .. type:upper() end

-- Returns a tensor's type in C. The reference holds rounded tensors as floats on the grid of their type.
local function type_of(tensor) return type_name(tensor.type == "i32" and "i32" or "f32") end

-- Returns the kind of a tensor. An input without a leading batch has a kind of its own, so that `run` passes it whole
-- to every call. With the layout seq_first no input has a leading batch.
local function kind_of(state, tensor)
  if tensor.squeezed then return "ATTN2C_SQUEEZED_OUTPUT" end
  if tensor.zeros then return "ATTN2C_ZEROS_INPUT" end
  if tensor.are_shapes then return "ATTN2C_SHAPES_INPUT" end
  local unbatched = tensor.unbatched or state.spec.layout == "seq_first"
  return tensor.kind == "input" and unbatched and "ATTN2C_SHARED_INPUT" or kinds[tensor.kind]
end

local function braces(shape) return "{ " .. table.concat(shape, ", ") .. " }" end

local function trace_of(state)
  for _, program in ipairs(state.programs) do if program.variant == "trace" then return program end end
  return nil
end

-- Returns where a tensor is in the trace's arena: its first element, and the elements from row to row. state.gathered:
-- the first elements of tensors that all ranks have parts of.
local function place_in_trace(state, trace, name, tensor)
  if state.gathered then
    local is_fewer = state.spec.symbols.past.is_open and tensor.growth[#tensor.growth] == 1
    return state.gathered[name], is_fewer and state.spec.call_rows or (grouping.row_shape(tensor))
  end
  local stored = state.plan.storage[name]
  if storage.is_traced(stored) then
    return types.elements(trace.offsets[storage.trace_name(name)], "f32"), stored.width
  end
  return types.elements(trace.offsets[name], tensor.type), stored.leading_dimension
end

-- Returns how a tensor of an entry of any length grows, as a row; others do not.
local function growth_row(tensor)
  local is_shared = tensor.unbatched or tensor.kind == "weight" or tensor.kind == "constant"
  return ("{ %s, %d },"):format(braces(tensor.growth or { 0 }), is_shared and 1 or 0)
end

-- Adds an entry's tensors to the rows and to the rows of their growth, and their indices to index_of[state]; adds the
-- model's weights to weights = { { state, name, index, number = the entry's, all = { { number, name } } of the graphs'
-- tensors that are this weight } }. known: the weights by place, shape and kind; entries and operations share those
-- that are alike.
local function add_tensors(state, number, index_of, known, rows, growth, weights)
  local trace, own = trace_of(state), {}
  index_of[state] = own
  for _, name in ipairs(state.graph.order) do
    local tensor, place = state.graph.tensors[name], state.weights.offsets[name]
    local key = place and ("%d %s %s"):format(place, words.shape(tensor.shape), tensor.kind)
    local weight = known[key or ""]
    if weight then
      own[name] = weight.index
      table.insert(weight.all, { number, name })
    else
      own[name] = #rows
      if key then
        known[key] = { state = state, name = name, index = #rows, number = number, all = { { number, name } } }
        weights[#weights + 1] = known[key]
      end
      local offset, ld = -1, 0
      if tensor.kind == "scratch" and not tensor.of_rank then
        offset, ld = place_in_trace(state, trace, name, tensor)
      end
      rows[#rows + 1] = ("{ %s, %s, %s, %d, %s, %d, %d, %d, %d },"):format(c.string(tensor.member or name),
        kind_of(state, tensor), type_of(tensor), #tensor.shape, braces(tensor.shape), tensor.minimum or 0,
        tensor.limit or 0, offset, ld)
      growth[#rows] = growth_row(tensor)
    end
  end
end

local function attribute(name, value)
  if type(value) == "string" then return ("{ %s, 0, %s }"):format(c.string(name), c.string(value)) end
  if type(value) == "boolean" then return ("{ %s, %d, NULL }"):format(c.string(name), value and 1 or 0) end
  return ("{ %s, %s, NULL }"):format(c.string(name), math.type(value) == "float" and c.double(value) or tostring(value))
end

-- Returns an entry's ops as rows; ops with the same attributes share one of the lists.
local function op_rows(entry, index_of, lists, list_of, suffix)
  local rows = {}
  for _, op in ipairs(entry.ops) do
    local all = op.attributes
    local parts = words.map(words.sorted_keys(all), function(key) return attribute(key, all[key]) end)
    parts[#parts + 1] = "{ NULL, 0, NULL }"
    local text = table.concat(parts, ", ")
    if not list_of[text] then
      lists[#lists + 1] = text
      list_of[text] = #lists - 1
    end
    local operands = {}
    for i, operand in ipairs(ops.table[op.op].operands) do
      local tensor = op.operands[operand]
      operands[i] = tensor and index_of[tensor.name] or -1
    end
    while #operands < 6 do operands[#operands + 1] = -1 end
    local role = ops.class(op).role
    rows[#rows + 1] = ("{ %s, %s, %d, %s, attributes%s_%d, %s, %s },"):format(c.string(op.op), c.string(op.section),
      index_of[op.result.name], braces(operands), suffix, list_of[text], c.double(op.flops),
      role and "ATTN2C_" .. role:upper() or "ATTN2C_NO_ROLE")
  end
  return rows
end

-- Returns the number, from 0, of a stored tensor among the rows; a new tensor is added, with its names. copy_of: the
-- number of the tensor whose bytes it must have, as a weight with another name is in its place; nil: none.
local function stored_number(made, stored, copy_of)
  local quoted = words.map(stored.names, function(name) return c.string(name) end)
  quoted[#quoted + 1] = "NULL"
  local text = ("%d, %s, %d"):format(#stored.shape, braces(stored.shape), copy_of and copy_of + 1 or 0)
  local key = table.concat(quoted, ", ") .. text
  if not made.number_of[key] then
    made.number_of[key] = #made.rows
    made.names[#made.names + 1] = ("static const char *const names%s_%d[] = { %s };"):format(made.suffix, #made.rows,
      table.concat(quoted, ", "))
    made.rows[#made.rows + 1] = ("{ names%s_%d, %s },"):format(made.suffix, #made.rows, text)
  end
  return made.number_of[key]
end

local function view_row(view, number, in_groups)
  -- ATTN2C_VIEW_ADDED, _PLUS_ONE, _TIMES, _RESIZED, _SMOOTH, _TAPS, _UNIT, _IN_GROUPS
  local flags = (view.added and 1 or 0) + (view.plus_one and 2 or 0) + (view.times and 4 or 0)
    + (view.resized and 8 or 0) + (view.smooth and 16 or 0) + (view.taps and 32 or 0) + (view.unit and 64 or 0)
    + (in_groups and 128 or 0)
  return ("{ %d, %d, %d, %d, %d, %d, %d, %d, %d, %s },"):format(number, flags, view.row, view.rows,
    view.column, view.columns, view.first, view.row_step, view.column_step, c.double(view.factor + 0.0))
end

-- Returns a stored tensor with the names under which all weights of a place look for it.
local function common_names(tensors, number)
  local first = tensors[1].from.stored[number]
  return { shape = first.shape, names = words.filter(first.names, function(name)
    return not words.any(tensors, function(other) return not words.set(other.from.stored[number].names)[name] end)
  end) }
end

-- Returns the number of the tensor that a view of a place's weights reads. Weights that would find another name first
-- add their tensors, which must be copies.
local function number_of_view(made, tensors, number)
  local common = common_names(tensors, number)
  local result = stored_number(made, common)
  for _, tensor in ipairs(tensors) do
    local own = tensor.from.stored[number]
    if table.concat(own.names, "\0") ~= table.concat(common.names, "\0") then stored_number(made, own, result) end
  end
  return result
end

local function weight_rows(build, weights, suffix)
  local rows, views, stored = {}, {}, { rows = {}, names = {}, number_of = {}, suffix = suffix }
  for i, weight in ipairs(weights) do
    local state, path = weight.state, weight.name
    local tensor = state.graph.tensors[path]
    local layout = state.weights.layouts[path]
    local first, formula = #views, tensor.formula and c.string(tensor.formula) or "NULL"
    local all = words.map(weight.all, function(each) return build.entries[each[1]].graph.tensors[each[2]] end)
    for _, view in ipairs(tensor.from and tensor.from.views or {}) do
      views[#views + 1] = view_row(view, number_of_view(stored, all, view.stored), tensor.in_groups)
    end
    local panels = layout.format == "rows" and "0, 0, { 0, 0 }" or ("%d, %d, { %d, %d }"):format(layout.panel,
      layout.count, layout.tails[1] or 0, layout.tails[2] or 0)
    rows[i] = ("{ %d, %d, %d, %s, %s, %s, %d, %s },"):format(weight.index, first, #views - first, formula,
      c.double(tensor.mean), c.double(tensor.deviation), types.elements(state.weights.offsets[path], "f32"),
      panels)
  end
  return rows, views, stored
end

local function entry_of(state, index_of, lists, list_of, suffix)
  local entry, own = state.graph.entry, index_of[state]
  local function number_of(name) return own[name] end
  local inputs, outputs = words.map(entry.inputs, number_of), words.map(entry.outputs, number_of)
  return { op_rows = op_rows(entry, own, lists, list_of, suffix), input_list = table.concat(inputs, ", "),
    output_list = table.concat(outputs, ", "), flops_literal = c.double(entry.flops) }
end

-- Adds a row for each head of a part of the state; index: of its tensor.
local function add_part(rows, kept, part, index)
  local place, first = storage.packed(part), kept.offsets[part.buffer]
  for column = 0, part.width - 1, part.head_dim do
    rows[#rows + 1] = ("{ %d, %d, %d, %d, %d, %d, %s, %d, %d },"):format(index, column,
      types.elements(first + column // part.head_dim * types.bytes(place.of_head(part), part.type), "f32"),
      types.elements(types.bytes(kept.page * place.each_key(part), part.type), "f32"),
      part.role == "keys" and 1 or 0, part.window or -1, type_name(part.type), part.symbol,
      storage.bits(part) or 0)
  end
end

-- Returns how a model continues: the keys and values that a sequence's state keeps, as rows, and the sizes of its
-- calls; false for others. index_of: the index of each tensor.
local function continued(state, index_of)
  local spec, kept, rows, symbols = state.spec, state.kept, {}, {}
  if not spec.symbols.past.is_open then return false end
  for _, part in ipairs(kept.parts) do add_part(rows, kept, part, index_of[part.name]) end
  local number_of = {}
  for i, symbol in ipairs(kept.symbols) do
    number_of[symbol.name], symbols[i] = i - 1, ('{ "%s", %d },'):format(symbol.name, symbol.most)
  end
  local logits, output
  for i, name in ipairs(state.graph.entry.outputs) do
    local tensor = state.graph.tensors[name]
    if tensor.type == "f32" and not tensor.is_exposed then logits, output = i - 1, tensor end
  end
  local windows = words.map(kept.windows, function(window) return ("{ %d, %d },"):format(window.left, window.keys) end)
  return { rows = rows, windows = windows, symbols = symbols, page = kept.page, call_rows = spec.call_rows,
    sequences = spec.sequences, source = number_of.source or 0, adapter = number_of.adapter or 0, logits = logits,
    output = output,
    state_floats = types.elements(kept.bytes, "f32") }
end

-- Returns the packing of each weight as rows; none if all are f32.
local function packing_rows(weights)
  local plain, scales_of = true, {}
  for i, weight in ipairs(weights) do
    local of = weight.state.graph.tensors[weight.name].scales_of
    if of then scales_of[of.name] = i - 1 end
  end
  local rows = words.map(weights, function(weight)
    local type = weight.state.weights.layouts[weight.name].type
    plain = plain and type == "f32"
    return ("{ %s, %d },"):format(type_name(type), scales_of[weight.name] or -1)
  end)
  return plain and {} or rows
end

-- Returns the orders of inputs that each weight meets as rows; none if no weight meets any.
local function order_rows(weights)
  local rows, plain, number_of = {}, true, {}
  for i, weight in ipairs(weights) do number_of[weight.name] = i - 1 end
  for i, weight in ipairs(weights) do
    local tensor = weight.state.graph.tensors[weight.name]
    local of, like = tensor.order_of or tensor.row_order, tensor.order_like
    plain = plain and not of and not like
    rows[i] = ("{ %d, %d },"):format(of and number_of[of.name] or -1, like and number_of[like.name] or -1)
  end
  return plain and {} or rows
end

-- Returns the factors of each weight as rows, and the lists that they name; none if no weight has factors.
local function factor_rows(weights)
  local rows, lists, number_of = {}, {}, {}
  for i, weight in ipairs(weights) do
    local factors = weight.state.graph.tensors[weight.name].factors
    rows[i] = "{ NULL, 0, 0 },"
    if factors then
      local text = table.concat(factors.powers, ",")
      if not number_of[text] then
        lists[#lists + 1] = text
        number_of[text] = #lists - 1
      end
      rows[i] = ("{ powers_%d, %d, 0x%xu },"):format(number_of[text], factors.sign, factors.checksum or 0)
    end
  end
  return #lists > 0 and rows or {}, lists
end

local function has_unbatched(state)
  return words.any(state.graph.entry.inputs, function(name)
    return kind_of(state, state.graph.tensors[name]) == "ATTN2C_SHARED_INPUT"
  end)
end

-- Returns how a checkpoint's quantised tensors are stored, as checkpoints/coded.lua has it, or false.
local function coding_of(spec)
  local quantised = type(spec.names) == "table" and spec.names.quantised
  return quantised and coded.kinds[quantised] or false
end

-- Returns where each weight of a rank is in the whole model's, as rows; none if nobody divides the model.
local function slice_rows(weights)
  local rows = {}
  for i, weight in ipairs(weights) do
    local tensor = weight.state.graph.tensors[weight.name]
    local of, columns = tensor.cut or { of = tensor, axis = 1, from = 0, experts = 1 }, 1
    for axis = 2, #of.of.shape do columns = columns * of.of.shape[axis] end
    rows[i] = ("{ %d, %d, %d, %d, %d, %d },"):format(of.axis == 1 and of.from or 0, of.axis == 2 and of.from or 0,
      columns, tensor.shape[1] // of.experts, of.of.shape[1] // of.experts, tensor.is_zero and 1 or 0)
  end
  return rows
end

-- Adds to a build's values the lists that say where its weights are from.
local function with_weights(values, build, suffix)
  local weights = values.weights
  local rows, views, stored = weight_rows(build, weights, suffix)
  values.weight_rows, values.view_rows = rows, views
  values.stored_names, values.stored_rows = stored.names, stored.rows
  values.factor_rows, values.power_lists = factor_rows(weights)
  values.slice_rows = slice_rows(weights)
  return values
end

--- Returns the values of a rank, which inherit from `first`, the values of the first rank of its kind. Only the places
--- from which it reads its weights differ.
function emit_descriptor.of_rank(first, build, suffix)
  return with_weights(setmetatable({ weights = words.map(first.weights, function(weight)
    return setmetatable({ state = build.entries[weight.number] }, { __index = weight })
  end) }, { __index = first }), build, suffix)
end

--- Returns the values of templates/model.c.in beyond the common ones; of_entries: each entry's. suffix: the end
--- of the names of lists, if not all models of a file share them.
function emit_descriptor.values(state, suffix)
  suffix = suffix or ""
  local index_of, tensors, growth, lists, list_of = {}, {}, {}, {}, {}
  local of_entry, known = {}, {}
  for i = #state.entries, 1, -1 do
    of_entry[i] = {}
    add_tensors(state.entries[i], i, index_of, known, tensors, growth, of_entry[i])
  end
  -- Weights of smaller entries come first. So a longer table at the place of a shorter one is read after it; zeros
  -- follow a weight's last row.
  local weights = {}
  for _, list in ipairs(of_entry) do table.move(list, 1, #list, #weights + 1, weights) end
  local of_entries, unbatched = {}, false
  for i, entry in ipairs(state.entries) do
    of_entries[i] = entry_of(entry, index_of, lists, list_of, suffix)
    unbatched = unbatched or has_unbatched(entry)
  end
  return with_weights({ of_entries = of_entries, tensor_rows = tensors, attribute_lists = lists, weights = weights,
    packing_rows = packing_rows(weights), order_rows = order_rows(weights), growth_rows = growth,
    coding = coding_of(state.spec), has_unbatched = unbatched, index_of = index_of,
    continued = continued(state.primary, index_of[state.primary]), seq_first = state.spec.layout == "seq_first" },
    state, suffix)
end

return emit_descriptor
