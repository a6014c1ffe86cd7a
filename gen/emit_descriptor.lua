-- emit_descriptor: the model's description of itself as rows of C initialisers: tensors,
-- ops with attributes, weights. The structures are those of runtime/descriptor.h.
local c = require("c")
local names = require("names")
local ops = require("ops")
local words = require("words")

local emit_descriptor = {}

local kinds = {
  input = "ATTN2C_INPUT", output = "ATTN2C_OUTPUT", weight = "ATTN2C_WEIGHT", constant = "ATTN2C_CONSTANT",
  scratch = "ATTN2C_SCRATCH", state = "ATTN2C_STATE",
}
local types = { f32 = "ATTN2C_F32", i32 = "ATTN2C_I32" }

-- An input without a batch in front is told apart, so that `run` hands it to every call as it is; where sequences come
-- as columns none has one.
local function kind_of(state, tensor)
  local shared = tensor.shared or state.spec.layout == "seq_first"
  return tensor.kind == "input" and shared and "ATTN2C_SHARED_INPUT" or kinds[tensor.kind]
end

local function braces(shape) return "{ " .. table.concat(shape, ", ") .. " }" end

local function tensor_rows(state, trace, index_of)
  local rows = {}
  for i, name in ipairs(state.graph.order) do
    local tensor = state.graph.tensors[name]
    index_of[name] = i - 1
    local storage = state.plan.storage[name]
    local offset, ld = -1, 0
    if tensor.kind == "scratch" then
      if storage.form == "full" then
        offset, ld = trace.offsets[name], storage.leading_dimension
      else
        offset, ld = trace.offsets[name .. "@trace"], storage.width
      end
    end
    rows[#rows + 1] = ("{ %s, %s, %s, %d, %s, %d, %d, %d, %d },"):format(c.string(tensor.member or name),
      kind_of(state, tensor), types[tensor.type], #tensor.shape, braces(tensor.shape), tensor.minimum or 0, tensor.limit
        or 0,
      offset, ld)
  end
  return rows
end

local function attribute(name, value)
  if type(value) == "string" then return ("{ %s, 0, %s }"):format(c.string(name), c.string(value)) end
  if type(value) == "boolean" then return ("{ %s, %d, NULL }"):format(c.string(name), value and 1 or 0) end
  return ("{ %s, %s, NULL }"):format(c.string(name), math.type(value) == "float" and c.double(value) or tostring(value))
end

-- Ops that have the same attributes share one list.
local function op_rows(entry, index_of)
  local rows, lists, list_of = {}, {}, {}
  for _, op in ipairs(entry.ops) do
    local parts = {}
    for _, key in ipairs(words.sorted_keys(op.attributes)) do parts[#parts + 1] = attribute(key, op.attributes[key]) end
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
    rows[#rows + 1] = ("{ %s, %s, %d, %s, attributes_%d, %s },"):format(c.string(op.op), c.string(op.section),
      index_of[op.result.name], braces(operands), list_of[text], c.double(op.flops))
  end
  return rows, lists
end

-- The first of the checkpoint's rows that a weight takes. Where heads are left out, a row a run of kept ones is added
-- to `selections`.
local function first_row(tensor, index, selections)
  local source = tensor.source
  if source.rows then return source.first end
  if source.heads then
    local width = tensor.shape[source.axis] // #source.heads
    local run
    for _, head in ipairs(source.heads) do
      if run and run.first + run.count == head * width then
        run.count = run.count + width
      else
        run = { first = head * width, count = width }
        selections[#selections + 1] = run
        run.weight, run.axis = index, source.axis - 1
      end
    end
  end
  return (tensor.part - 1) * (names.source_shape(tensor)[1] // tensor.parts)
end

local function weight_rows(state, index_of)
  local rows, name_rows, selections = {}, {}, {}
  for i, path in ipairs(state.graph.weights) do
    local tensor = state.graph.tensors[path]
    local layout = state.plan.layouts[path]
    local source, row, names_text, formula = tensor.shape, 0, "NULL", "NULL"
    if tensor.kind == "weight" then
      source, row = names.source_shape(tensor), first_row(tensor, i - 1, selections)
      local quoted = {}
      for _, name in ipairs(tensor.names) do quoted[#quoted + 1] = c.string(name) end
      quoted[#quoted + 1] = "NULL"
      name_rows[#name_rows + 1] = ("static const char *const names_%d[] = { %s };"):format(i - 1,
        table.concat(quoted, ", "))
      names_text = "names_" .. (i - 1)
    else
      formula = c.string(tensor.formula)
    end
    local panels = layout.rows and "0, 0, { 0, 0 }" or ("%d, %d, { %d, %d }"):format(layout.panel, layout.count,
      layout.tails[1] or 0, layout.tails[2] or 0)
    rows[#rows + 1] = ("{ %d, %s, %d, %s, %d, %s, %s, %s, %d, %s },"):format(index_of[path], names_text, #source,
      braces(source), row, formula, c.double(tensor.mean), c.double(tensor.deviation), state.weights.offsets[path],
        panels)
  end
  local selection_rows = {}
  for i, run in ipairs(selections) do
    selection_rows[i] = ("{ %d, %d, %d, %d },"):format(run.weight, run.axis, run.first, run.count)
  end
  return rows, name_rows, selection_rows
end

--- The values of templates/model.c.in beyond the common ones.
function emit_descriptor.values(state, trace)
  local index_of = {}
  local entry = state.graph.entries[1]
  local tensors = tensor_rows(state, trace, index_of)
  local ops_text, attributes = op_rows(entry, index_of)
  local weights, weight_names, selections = weight_rows(state, index_of)
  local inputs, outputs = {}, {}
  for i, name in ipairs(entry.inputs) do inputs[i] = index_of[name] end
  for i, name in ipairs(entry.outputs) do outputs[i] = index_of[name] end
  local shared = false
  for _, name in ipairs(entry.inputs) do
    shared = shared or kind_of(state, state.graph.tensors[name]) == "ATTN2C_SHARED_INPUT"
  end
  return { tensor_rows = tensors, op_rows = ops_text, attribute_lists = attributes, weight_rows = weights,
    weight_names = weight_names, selection_rows = selections,
    input_list = table.concat(inputs, ", "), output_list = table.concat(outputs, ", "),
    has_shared = shared, seq_first = state.spec.layout == "seq_first", flops_literal = c.double(entry.flops) }
end

return emit_descriptor
