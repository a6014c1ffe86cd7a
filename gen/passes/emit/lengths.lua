-- emit_lengths: which axes of inputs and outputs have the size of a call, as rows of C
-- initialisers (attn2c_lengths in runtime/base/descriptor.h), and the interface of calls of any size.
local c = require("common.c")

local emit_lengths = {}

local fillings = { masked = "ATTN2C_FILL_MASKED", kept = "ATTN2C_FILL_KEPT", count = "ATTN2C_FILL_COUNT" }

local function axis(axes, letter) return (axes:find(letter, 1, true) or 0) - 1 end

local function axes_row(tensor)
  return ("{ %d, %d, %d, %s }"):format(axis(tensor.grows, "b"), axis(tensor.grows, "s"), axis(tensor.grows, "k"),
    fillings[tensor.fill] or "ATTN2C_FILL_LEAST")
end

local function axes_list(graph, names)
  local rows = {}
  for i, name in ipairs(names) do rows[i] = axes_row(graph.tensors[name]) end
  return table.concat(rows, ", ")
end

--- What stands in an array's shape for a call of any size: "[batch][seq][384]".
function emit_lengths.shape(tensor, spec)
  local parts = {}
  for i, n in ipairs(tensor.shape) do
    local letter = tensor.grows:sub(i, i)
    local behind = letter == "k" and n - spec.seq or 0
    parts[i] = letter == "b" and "[batch]" or letter == "s" and "[seq]"
      or letter == "k" and (behind > 0 and ("[seq + %d]"):format(behind) or "[seq]") or ("[%d]"):format(n)
  end
  return table.concat(parts)
end

--- The values of templates that stand for the sizes of calls. state: the model's.
function emit_lengths.values(state)
  local last = state.entries[#state.entries]
  local sizes = {}
  for i, entry in ipairs(state.entries) do sizes[i] = ("{ %d, %d }"):format(entry.spec.batch, entry.spec.seq) end
  local entry, exact = last.graph.entry, last.spec.exact
  return { is_listed = state.is_listed, input_axes = axes_list(last.graph, entry.inputs),
    output_axes = axes_list(last.graph, entry.outputs), sizes = table.concat(sizes, ", "), past = last.spec.past,
    least = last.spec.least, least_seq = exact and state.entries[1].spec.seq or last.spec.least,
    exact = exact and c.string(exact) or "NULL" }
end

return emit_lengths
